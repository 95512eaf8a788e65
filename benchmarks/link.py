"""The time of exact probabilities: the link against a plain softmax of the same scores.

Cases differ in the number of classes and of distinct margins. For each, the time for 2,000 samples
in milliseconds is printed, and its ratio to that of the softmax: CPU times of all threads.

    python benchmarks/link.py
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable

import numpy as np

import immax
from immax.links import immax_proba

SAMPLES = 2_000


def softmax(scores: np.ndarray) -> np.ndarray:
    """Return the softmax of every row."""
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def best_of(task: Callable[[], object], times: int = 20) -> float:
    """Return the shortest of several times of a task, in milliseconds."""
    seconds = []
    for _ in range(times):
        start = time.process_time()
        task()
        seconds.append(time.process_time() - start)
    return 1e3 * min(seconds)


def main() -> None:
    """Print one line for each case."""
    print(
        f"immax {immax.__version__}, NumPy {np.__version__}, Python {platform.python_version()}; "
        f"{SAMPLES:,} samples"
    )
    rng = np.random.default_rng(0)
    for classes, groups in [(2, 2), (10, 10), (100, 5), (100, 100), (1_000, 5), (1_000, 20)]:
        rho = np.linspace(0.5, 1.5, groups)[np.arange(classes) % groups]
        for dtype in (np.float64, np.float32):
            scores = (3 * rng.standard_normal((SAMPLES, classes))).astype(dtype)
            plain = best_of(lambda s=scores: softmax(s))
            link = best_of(lambda s=scores, r=rho: immax_proba(s, r))
            print(
                f"{classes:5} classes, {groups:3} margins, {np.dtype(dtype).name}: "
                f"softmax {plain:7.2f} ms, link {link:8.2f} ms, ratio {link / plain:6.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
