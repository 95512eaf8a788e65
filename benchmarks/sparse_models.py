"""Models with few features: IMMAX's l1 fits against other libraries, side by side in one run.

All minimise the same objective: ``lam ||W||_1 + mean logistic loss`` with free biases (equal
margins). Each solver is run with ever smaller tolerances; its first run that ends within a
relative 1e-6 of the lowest objective of all solvers counts, and is repeated in turn with the
others. Compilation is not timed: every library has fitted a small problem before. Times are CPU
seconds of one thread, so that other work on the machine does not count. ``sparse_paths.py``
compares whole paths.

scikit-learn's liblinear penalises the intercept; with intercept_scaling=100 hardly. celer has no
intercept, so it gets a column of ones that is hardly penalised, if its weights allow that, and is
left out otherwise. skglm, celer and glum have no multinomial loss, so ten classes are compared with
saga alone; none of the peers ties the coefficients of a feature over the classes of a multinomial
model, so the group penalty is reported without a peer. glum forms a square matrix of all features,
and is left out above 5,000 of them.

With ``--memory`` the peak memory of our fits is printed in place of times. Each is measured in a
process of its own, where the allocator holds nothing of earlier fits.

    python benchmarks/sparse_models.py [--shapes wide tall …] [--ratios 10 100 1000] [--memory]
        [--limit 30] [--without saga …]

skglm, celer and glum are used if they are installed. ``--memory`` needs Linux.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import platform
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from peak import peak_mib
from scipy import sparse
from sklearn.linear_model import LogisticRegression

from immax import IMMAXClassifier
from immax.losses import LossSpec
from immax.paths import lam_max

TARGET = 1e-6  # relative to the lowest objective
LIMIT = 30.0  # CPU seconds: a solver that takes longer is not run with a smaller tolerance
TOLERANCES = [10.0**-k for k in range(1, 11)]
MOST_FOR_GLUM = 5_000  # features: it forms a square matrix of them
PEERS = ["liblinear", "saga", "skglm", "celer", "glum"]
Fit = Callable[[Any, np.ndarray, float, float], tuple[np.ndarray, np.ndarray]]
Data = tuple[Any, np.ndarray]


def _labels(X: Any, rng: np.random.Generator, n_relevant: int, bias: float) -> np.ndarray:
    """Return labels of a noisy linear rule with few features; about one in five is positive."""
    w = np.zeros(X.shape[1])
    w[rng.choice(X.shape[1], n_relevant, replace=False)] = rng.standard_normal(n_relevant)
    signal = np.asarray(X @ w)
    signal *= 3 / signal.std()
    return (signal + rng.logistic(size=X.shape[0]) > bias).astype(int)


def wide() -> Data:
    """Return dense data, 5,000 x 2,000, neighbouring columns correlated."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5_000, 2_000))
    X[:, 1:] += 0.5 * X[:, :-1]
    return X, _labels(X, rng, 100, 3.0)


def tall() -> Data:
    """Return dense data, 100,000 x 100."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100_000, 100))
    X[:, 1:] += 0.5 * X[:, :-1]
    return X, _labels(X, rng, 30, 3.0)


def thin() -> Data:
    """Return sparse data, 50,000 x 20,000 with 0.2 % of entries."""
    rng = np.random.default_rng(0)
    n, d, per_row = 50_000, 20_000, 40
    columns = rng.integers(0, d, n * per_row)
    rows = np.repeat(np.arange(n), per_row)
    values = rng.standard_normal(n * per_row)
    X = sparse.csr_matrix((values, (rows, columns)), shape=(n, d))
    return X, _labels(X, rng, 500, 3.0)


def text() -> Data:
    """Return sparse data like text, 20,000 x 200,000: counts of words by Zipf's law, weighted."""
    rng = np.random.default_rng(0)
    n, d, per_row = 20_000, 200_000, 80
    share = 1 / np.arange(10, d + 10)
    columns = rng.choice(d, n * per_row, p=share / share.sum())
    rows = np.repeat(np.arange(n), per_row)
    X = sparse.csr_matrix((np.ones(n * per_row), (rows, columns)), shape=(n, d))
    frequency = np.bincount(X.indices, minlength=d)
    X.data *= np.log(n / (1 + frequency[X.indices])) + 1
    norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    X = sparse.csr_matrix(X.multiply(1 / norms[:, None]))
    w = np.zeros(d)
    w[rng.choice(5_000, 300, replace=False)] = rng.standard_normal(300)
    signal = np.asarray(X @ w)
    signal *= 3 / signal.std()
    return X, (signal + rng.logistic(size=n) > 3.0).astype(int)


