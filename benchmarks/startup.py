"""Seconds until the command answers, and until the package is imported.

Each line is the best of several processes, which take turns so that all of them see the same load,
in seconds of the clock and of the processor; on a machine that does nothing else they are the same.
The import of the package is compared with that of ``sklearn.linear_model``, on which it is built.

Run ``python benchmarks/startup.py``.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time

CALLS = {
    "python -c pass": ["-c", "pass"],
    "immax --version": ["-m", "immax", "--version"],
    "immax --help": ["-m", "immax", "--help"],
    "import sklearn.linear_model": ["-c", "import sklearn.linear_model"],
    "import immax": ["-c", "import immax"],
    "from immax import all estimators": ["-c", "from immax import *"],
}
PEER = "import sklearn.linear_model"


def measure(repeats: int) -> dict[str, tuple[float, float]]:
    """Return the shortest times of each call, of the clock and of the processor."""
    best = dict.fromkeys(CALLS, (float("inf"), float("inf")))
    for _ in range(repeats):
        for name, arguments in CALLS.items():
            start, used = time.perf_counter(), _processor_seconds()
            subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
            own = time.perf_counter() - start, _processor_seconds() - used
            best[name] = min(best[name][0], own[0]), min(best[name][1], own[1])
    return best


def _processor_seconds() -> float:
    """Return what all processes that have ended used."""
    times = os.times()
    return times.children_user + times.children_system


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=7)
    best = measure(parser.parse_args().repeats)
    print(f"{'call':34} {'seconds':>8} {'processor':>9}  ratios to {PEER}")
    for name, (seconds, used) in best.items():
        ratios = f"{seconds / best[PEER][0]:5.2f} {used / best[PEER][1]:5.2f}"
        print(f"{name:34} {seconds:8.3f} {used:9.3f}  {ratios}")


if __name__ == "__main__":
    main()
