"""Leave-one-out scores of linear classifiers, for the price of a fit and a Newton step.

Let H be the Hessian of the objective at the solution for all samples, and leave out sample i
with features x, share s of the weight, and slopes g and curvature B of its weighted loss in its
scores h. The objective of the others, times 1 - s, is ``lam (1 - s) ||W||^2`` and the other
losses, and a Newton step on it moves the scores to ::

    h - (I - Q B)^-1 (u x - 2 lam s v x - Q g),   Q = x^T H^-1 x

with u the Newton step for all samples at the margins of the counts without i, and v that of
the weights. H itself is that of all samples: what this neglects is of second order in s.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from immax.arrays import Array
from immax.losses.immax_risks import immax_risk
from immax.losses.max_risks import MaxRisk
from immax.search.cells import Judge, Results, linear_path
from immax.search.families import MarginFamily
from immax.search.folds import Fold
from immax.solvers import Problem
from immax.solvers.newton import unit_hessian

__all__ = ["MOST_PARAMETERS", "LeaveOneOut", "left_out_scores"]

MOST_PARAMETERS = 1000  # whose Hessian is inverted


@dataclass(frozen=True)
class LeaveOneOut:
    """Linear classifiers, fitted once to all samples."""

    judge: Judge
    tol: float

    def run(
        self, fold: Fold, family: MarginFamily, points: Sequence[Array], prices: Array
    ) -> Results:
        """Fit to all samples and score each by the model of the others, in groups."""
        train, groups = fold
        judge, present = self.judge, self.judge.present(train)
        counts = judge.counts(present)
        margins = [family.margins(point, counts) for point in points]
        less = [_less_one(counts, k, present[judge.y == k]) for k in range(counts.size)]
        without = [np.array([family.margins(point, m) for m in less]) for point in points]
        found = Results.empty(len(points), len(prices), len(judge.rules), len(groups))
        start = time.perf_counter()
        fits = linear_path(judge.X, judge.y, judge.loss, present, margins, prices, self.tol)
        for i, j, problem, theta in fits:
            scores = left_out_scores(problem, theta, judge, present, without[i])
            fitted = time.perf_counter()
            found.scores[i, j], found.losses[i, j] = judge.judge(
                scores, without[i], groups, judge.y
            )
            found.fit_times[i, j] = (fitted - start) / len(groups)
            start = time.perf_counter()
            found.score_times[i, j] = (start - fitted) / len(groups)
        return found


def _less_one(counts: Array, k: int, weights: Array) -> Array:
    """The counts without a sample of class k, of the class's mean weight."""
    less = counts.copy()
    less[k] -= weights[weights > 0].mean()
    return less


def left_out_scores(
    problem: Problem[Any], theta: Array, judge: Judge, weight: Array, margins: Array
) -> Array:
    """For every sample, its scores by the model of all others, up to a Newton step.

    Parameters
    ----------
    problem : Problem
        Of all samples, dense or sparse.
    theta : ndarray
        Its solution, or close to it: what it lacks is part of the step.
    judge : Judge
        Whose samples they are.
    weight : ndarray of shape (n,)
    margins : ndarray of shape (c, c)
        Row k without a sample of class k.
    """
    k, width = problem.shape
    scores = problem.scores(theta)
    curvature = problem.risk.curvature(scores)
    matrix, scale = unit_hessian(problem, curvature)
    matrix[np.diag_indices(k * width)] += 1e-13
    inverse = np.linalg.inv(matrix)
    inverse *= scale[:, None]
    inverse *= scale

    def step(gradient: Array) -> Array:
        return np.asarray((inverse @ gradient.ravel()).reshape(k, width))

    share = weight / weight.sum()
    shrink = problem.scores(step(problem.penalty_gradient(theta)))
    shrink *= share[:, None]
    slopes = np.empty_like(scores)
    move = np.empty_like(scores)
    for own, rho in enumerate(margins):
        rows = np.flatnonzero((judge.y == own) & (weight > 0))
        risk = immax_risk(judge.loss, "auto", judge.y, rho, problem.risk.weight)
        assert not isinstance(risk, MaxRisk)  # the hinge was refused
        _, gradient = risk.value_gradient(scores)
        towards = step(problem.pull_back(gradient) + problem.penalty_gradient(theta))
        mean = weight[rows].mean()
        move[rows] = problem.scores(towards)[rows] * (weight[rows] / mean)[:, None]
        slopes[rows] = gradient[rows]
    absent = weight == 0
    move[absent] = slopes[absent] = 0
    move -= shrink
    leverage = _quadratic(problem, inverse.reshape(k, width, k, width))
    bend = np.empty((len(scores), k, k))
    for a in range(k):
        for b in range(k):
            bend[:, a, b] = curvature.block(a, b)
    move -= np.einsum("nab,nb->na", leverage, slopes)
    system = np.eye(k) - leverage @ bend
    return np.asarray(scores - np.linalg.solve(system, move[:, :, None])[:, :, 0])


def _quadratic(problem: Problem[Any], inverse: Array) -> Array:
    """``x^T H^-1 x`` for every sample: k×k matrices."""
    k = problem.shape[0]
    X = problem.X.toarray() if problem.is_sparse else problem.X
    X = np.column_stack([X, np.ones(len(X), dtype=X.dtype)]) if problem.fit_intercept else X
    out = np.empty((len(X), k, k))
    for a in range(k):
        for b in range(a, k):
            out[:, a, b] = out[:, b, a] = np.einsum("nd,nd->n", X @ inverse[a, :, b, :], X)
    return out
