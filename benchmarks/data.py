"""Data of the linear benchmarks: synthetic samples with fixed seeds, and the digits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import load_digits

Data = tuple[Any, np.ndarray]


def _binary(X: Any, rng: np.random.Generator, bias: float, noise: float = 1.0) -> np.ndarray:
    """Return labels of a noisy linear rule, of which about one in five is positive."""
    w = rng.standard_normal(X.shape[1])
    signal = np.asarray(X @ w)
    signal *= 3 / signal.std()
    return (signal + noise * rng.logistic(size=X.shape[0]) > bias).astype(int)


def tall() -> Data:
    """Return dense data, 200,000 x 50, two classes, column scales spread over two decades."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200_000, 50))
    y = _binary(X, rng, 3.0)
    return X * 10 ** rng.uniform(-1, 1, 50), y


def wide() -> Data:
    """Return dense data, 5,000 x 2,000, two classes."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5_000, 2_000))
    return X, _binary(X, rng, 3.0)


def ten_classes() -> Data:
    """Return dense data, 30,000 x 200, ten classes (the rarest 1.5 %), correlated columns."""
    rng = np.random.default_rng(0)
    n, d, c = 30_000, 200, 10
    share = np.geomspace(1, 0.0545, c)
    y = rng.choice(c, n, p=share / share.sum())
    X = 0.25 * rng.standard_normal((c, d))[y] + rng.standard_normal((n, d))
    X = X @ (np.eye(d) + rng.standard_normal((d, d)) / np.sqrt(d))
    return X * 10 ** rng.uniform(-0.5, 0.5, d), y


def sparse_text() -> Data:
    """Return sparse data, 50,000 x 20,000 with 0.2 % non-zero values, two classes."""
    rng = np.random.default_rng(0)
    n, d, per_row = 50_000, 20_000, 40
    columns = rng.integers(0, d, n * per_row)
    rows = np.repeat(np.arange(n), per_row)
    values = rng.standard_normal(n * per_row)
    X = sparse.csr_matrix((values, (rows, columns)), shape=(n, d))
    return X, _binary(X, rng, 3.0)


def digits() -> Data:
    """Return the digits of scikit-learn, 1,797 x 64, ten classes."""
    return load_digits(return_X_y=True)


SHAPES: dict[str, Callable[[], Data]] = {
    "tall": tall,
    "wide": wide,
    "ten classes": ten_classes,
    "sparse": sparse_text,
    "digits": digits,
}
