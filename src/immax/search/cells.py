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

TOL = 1e-4  # of a cell's objective: its errors are far below those of the folds
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
) -> Results:
    """Fit every cell to the training part and score it on the test part.

    All samples are in every fit, those of the test part with a weight of zero: nothing is copied.
    For each lam the margins follow one another, and share a preconditioner.
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
    first: Array | None = None
    for j in np.argsort(-np.asarray(lams)):
        memory, theta = Memory(10), first
        for i, rho in enumerate(margins):
            start = time.perf_counter()
            risk = immax_risk(loss, "auto", y, rho, share)
            theta = _fit(Problem(X, risk, float(lams[j])), theta, memory)
            first = theta if i == 0 else first
            fitted = time.perf_counter()
            scores = _scores(held_out, theta)
            for k, rule in enumerate(rules):
                model = HeldOut(classes, scores, rho, loss, rule)
                found.scores[i, j, k] = scorer(model, held_out, labels, held_weight)
            found.fit_times[i, j] = fitted - start
            found.score_times[i, j] = time.perf_counter() - fitted
    return found


def _fit(problem: Problem[Any], start: Array | None, memory: Memory) -> Array:
    if problem.risk.smooth and choose(problem) == "lbfgs":
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            return lbfgs(
                problem,
                start,
                tol=TOL,
                max_iter=MOST,
                certify=False,
                memory=memory,
                kin=start is not None,
            ).theta
    return solve(problem, start=start, tol=TOL, max_iter=MOST, polish=False).theta


def _scores(X: Any, theta: Array) -> Array:
    product = X @ theta[:, :-1].T
    product = product.toarray() if sparse.issparse(product) else np.asarray(product)
    return np.asarray(product + theta[:, -1])
