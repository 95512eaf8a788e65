"""
Class shares that change
========================

A model was trained where one sample in ten is positive, and is used where it is one in fifty, or
one in two. ``estimate_prior`` finds the new shares from unlabelled samples, and ``adjust_prior``
converts the probabilities.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import log_loss

from immax import IMMAXClassifier
from immax.datasets import gaussian_mixture
from immax.decisions import adjust_prior, estimate_prior

counts = np.array([4500, 500])
X, y, mixture = gaussian_mixture(counts, d=4, separation=2.0, random_state=0)
model = IMMAXClassifier(margins="equal", lam=1e-4).fit(X, y)
trained = counts / counts.sum()

# %%

shares = np.array([0.02, 0.05, 0.1, 0.2, 0.35, 0.5])
found, before, after = [], [], []
for share in shares:
    new = np.round(6000 * np.array([1 - share, share])).astype(int)
    X_new, y_new = mixture.sample(new, random_state=1)
    proba = model.predict_proba(X_new)
    estimate = estimate_prior(proba, trained)
    found.append(estimate.shares[1])
    before.append(log_loss(y_new, proba))
    after.append(log_loss(y_new, adjust_prior(proba, trained, estimate.shares)))
    print(f"true share {share:.2f}, estimate {found[-1]:.3f}, log-loss", end=" ")
    print(f"{before[-1]:.4f} before, {after[-1]:.4f} after")

# %%

figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
axes[0].plot(shares, shares, color="#7a8794", linestyle=":")
axes[0].plot(shares, found, "o-", color="#0077bb")
axes[0].set(xlabel="true share of the positive class", ylabel="estimated share")
axes[1].plot(shares, before, "v-", color="#cc3311", label="as trained")
axes[1].plot(shares, after, "o-", color="#0077bb", label="adjusted")
axes[1].set(xlabel="true share of the positive class", ylabel="log-loss")
axes[1].legend()
plt.show()
