"""Paths of 50 l1 models: IMMAX against other libraries, side by side in one run.

The data and the objective are those of ``sparse_models.py``. The values of lam go from lam_max to
lam_max / 1000, and each solver starts a model from the one before, if it can: scikit-learn's
liblinear cannot. A path counts if each of its models lies within a relative 1e-6 of the lowest
objective of all solvers; for each solver the coarsest tolerance with which it does is taken. Times
are CPU seconds of one thread, compilation left out.

A peer is stopped as soon as it has taken ``--limit`` times as long as IMMAX, and it is printed how
many models it had fitted by then. celer and glum return no model before the last.

skglm, celer and glum have no multinomial loss, so ten classes are compared with saga alone. glum
forms a square matrix of all features, and is left out above 5,000 of them. liblinear and celer
penalise the intercept, as in ``sparse_models.py``.

    python benchmarks/sparse_paths.py [--shapes wide tall …] [--limit 3] [--without saga …]

Needs Linux.
"""

from __future__ import annotations

import argparse
import multiprocessing
import platform
import resource
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sparse_models import MOST_FOR_GLUM, SHAPES, TARGET, objective, sklearn_fit

from immax.paths import lam_max, path

TOLERANCES = [10.0**-k for k in range(2, 9)]
LIMIT = 3.0
N_LAMS, RATIO = 50, 1e-3
REFERENCE_TOL = 1e-8

Model = tuple[np.ndarray, np.ndarray]
Path = Callable[[Any, np.ndarray, np.ndarray, float], Iterator[Model]]


def immax_path(X: Any, y: np.ndarray, lams: np.ndarray, tol: float) -> Iterator[Model]:
    found = path(X, y, penalty="l1", margins="equal", tol=tol, max_iter=10_000, lams=lams)
    for coef, intercept in zip(found.coefs, found.intercepts, strict=True):
        yield coef.toarray(), intercept


def liblinear_path(X: Any, y: np.ndarray, lams: np.ndarray, tol: float) -> Iterator[Model]:
    for lam in lams:
        yield sklearn_fit("liblinear")(X, y, float(lam), tol)


def saga_path(X: Any, y: np.ndarray, lams: np.ndarray, tol: float) -> Iterator[Model]:
    model = LogisticRegression(l1_ratio=1, solver="saga", tol=tol, max_iter=10_000, warm_start=True)
    for lam in lams:
        model.set_params(C=1 / (lam * len(y))).fit(X, y)
        yield model.coef_.copy(), model.intercept_.copy()


def skglm_path(X: Any, y: np.ndarray, lams: np.ndarray, tol: float) -> Iterator[Model]:
    from skglm.datafits import Logistic
    from skglm.penalties import L1
    from skglm.solvers import ProxNewton
    from skglm.utils.jit_compilation import compiled_clone

    signs = np.where(y == 1, 1.0, -1.0)
    columns = sparse.csc_matrix(X) if sparse.issparse(X) else np.asfortranarray(X)
    solver = ProxNewton(
        tol=tol, fit_intercept=True, warm_start=True, max_iter=100, max_pn_iter=1000
    )
    datafit = compiled_clone(Logistic())
    w, scores = np.zeros(X.shape[1] + 1), np.zeros(X.shape[0])
    for lam in lams:
        w = solver.solve(columns, signs, datafit, compiled_clone(L1(float(lam))), w, scores)[0]
        scores = np.asarray(columns @ w[:-1]) + w[-1]
        yield w[None, :-1].copy(), w[-1:].copy()


def celer_path(X: Any, y: np.ndarray, lams: np.ndarray, tol: float) -> Iterator[Model]:
    from celer import celer_path as fit_path

    # Its column of ones is penalised like the others, a thousandth of it as it is a thousand.
    ones = np.full((X.shape[0], 1), 1000.0)
    wider = (
        sparse.hstack([X, ones], format="csc")
        if sparse.issparse(X)
        else np.asfortranarray(np.hstack([X, ones]))
    )
    signs = np.where(y == 1, 1.0, -1.0)
    coefs = fit_path(wider, signs, "logreg", alphas=lams * len(y), tol=tol, max_iter=500)[1]
    for w in coefs.T:
        yield w[None, :-1], 1000 * w[-1:]


def glum_path(X: Any, y: np.ndarray, lams: np.ndarray, tol: float) -> Iterator[Model]:
    from glum import GeneralizedLinearRegressor

    model = GeneralizedLinearRegressor(
        family="binomial",
        alpha_search=True,
        alpha=list(lams),
        l1_ratio=1,
        gradient_tol=tol,
        max_iter=1000,
    ).fit(X, y)
    for coef, intercept in zip(model.coef_path_, model.intercept_path_, strict=True):
        yield np.atleast_2d(coef), np.atleast_1d(intercept)


def peers(X: Any, y: np.ndarray) -> dict[str, Path]:
    """Return the solvers that minimise this objective."""
    if y.max() > 1:
        return {"saga": saga_path}
    others = {"skglm": skglm_path, "celer": celer_path, "glum": glum_path}
    if sparse.issparse(X) or X.shape[1] > MOST_FOR_GLUM:
        del others["glum"]
    own: dict[str, Path] = {"liblinear": liblinear_path, "saga": saga_path}
    return own | {name: fit for name, fit in others.items() if find_spec(name)}


