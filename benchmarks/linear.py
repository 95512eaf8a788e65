"""IMMAX's linear fits against those of other libraries, side by side in one run.

All minimise the same objective: ``lam ||W||^2 + mean logistic loss`` with unpenalised biases
(equal margins, scikit-learn's C = 1), and the hinge loss without biases, since LinearSVC penalises
them. Each solver is run with ever smaller tolerances (LinearSVC: with ever more epochs). Its first
run that ends within a relative 1e-6 of the lowest objective of all solvers counts. The ratio is
our time over that of the fastest peer. The last line gives our time with the theory's margins.
With ``--cpu`` the times are CPU seconds, which other work on the machine hardly changes; run it on
one core (``taskset -c 0``), since the threads of a library that wait for each other count too.

    python benchmarks/linear.py [--shapes tall wide …] [--losses logistic hinge] [--limit 10]
        [--cpu] [--memory]
"""

from __future__ import annotations

import argparse
import platform
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
import sklearn
from data import SHAPES
from linear_peers import missing_peers, peers
from sklearn.exceptions import ConvergenceWarning

import immax
from immax import IMMAXClassifier
from immax.losses import LossSpec
from immax.losses.surrogates import hinge, max_form
from immax.margins import theory_margins

TARGET = 1e-6  # relative to the lowest objective
LIMIT = 10.0  # seconds: a solver that takes longer is not run with a smaller tolerance
C = 1.0

Clock = Callable[[], float]


@dataclass
class Run:
    """One fit."""

    solver: str
    setting: float  # a tolerance, or a number of epochs
    seconds: float
    objective: float


def margins_of(kind: str, y: np.ndarray) -> np.ndarray:
    """Return margins of mean one, equal or the theory's."""
    counts = np.bincount(y)
    return np.ones(counts.size) if kind == "equal" else theory_margins(counts)


def ours(loss: str, X: Any, y: np.ndarray, kind: str, tol: float) -> IMMAXClassifier:
    return IMMAXClassifier(
        loss,
        margins=margins_of(kind, y),
        lam=1 / (2 * C * len(y)),
        tol=tol,
        max_iter=100_000,
        fit_intercept=loss == "logistic",
    ).fit(X, y)


def objective(loss: str, X: Any, y: np.ndarray, coef: np.ndarray, intercept: Any) -> float:
    """Return the objective in scikit-learn's scaling, computed in the same way for all."""
    scores = np.asarray(X @ coef.T) + intercept
    if len(coef) == 1:
        scores = np.hstack([-scores / 2, scores / 2])
    ones = np.ones(scores.shape[1])
    if loss == "logistic":
        losses = LossSpec(ones).loss(scores, y)
    else:
        losses = max_form(hinge, scores, y, ones)[0]
    return float(np.sum(coef**2) / (2 * C * len(y)) + losses.mean())


def run_settings(
    name: str,
    settings: list[float],
    fit: Callable[[float], Any],
    measure: Callable[[Any], float],
    enough: float,
    limit: float,
    clock: Clock,
) -> list[Run]:
    """Fit with one setting after the other until the objective is low enough or time is up."""
    runs: list[Run] = []
    for setting in settings:
        start = clock()
        model = fit(setting)
        seconds = clock() - start
        runs.append(Run(name, setting, seconds, measure(model)))
        if seconds > limit or runs[-1].objective <= enough:
            break
    return runs


