"""
What margins do as the penalty falls
====================================

A model that is held back by its penalty makes training errors, and gains nothing from margins. As
the penalty falls the model begins to fit every training sample, and the power of the margins that
is best for the log-loss rises towards the theory's 1/3.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import log_loss

from immax import IMMAXClassifier
from immax.datasets import gaussian_mixture
from immax.margins import power_margins

counts = np.array([300, 60, 12])
X, y, mixture = gaussian_mixture(counts, d=200, separation=2.0, random_state=0)
X_test, y_test = mixture.sample(counts * 50, random_state=1)
lams = np.logspace(-1, -5, 9)
powers = (-1 / 3, 0.0, 1 / 3, 1 / 2)

# %%
# Two hundred features and 372 samples: with little penalty the classes are separable, although
# they overlap.

losses = np.empty((len(powers), lams.size))
training = np.empty(lams.size)
for place, power in enumerate(powers):
    for column, lam in enumerate(lams):
        model = IMMAXClassifier(lam=lam, margins=power_margins(counts, power)).fit(X, y)
        losses[place, column] = log_loss(y_test, model.predict_proba(X_test))
        if power == 0:
            training[column] = 1 - model.score(X, y)
for lam, error in zip(lams, training, strict=True):
    print(f"lambda {lam:.5f}: training error of equal margins {error:.3f}")

# %%
# Below zero, margins improve on equal ones with the same λ.

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for place, power in enumerate(powers):
    if power:
        ax.plot(lams, losses[place] - losses[1], marker="o", label=f"power {power:+.2f}")
ax.axhline(0, color="#7a8794", label="equal margins")
ax.set(xscale="log", xlabel="λ", ylabel="log-loss on new samples, less that of equal margins")
ax.invert_xaxis()
ax.legend()
plt.show()