def ten_classes() -> Data:
    """Return dense data, 10,000 x 500, ten classes, the rarest a twentieth of the largest."""
    rng = np.random.default_rng(0)
    n, d, c = 10_000, 500, 10
    share = np.geomspace(1, 0.05, c)
    y = rng.choice(c, n, p=share / share.sum())
    centres = np.zeros((c, d))
    centres[:, :50] = 0.5 * rng.standard_normal((c, 50))
    return centres[y] + rng.standard_normal((n, d)), y


SHAPES = {f.__name__: f for f in (wide, tall, thin, text, ten_classes)}


def objective(X: Any, y: np.ndarray, coef: np.ndarray, intercept: Any, lam: float) -> float:
    """Return the objective, computed in the same way for all."""
    scores = np.asarray(X @ coef.T) + intercept
    if len(coef) == 1:
        scores = np.hstack([-scores / 2, scores / 2])
    losses = LossSpec(np.ones(scores.shape[1])).loss(scores, y)
    return float(lam * np.abs(coef).sum() + losses.mean())


def immax_fit(X: Any, y: np.ndarray, lam: float, tol: float) -> tuple[np.ndarray, np.ndarray]:
    model = IMMAXClassifier(penalty="l1", margins="equal", lam=lam, tol=tol, max_iter=10_000)
    model.fit(X, y)
    return model.coef_, model.intercept_


def sklearn_fit(solver: str) -> Fit:
    def fit(X: Any, y: np.ndarray, lam: float, tol: float) -> tuple[np.ndarray, np.ndarray]:
        options = {"intercept_scaling": 100.0} if solver == "liblinear" else {}
        model = LogisticRegression(
            l1_ratio=1, C=1 / (lam * len(y)), solver=solver, tol=tol, max_iter=10_000, **options
        )
        model.fit(X, y)
        return model.coef_, model.intercept_

    return fit


def skglm_fit(X: Any, y: np.ndarray, lam: float, tol: float) -> tuple[np.ndarray, np.ndarray]:
    from skglm import GeneralizedLinearEstimator
    from skglm.datafits import Logistic
    from skglm.penalties import L1
    from skglm.solvers import ProxNewton

    solver = ProxNewton(tol=tol, fit_intercept=True, max_iter=100, max_pn_iter=1000)
    model = GeneralizedLinearEstimator(Logistic(), L1(lam), solver)
    model.fit(X, y)
    return np.atleast_2d(model.coef_), np.atleast_1d(model.intercept_)


def celer_fit(X: Any, y: np.ndarray, lam: float, tol: float) -> tuple[np.ndarray, np.ndarray]:
    from celer import LogisticRegression as Celer

    # Its column of ones is penalised like the others, a thousandth of it as it is a thousand.
    ones = np.full((X.shape[0], 1), 1000.0)
    wider = sparse.hstack([X, ones], format="csc") if sparse.issparse(X) else np.hstack([X, ones])
    model = Celer(C=1 / (lam * len(y)), tol=tol, max_iter=500, fit_intercept=False)
    model.fit(wider, y)
    coef = np.atleast_2d(model.coef_)
    return coef[:, :-1], 1000 * coef[:, -1]


def glum_fit(X: Any, y: np.ndarray, lam: float, tol: float) -> tuple[np.ndarray, np.ndarray]:
    from glum import GeneralizedLinearRegressor

    model = GeneralizedLinearRegressor(
        family="binomial", alpha=lam, l1_ratio=1, gradient_tol=tol, max_iter=1000
    )
    model.fit(sparse.csc_matrix(X) if sparse.issparse(X) else X, y)
    return np.atleast_2d(model.coef_), np.atleast_1d(model.intercept_)


def peers(X: Any, y: np.ndarray) -> dict[str, Fit]:
    """Return the solvers that minimise this objective."""
    if y.max() > 1:
        return {"saga": sklearn_fit("saga")}
    found: dict[str, Fit] = {"liblinear": sklearn_fit("liblinear"), "saga": sklearn_fit("saga")}
    others = {"skglm": skglm_fit, "celer": celer_fit, "glum": glum_fit}
    if X.shape[1] > MOST_FOR_GLUM:
        del others["glum"]
    return found | {name: fit for name, fit in others.items() if find_spec(name)}


@dataclass
class Run:
    """One fit."""

    seconds: float
    objective: float
    tol: float


def _time(fit: Fit, X: Any, y: np.ndarray, lam: float, tol: float) -> Run:
    start = time.process_time()
    coef, intercept = fit(X, y, lam, tol)
    seconds = time.process_time() - start
    return Run(seconds, objective(X, y, coef, intercept, lam), tol)


