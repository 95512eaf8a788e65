"""The time of a certificate against that of the fit that it is for.

python benchmarks/certificate.py
"""

from __future__ import annotations

import time

import numpy as np

from immax import IMMAXClassifier
from immax.theory import certificate


def main() -> None:
    """Print both times on 100,000 x 100, with two classes and with five."""
    rng = np.random.default_rng(0)
    for classes in (2, 5):
        y = rng.choice(
            classes, 100_000, p=np.geomspace(1, 0.1, classes) / np.geomspace(1, 0.1, classes).sum()
        )
        X = rng.standard_normal((100_000, 100)) + rng.standard_normal((classes, 100))[y] / 3
        start = time.perf_counter()
        model = IMMAXClassifier(lam=1e-4).fit(X, y)
        fitted = time.perf_counter()
        bounds = certificate(model, X, y)
        done = time.perf_counter()
        print(
            f"{classes} classes: fit {fitted - start:.2f} s, certificate {done - fitted:.2f} s, "
            f"ratio {(done - fitted) / (fitted - start):.2f}; bound {bounds.best.total:.2f}"
        )


if __name__ == "__main__":
    main()
