"""All cells of a search on one fold, each warm-started from its neighbour."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from immax.linear import immax_risk
from immax.search.families import MarginFamily
from immax.search.scoring import HeldOut, Scorer
from immax.solvers import Problem, choose, solve
from immax.solvers.lbfgs import lbfgs
from immax.solvers.memory import Memory

__all__ = ["Results", "run_fold"]

Array = NDArray[Any]

MOST = 1000  # iterations


class Results(NamedTuple):
    """Of some margins (axis 0) and lams (axis 1), and for scores rules (axis 2)."""

    scores: Array
    fit_times: Array
    score_times: Array


def run_fold(
    X: Any,
    y: Array,
    weight: Array | None,
    classes: Array,
    fold: tuple[Array, Array],
    family: MarginFamily,
    points: Sequence[Array],
    lams: Sequence[float],
    loss: str,
    rules: Sequence[str],
    scorer: Scorer,
    tol: float,
) -> Results:
    """Fit every cell to the training part and score it on the test part.

    All samples are in every fit, those of the test part with a weight of zero: nothing is copied.
    For each lam the margins follow one another, and share a preconditioner. ``tol`` is what a
    cell's objective may be off by, as a share of it.
    """
    train, test = fold
    present = np.zeros(y.size)
    np.add.at(present, train, 1.0 if weight is None else weight[train])
    counts = np.bincount(y, weights=present, minlength=classes.size)
    share = (present / present.sum()).astype(X.dtype)
    held_out = X[test]
    labels = classes[y[test]]
    held_weight = None if weight is None else weight[test]
    margins = [family.margins(point, counts) for point in points]
    shape = len(points), len(lams)
    found = Results(np.empty((*shape, len(rules))), np.empty(shape), np.empty(shape))
    above: list[Array] = []  # solutions for the next larger lam
    for j in np.argsort(-np.asarray(lams)):
        memory, here = Memory(10), list[Array]()
        for i, rho in enumerate(margins):
            start = time.perf_counter()
            risk = immax_risk(loss, "auto", y, rho, share)
            theta = _fit(Problem(X, risk, float(lams[j])), _guess(here, above, i), memory, tol)
            here.append(theta)
            fitted = time.perf_counter()
            scores = _scores(held_out, theta)
            for k, rule in enumerate(rules):
                model = HeldOut(classes, scores, rho, loss, rule)
                found.scores[i, j, k] = scorer(model, held_out, labels, held_weight)
            found.fit_times[i, j] = fitted - start
            found.score_times[i, j] = time.perf_counter() - fitted
        above = here
    return found


def _guess(here: list[Array], above: list[Array], i: int) -> Array | None:
    """Where the next solution may be: its neighbours' changes, added up."""
    if not here:
        return above[0] if above else None
    return here[-1] + above[i] - above[i - 1] if above else here[-1]


def _fit(problem: Problem[Any], start: Array | None, memory: Memory, tol: float) -> Array:
    if problem.risk.smooth and choose(problem) == "lbfgs":
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            return lbfgs(
                problem,
                start,
                tol=tol,
                max_iter=MOST,
                memory=memory,
                kin=start is not None,
                trust=True,
            ).theta
    return solve(problem, start=start, tol=tol, max_iter=MOST, polish=False).theta


def _scores(X: Any, theta: Array) -> Array:
    product = X @ theta[:, :-1].T
    product = product.toarray() if sparse.issparse(product) else np.asarray(product)
    return np.asarray(product + theta[:, -1])