@dataclass
class Run:
    """The models of a path that were fitted in the time allowed."""

    tol: float
    seconds: float
    objectives: np.ndarray
    error: str = ""

    def above(self, lowest: np.ndarray) -> float:
        """Return by how much an objective is above the lowest at most, relative to it."""
        known = self.objectives.size
        return float((self.objectives / lowest[:known] - 1).max(initial=0))


def timed(
    fit: Path, X: Any, y: np.ndarray, lams: np.ndarray, tol: float, limit: float = np.inf
) -> Run:
    """Fit a path in a process of its own, which ends at the limit of CPU seconds."""
    receiver, sender = multiprocessing.Pipe(duplex=False)
    context = multiprocessing.get_context("fork")  # shares the data and what is compiled
    process = context.Process(target=_send, args=(sender, fit, X, y, lams, tol, limit))
    process.start()
    sender.close()
    seconds, objectives, error = 0.0, [], ""
    try:
        while True:
            message = receiver.recv()
            if isinstance(message, str):
                error = message
                break
            seconds, value = message
            objectives.append(value)
    except EOFError:
        pass
    process.join()
    return Run(tol, seconds if objectives else limit, np.array(objectives), error)


def _send(
    sender: Connection,
    fit: Path,
    X: Any,
    y: np.ndarray,
    lams: np.ndarray,
    tol: float,
    limit: float,
) -> None:
    """Send the time and the objective of one model after the other."""
    if np.isfinite(limit):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        # A solver that does not return is ended by the system; objectives take time as well.
        resource.setrlimit(resource.RLIMIT_CPU, (int(1.2 * limit) + 2,) * 2)
    seconds, models = 0.0, fit(X, y, lams, tol)
    try:
        for lam in lams:
            start = time.process_time()
            coef, intercept = next(models)
            seconds += time.process_time() - start
            sender.send((seconds, objective(X, y, coef, intercept, float(lam))))
            if seconds > limit:
                break
    except Exception as error:  # of a peer
        sender.send(f"{type(error).__name__}: {str(error)[:80]}")


def compare(shape: str, X: Any, y: np.ndarray, limit: float, without: list[str]) -> None:
    """Print the times of the path by all solvers."""
    lams = lam_max(X, y, margins="equal") * np.geomspace(1, RATIO, N_LAMS)
    lowest = timed(immax_path, X, y, lams, REFERENCE_TOL).objectives
    print(f"{shape}: path of {N_LAMS} from lam_max to lam_max * {RATIO:g}", flush=True)
    seconds: dict[str, float] = {}
    longest = np.inf
    for name, fit in ({"immax": immax_path} | peers(X, y)).items():
        if name in without:
            continue
        for tol in TOLERANCES:
            run = timed(fit, X, y, lams, tol, longest)
            whole = run.objectives.size == lams.size
            if whole:
                lowest = np.minimum(lowest, run.objectives)
            if not whole or run.above(lowest) <= TARGET:
                break
        above = f"tol {run.tol:.0e}, at most {run.above(lowest):.0e} above"
        if run.error:
            print(f"    {name:10} {run.error}", flush=True)
        elif not whole:
            print(
                f"    {name:10} {run.objectives.size} of {N_LAMS} after {longest:.1f} s   {above}",
                flush=True,
            )
        else:
            print(f"    {name:10}{run.seconds:9.2f} s   {above}", flush=True)
        if name == "immax":
            longest = limit * run.seconds
        if whole and run.above(lowest) <= TARGET:
            seconds[name] = run.seconds
    if len(seconds) > 1 and "immax" in seconds:
        ours = seconds.pop("immax")
        fastest = min(seconds, key=lambda name: seconds[name])
        ratio = ours / seconds[fastest]
        print(f"    ratio to the fastest peer ({fastest}): {ratio:.2f}", flush=True)
    else:
        print(f"    no peer within {limit:g} times the time of immax", flush=True)


def warm_up(without: list[str]) -> None:
    """Fit short paths, so that no compilation and no import is timed."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 200))
    y = (X[:, 0] + rng.logistic(size=300) > 1).astype(int)
    for features in (X, sparse.csr_matrix(X)):
        for name, fit in ({"immax": immax_path} | peers(features, y)).items():
            if name not in without:
                list(fit(features, y, np.array([0.05, 0.01]), 1e-4))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shapes", nargs="+", default=list(SHAPES), choices=list(SHAPES))
    parser.add_argument("--limit", type=float, default=LIMIT, help="in units of our time")
    parser.add_argument("--without", nargs="+", default=[], help="peers to leave out")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    installed = [name for name in ("skglm", "celer", "glum") if find_spec(name)]
    print(
        f"Python {platform.python_version()}, "
        + ", ".join(f"{name} {version(name)}" for name in ("scikit-learn", *installed))
    )
    warm_up(arguments.without)
    for shape in arguments.shapes:
        X, y = SHAPES[shape]()
        compare(shape, X, y, arguments.limit, arguments.without)


if __name__ == "__main__":
    sys.exit(main())