def compare(shape: str, loss: str, limit: float, clock: Clock) -> None:
    """Print the times of all solvers on one data set."""
    X, y = SHAPES[shape]()

    def measure(model: Any) -> float:
        return objective(loss, X, y, model.coef_, model.intercept_)

    # A first reference, at most a tenth of the target away; in the end, the lowest of all counts.
    enough = measure(ours(loss, X, y, "equal", TARGET / 10)) * (1 + 0.9 * TARGET)
    # The gap of the hinge loss is tight; that of the logistic loss is a conservative bound.
    settings = [10 ** (-k / 2) for k in range(0 if loss == "logistic" else 10, 17)]
    runs = run_settings(
        "immax",
        settings,
        lambda tol: ours(loss, X, y, "equal", tol),
        measure,
        enough,
        LIMIT,
        clock,
    )
    for name, tolerances, make in peers(loss, X, y, C):
        runs += run_settings(
            name, tolerances, lambda tol, m=make: m(tol).fit(X, y), measure, enough, limit, clock
        )
    best = min(run.objective for run in runs)
    fastest: dict[str, Run] = {}
    for run in runs:
        if run.objective <= best * (1 + TARGET):
            known = fastest.get(run.solver)
            if known is None or run.seconds < known.seconds:
                fastest[run.solver] = run
    mine = fastest.pop("immax")
    # Repeat with the same tolerance, with equal and with unequal margins.
    for name, _, make in peers(loss, X, y, C):
        known = fastest.get(name)
        if known is not None and known.seconds < 3:
            again = (_time(clock, lambda: make(known.setting).fit(X, y)) for _ in range(2))  # noqa: B023
            known.seconds = min(known.seconds, *again)
    times = 3 if mine.seconds < 3 else 1
    equal = min(_time(clock, lambda: ours(loss, X, y, "equal", mine.setting)) for _ in range(times))
    unequal = min(
        _time(clock, lambda: ours(loss, X, y, "theory", mine.setting)) for _ in range(times)
    )
    print(f"{shape}, {loss}: {X.shape[0]:,} x {X.shape[1]:,}, {y.max() + 1} classes", flush=True)
    print(f"    immax            {equal:8.3f} s   at {mine.setting:.1g}")
    for name in dict.fromkeys(run.solver for run in runs if run.solver != "immax"):
        if name in fastest:
            print(f"    {name:16} {fastest[name].seconds:8.3f} s   at {fastest[name].setting:.1g}")
        else:
            last = [run for run in runs if run.solver == name][-1]
            off = last.objective / best - 1
            print(f"    {name:16} not within {TARGET:g}: {off:.1e} off after {last.seconds:.1f} s")
    if fastest:
        peer = min(fastest.values(), key=lambda run: run.seconds)
        print(f"    ratio to the fastest peer ({peer.solver}): {equal / peer.seconds:.2f}")
    steps = [ours(loss, X, y, kind, mine.setting).n_iter_ for kind in ("theory", "equal")]
    print(
        f"    theory's margins {unequal:8.3f} s   ratio to equal margins: {unequal / equal:.2f}, "
        f"iterations {steps[0]} to {steps[1]}"
    )


def _time(clock: Clock, fit: Callable[[], object]) -> float:
    start = clock()
    fit()
    return clock() - start


MEMORY = """
import sys, warnings
sys.path.insert(0, {folder!r})
warnings.simplefilter("ignore")
from data import SHAPES
from linear_peers import missing_peers, peers
from peak import peak_mib
import linear

X, y = SHAPES[{shape!r}]()
if {solver!r} == "immax":
    fit = lambda: linear.ours({loss!r}, X, y, "equal", 1e-6)
else:
    makers = {{name: make for name, _, make in linear.peers({loss!r}, X, y, linear.C)}}
    fit = lambda: makers[{solver!r}](1e-6).fit(X, y)
print(peak_mib(fit))
"""


def memory(shape: str, loss: str) -> None:
    """Print the peak memory of each fit above that of the data, each in its own process (Linux)."""
    X, y = SHAPES[shape]()
    size = (X.nbytes if isinstance(X, np.ndarray) else X.data.nbytes + X.indices.nbytes) / 2**20
    names = ["immax", *(name for name, _, _ in peers(loss, X, y, C))]
    parts = []
    for name in names:
        script = MEMORY.format(folder=sys.path[0], shape=shape, solver=name, loss=loss)
        try:
            done = subprocess.run(
                [sys.executable, "-c", script],
                capture_output=True,
                text=True,
                timeout=60,
                check=True,
            )
            parts.append(f"{name} {float(done.stdout):.0f} MiB")
        except subprocess.TimeoutExpired:
            parts.append(f"{name} over 60 s")
    print(f"    peak memory above the data ({size:.0f} MiB): {', '.join(parts)}", flush=True)


def main() -> None:
    """Print one block for each loss and shape."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=list(SHAPES))
    parser.add_argument(
        "--losses", nargs="+", choices=["logistic", "hinge"], default=["logistic", "hinge"]
    )
    parser.add_argument(
        "--memory", action="store_true", help="also peak memory, in fresh processes"
    )
    parser.add_argument(
        "--limit", type=float, default=LIMIT, help="seconds, after which a peer gets no more tries"
    )
    parser.add_argument("--cpu", action="store_true", help="CPU seconds of all threads")
    arguments = parser.parse_args()
    clock = time.process_time if arguments.cpu else time.perf_counter
    warnings.simplefilter("ignore", ConvergenceWarning)
    print(
        f"immax {immax.__version__}, scikit-learn {sklearn.__version__}, NumPy {np.__version__}, "
        f"SciPy {scipy.__version__}, Python {platform.python_version()}; seeds fixed"
    )
    missing = missing_peers()
    print(f"peers that are not installed: {', '.join(missing) or 'none'}", flush=True)
    for loss in arguments.losses:
        for shape in arguments.shapes:
            compare(shape, loss, arguments.limit, clock)
            if arguments.memory and loss == "logistic":
                memory(shape, loss)


if __name__ == "__main__":
    main()