def compare(
    shape: str,
    X: Any,
    y: np.ndarray,
    ratio: float,
    strongest: float,
    limit: float,
    without: list[str],
) -> None:
    """Print the times of all solvers at one lam."""
    lam = strongest / ratio
    coef, intercept = immax_fit(X, y, lam, 1e-8)
    best = objective(X, y, coef, intercept, lam)
    first: dict[str, Run] = {}
    missed: dict[str, Run] = {}
    candidates = {"immax": immax_fit} | peers(X, y)
    candidates = {name: fit for name, fit in candidates.items() if name not in without}
    for name, fit in candidates.items():
        for tol in TOLERANCES:
            try:
                run = _time(fit, X, y, lam, tol)
            except Exception as error:
                print(f"    {name}: {type(error).__name__}: {str(error)[:80]}", flush=True)
                break
            best = min(best, run.objective)
            if run.objective <= best * (1 + TARGET):
                first[name] = run
                break
            missed[name] = run
            if run.seconds > limit:
                break
    for _ in range(3):
        for name, known in first.items():
            if known.seconds < 3:
                known.seconds = min(
                    known.seconds, _time(candidates[name], X, y, lam, known.tol).seconds
                )
    used = int((coef != 0).any(axis=0).sum())
    print(f"{shape}, lam_max / {ratio:g}: {used} features", flush=True)
    for name in candidates:
        if name in first:
            run = first[name]
            off = run.objective / best - 1
            print(f"    {name:12}{run.seconds:9.3f} s   tol {run.tol:.0e}, {off:.0e} above")
        elif name in missed:
            run = missed[name]
            off = run.objective / best - 1
            print(f"    {name:12} not within {TARGET:g}: {off:.0e} above after {run.seconds:.1f} s")
    rivals = {name: run.seconds for name, run in first.items() if name != "immax"}
    if rivals and "immax" in first:
        fastest = min(rivals, key=lambda name: rivals[name])
        ratio = first["immax"].seconds / rivals[fastest]
        print(f"    ratio to the fastest peer ({fastest}): {ratio:.2f}", flush=True)


def peak_of_fit(X: Any, y: np.ndarray, lam: float) -> float:
    """Return by how many MiB the memory of a new process rises at most during our fit."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    context = multiprocessing.get_context("fork")  # shares the data and what is compiled
    process = context.Process(target=_send_peak, args=(sender, X, y, lam))
    process.start()
    mib = float(receiver.recv())
    process.join()
    return mib


def _send_peak(sender: Connection, X: Any, y: np.ndarray, lam: float) -> None:
    warm_up(PEERS)  # a process reads the code of libraries when it first runs it
    sender.send(peak_mib(lambda: immax_fit(X, y, lam, 1e-6)))


def warm_up(without: list[str]) -> None:
    """Fit small problems, so that no compilation is timed."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 200))
    y = _labels(X, rng, 20, 1.0)
    larger = rng.standard_normal((1_500, 800))
    labels = _labels(larger, rng, 20, 1.0)
    for features in (larger, sparse.csr_matrix(larger)):
        for lam in (0.05, 0.001):  # with copies of some columns, and with rounded ones of most
            immax_fit(features, labels, lam, 1e-4)
    for features in (X, sparse.csr_matrix(X)):
        for lam in (0.05, 0.001):
            for name, fit in ({"immax": immax_fit} | peers(X, y)).items():
                if name in without:
                    continue
                with contextlib.suppress(Exception):  # a peer that fails is reported later
                    fit(features, y, lam, 1e-4)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shapes", nargs="+", default=list(SHAPES), choices=list(SHAPES))
    parser.add_argument("--ratios", nargs="+", type=float, default=[10, 100, 1000])
    parser.add_argument("--memory", action="store_true", help="measure the peak memory of our fits")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds for one fit of a peer")
    parser.add_argument("--without", nargs="+", default=[], help="peers to leave out")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    names = ["immax", "scikit-learn", *(n for n in ("skglm", "celer", "glum") if find_spec(n))]
    print(
        f"Python {platform.python_version()}, "
        + ", ".join(f"{n} {version(n)}" for n in names if n != "immax")
    )
    warm_up(PEERS if arguments.memory else arguments.without)
    for shape in arguments.shapes:
        X, y = SHAPES[shape]()
        strongest = lam_max(X, y, margins="equal")
        size = (
            X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if sparse.issparse(X) else X.nbytes
        ) / 2**20
        print(
            f"{shape}: {X.shape[0]:,} x {X.shape[1]:,}, {y.max() + 1} classes, {size:.0f} MiB",
            flush=True,
        )
        for ratio in arguments.ratios:
            if arguments.memory:
                mib = peak_of_fit(X, y, strongest / ratio)
                print(
                    f"    lam_max / {ratio:g}: peak {mib:.0f} MiB over X's {size:.0f} MiB",
                    flush=True,
                )
                continue
            compare(shape, X, y, ratio, strongest, arguments.limit, arguments.without)


if __name__ == "__main__":
    sys.exit(main())
