"""Small samples and states of kernel machines."""

import numpy as np
from sklearn.metrics.pairwise import pairwise_kernels

OPTIONS = {"gamma": 0.3, "degree": 3, "coef0": 0.5}


def sample(n=120, c=4, seed=0):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(c), rng.integers(0, c, n - c)])
    X = rng.standard_normal((c, 3))[y] + rng.standard_normal((n, 3))
    return X, y


def state(seed=0, dtype=np.float64):
    X, y = sample(seed=seed)
    rng = np.random.default_rng(seed)
    K = pairwise_kernels(X, metric="rbf", gamma=0.3).astype(dtype)
    rho = np.array([0.4, 0.3, 0.2, 0.1])
    caps = rng.uniform(1, 3, len(y)) / rho[y]
    a = -rng.uniform(0, 0.5, (len(y), 4)) * rng.integers(0, 2, (len(y), 4))
    rows = np.arange(len(y))
    a[rows, y] = 0
    a[rows, y] = -a.sum(axis=1)
    return K, y, caps, rho, a
