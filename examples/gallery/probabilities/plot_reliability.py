"""
Reliability of class weights, SMOTE and the link
================================================

Class weights and resampling train a model as if all classes were equally frequent, so its
probabilities of the rare class are too large. The same weights do no harm if the link divides them
out.
"""

import matplotlib.pyplot as plt
import numpy as np
from imblearn.over_sampling import SMOTE
from sklearn.calibration import calibration_curve
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from immax import IMMAXClassifier
from immax.datasets import gaussian_mixture

counts = np.array([9500, 500])
X, y, mixture = gaussian_mixture(counts, d=5, separation=2.0, random_state=0)
X_test, y_test = mixture.sample(counts * 4, random_state=1)

# %%

resampled = SMOTE(random_state=0).fit_resample(X, y)
models = {
    "class_weight='balanced'": LogisticRegression(class_weight="balanced").fit(X, y),
    "SMOTE": LogisticRegression().fit(*resampled),
    "IMMAX, weights divided out": IMMAXClassifier(
        margins="equal", weights="balanced", lam=1e-4
    ).fit(X, y),
}
probabilities = {name: model.predict_proba(X_test)[:, 1] for name, model in models.items()}
for name, proba in probabilities.items():
    print(f"{name:28} log-loss {log_loss(y_test, proba):.4f}, mean {proba.mean():.3f}")
print(f"share of the rare class {y_test.mean():.3f}")

# %%
# A point on the diagonal means that a probability of 30 % is right in 30 % of the cases.

figure, ax = plt.subplots(figsize=(6, 5), layout="constrained")
ax.plot([0, 1], [0, 1], color="#7a8794", linestyle=":")
for (name, proba), marker in zip(probabilities.items(), "^vo", strict=True):
    seen, predicted = calibration_curve(y_test, proba, n_bins=10)
    ax.plot(predicted, seen, marker=marker, label=name)
ax.set(xlabel="mean predicted probability", ylabel="observed share of the rare class")
ax.legend()
plt.show()
