"""
The benefit of acting on probabilities
======================================

A decision curve shows the net benefit of acting on predicted probabilities for every ratio of
costs. Class weights distort the probabilities, and with them every decision by a ratio of costs
that is not equal.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression

from immax import IMMAXClassifier
from immax.datasets import gaussian_mixture
from immax.plots import plot_decision_curve

counts = np.array([4750, 250])
X, y, mixture = gaussian_mixture(counts, d=4, separation=2.2, random_state=0)
X_test, y_test = mixture.sample(counts * 4, random_state=1)

# %%

models = {
    "class weights": LogisticRegression(class_weight="balanced"),
    "IMMAX, weights divided out": IMMAXClassifier(margins="equal", weights="balanced", lam=1e-4),
}
probabilities = {
    name: model.fit(X, y).predict_proba(X_test)[:, 1] for name, model in models.items()
}
for name, proba in probabilities.items():
    acted = proba >= 0.2  # an alarm is worth it if a miss costs four times as much
    benefit = (acted & (y_test == 1)).mean() - (acted & (y_test == 0)).mean() * 0.2 / 0.8
    print(f"{name:28} net benefit at a threshold of 0.2: {benefit:.4f}")

# %%

figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
plot_decision_curve(y_test == 1, probabilities, class_name="the rare class", ax=ax)
plt.show()
