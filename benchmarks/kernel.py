"""IMMAXSVC against scikit-learn's SVC on 10,000 x 20, RBF kernel, imbalance 1:20.

python benchmarks/kernel.py [--repeats 3]

With two classes, both solve the same problem: SVC has the class weights that margins amount to.
With five, IMMAXSVC solves the joint problem to a gap of 1e-3, and SVC solves ten pairwise ones at
its own tolerance of 1e-3 with the same trade-off: margins that sum to one at C are margins of mean
one at 25 C.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from peak import peak_mib
from sklearn.svm import SVC

from immax import IMMAXSVC

CACHE = 200.0  # megabytes


def data(classes: int, n: int = 10_000, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return overlapping classes of three clusters each, with an imbalance of 1:20."""
    rng = np.random.default_rng(seed)
    share = np.geomspace(1, 1 / 20, classes)
    y = rng.choice(classes, n, p=share / share.sum())
    centres = 0.6 * rng.standard_normal((classes, 3, 20))
    return centres[y, rng.integers(0, 3, n)] + rng.standard_normal((n, 20)), y


def seconds(task: Callable[[], object]) -> float:
    """Return the time of a task in seconds."""
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def compare(title: str, mine: Any, peer: Any, X: np.ndarray, y: np.ndarray, repeats: int) -> None:
    """Fit both in turn and print the fastest time of each."""
    times = np.array(
        [[seconds(lambda m=m: m.fit(X, y)) for m in (peer, mine)] for _ in range(repeats)]
    )
    theirs, ours = times.min(axis=0)
    predict = [
        min(seconds(lambda m=m: m.decision_function(X)) for _ in range(2)) for m in (peer, mine)
    ]
    memory = [peak_mib(lambda m=m: m.fit(X, y)) for m in (peer, mine)]
    print(
        f"{title}: SVC {theirs:.2f} s, IMMAXSVC {ours:.2f} s, ratio {ours / theirs:.2f}; "
        f"gap {mine.gap_ / mine.objective_:.1e} of the objective; support vectors "
        f"{len(peer.support_)} and {len(mine.support_)}; scores {predict[0]:.2f} s and "
        f"{predict[1]:.2f} s; peak {memory[0]:.0f} and {memory[1]:.0f} MiB",
        flush=True,
    )


def main() -> None:
    """Print one line for each problem, kind of margins and C."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    repeats = parser.parse_args().repeats
    X, y = data(5, 1000)
    IMMAXSVC(cache_size=1).fit(X, y)  # compile the kernels before the clock starts
    IMMAXSVC().fit(X, y)
    X, y = data(2)
    for C in (1.0, 10.0):
        for margins in ("equal", "theory"):
            mine = IMMAXSVC(C=C, margins=margins, cache_size=CACHE).fit(X, y)
            weights = dict(enumerate(1 / mine.margins_))
            peer = SVC(C=C, class_weight=weights, cache_size=CACHE)
            compare(f"two classes, {margins} margins, C = {C:g}", mine, peer, X, y, repeats)
    X, y = data(5)
    for C in (1.0, 10.0):
        for margins in ("equal", "theory"):
            mine = IMMAXSVC(C=C, margins=margins, cache_size=CACHE)
            peer = SVC(C=C, cache_size=CACHE)
            compare(f"five classes, {margins} margins, C = {C:g}", mine, peer, X, y, repeats)


if __name__ == "__main__":
    main()
