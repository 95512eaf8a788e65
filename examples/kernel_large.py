"""Kernel machines on 50,000 samples: exact, and with approximate kernel features.

The time of the exact machine grows with the square of the number of samples. With Nystroem
features (the kernel values of a few hundred samples) or random Fourier features the problem
becomes linear, and IMMAXClassifier solves it.

python examples/kernel_large.py [--samples 50000]
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.metrics import balanced_accuracy_score
from sklearn.pipeline import make_pipeline

from immax import IMMAXSVC, IMMAXClassifier

GAMMA = 0.03


def data(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return four classes of three clusters in 20 dimensions; one sample in 30 is of the rarest."""
    rng = np.random.default_rng(seed)
    share = np.geomspace(1, 1 / 20, 4)
    y = rng.choice(4, n, p=share / share.sum())
    centres = 0.6 * rng.standard_normal((4, 3, 20))
    return centres[y, rng.integers(0, 3, n)] + rng.standard_normal((n, 20)), y


def main() -> None:
    """Fit all models and print their accuracies and times."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=50_000)
    n = parser.parse_args().samples
    X, y = data(n + 10_000)
    X, X_test, y, y_test = X[:n], X[n:], y[:n], y[n:]
    lam = 1 / (2 * 0.8 * n)
    models = {
        "exact, IMMAXSVC": IMMAXSVC(gamma=GAMMA, lam=lam, margins="equal", cache_size=1000),
        "Nystroem, 300": make_pipeline(
            Nystroem(gamma=GAMMA, n_components=300, random_state=0),
            IMMAXClassifier(lam=6e-7, margins="equal", tol=1e-3),
        ),
        "Nystroem, 1000": make_pipeline(
            Nystroem(gamma=GAMMA, n_components=1000, random_state=0),
            IMMAXClassifier(lam=6e-7, margins="equal", tol=1e-3),
        ),
        "random Fourier features, 1000": make_pipeline(
            RBFSampler(gamma=GAMMA, n_components=1000, random_state=0),
            IMMAXClassifier(lam=6e-7, margins="equal", tol=1e-3),
        ),
    }
    print(f"{n:,} samples, classes of {np.bincount(y).tolist()}")
    for name, model in models.items():
        start = time.perf_counter()
        model.fit(X, y)
        fitted = time.perf_counter()
        predicted = model.predict(X_test)
        done = time.perf_counter()
        print(
            f"{name:30s} accuracy {np.mean(predicted == y_test):.4f}, balanced "
            f"{balanced_accuracy_score(y_test, predicted):.4f}, fit {fitted - start:6.1f} s, "
            f"predict {done - fitted:5.2f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
