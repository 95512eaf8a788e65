"""Growth with the number of classes, beside scikit-learn's logistic regression in one run.

20,000 x 32, ten to ten thousand classes, the rarest with a hundredth of the samples of the most
frequent. Both minimise the same objective (equal margins, the default lam of 1e-3); scikit-learn
uses its default solver and tolerance. Its excess is relative to our objective. The last column is
our time with the defaults, the theory's margins.

    python benchmarks/many_classes.py [--classes 10 100 1000 10000] [--dtype float64]
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import sklearn
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

import immax
from immax import IMMAXClassifier
from immax.losses import LossSpec

ROWS, FEATURES, LAM = 20_000, 32, 1e-3


def make(classes: int, dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """Return samples around the centres of their classes; every class has one at least."""
    rng = np.random.default_rng(0)
    share = np.geomspace(1, 0.01, classes)
    drawn = rng.choice(classes, ROWS - classes, p=share / share.sum())
    y = np.concatenate([np.arange(classes), drawn])
    X = rng.standard_normal((classes, FEATURES))[y] + rng.standard_normal((ROWS, FEATURES))
    return X.astype(dtype), y


def timed(fit: Callable[[], Any]) -> tuple[Any, float, float]:
    """Return a fitted model, the time of its fit, and that of all threads of this process."""
    wall, cpu = time.perf_counter(), time.process_time()
    model = fit()
    return model, time.perf_counter() - wall, time.process_time() - cpu


def objective(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    """Return the common objective, a few thousand rows at a time."""
    ones, total = np.ones(len(model.coef_)), 0.0
    for rows in np.array_split(np.arange(ROWS), 10):
        scores = X[rows] @ model.coef_.T + model.intercept_
        total += LossSpec(ones).loss(scores, y[rows]).sum()
    return float(LAM * np.sum(model.coef_.astype(float) ** 2) + total / ROWS)


def main() -> None:
    """Print one line for each number of classes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--classes", nargs="+", type=int, default=[10, 100, 1_000, 10_000])
    parser.add_argument("--dtype", choices=["float32", "float64"], default="float64")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    print(
        f"immax {immax.__version__}, scikit-learn {sklearn.__version__}; {ROWS:,} x {FEATURES}, "
        f"{arguments.dtype}; seconds, and CPU seconds of all threads in parentheses",
        flush=True,
    )
    for classes in arguments.classes:
        X, y = make(classes, arguments.dtype)
        equal, wall, cpu = timed(lambda: IMMAXClassifier(margins="equal").fit(X, y))  # noqa: B023
        ours = objective(equal, X, y)
        print(
            f"{classes:6,} classes: immax {wall:6.1f} ({cpu:.1f}), gap {equal.gap_ / ours:.0e}",
            end="",
            flush=True,
        )
        del equal
        _, wall, cpu = timed(lambda: IMMAXClassifier().fit(X, y))  # noqa: B023
        print(f"; defaults {wall:6.1f} ({cpu:.1f})", end="", flush=True)
        peer, wall, cpu = timed(
            lambda: LogisticRegression(C=1 / (2 * LAM * ROWS)).fit(X, y)  # noqa: B023
        )
        excess = objective(peer, X, y) / ours - 1
        print(f"; scikit-learn {wall:6.1f} ({cpu:.1f}), excess {excess:.0e}", flush=True)


if __name__ == "__main__":
    main()
