"""
A certificate as the sample grows
=================================

``certificate`` bounds the error of a fitted model by the data that it was fitted to. The bound is
valid for every sample size, and says nothing (it is above one) until the sample is large enough.
"""

import matplotlib.pyplot as plt
import numpy as np

from immax import IMMAXClassifier
from immax.datasets import gaussian_mixture
from immax.theory import certificate

sizes = np.array([100, 300, 1000, 3000, 10_000, 30_000, 100_000])
bounds, test = [], []
for size in sizes:
    counts = np.array([size - size // 10, size // 10])
    X, y, mixture = gaussian_mixture(counts, d=5, separation=6.0, random_state=0)
    X_test, y_test = mixture.sample([90_000, 10_000], random_state=1)
    model = IMMAXClassifier(lam=1e-3).fit(X, y)
    found = certificate(model, X, y)
    bounds.append(found.best.total)
    test.append(1 - model.score(X_test, y_test))
    print(f"{size:7} samples: bound {bounds[-1]:.3f}, test error {test[-1]:.4f}")

# %%

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.plot(sizes, bounds, "o-", color="#0077bb", label="bound, with probability 95 %")
ax.plot(sizes, test, "s-", color="#ee7733", label="error on new samples")
ax.axhline(1, color="#7a8794", linestyle=":")
ax.set(xscale="log", yscale="log", xlabel="training samples", ylabel="error")
ax.legend()
plt.show()
