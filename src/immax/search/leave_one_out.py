"""Approximate leave-one-out scores of linear classifiers, from one fit and a Newton step.

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

import numpy as np

from immax.arrays import Array
from immax.class_weights import weighted_shares
from immax.losses.immax_risks import immax_risk
from immax.losses.max_risks import MaxRisk
from immax.losses.risks import SmoothRisk
from immax.search.cells import CellWatch, LinearFits, ignore_cell, linear_path
from immax.search.folds import Fold
from immax.search.held_out import HeldOutCells, PointTerms
from immax.search.margin_family import MarginFamily, family_weights
from immax.search.samples import SearchSamples
from immax.solvers import Problem
from immax.solvers.newton import unit_hessian
from immax.solvers.problem import is_smooth

__all__ = ["MAX_PARAMETERS", "LeaveOneOutCells", "left_out_scores"]

MAX_PARAMETERS = 1000  # whose Hessian is inverted


@dataclass(frozen=True)
class LeaveOneOutCells:
    """Linear classifiers, fitted once to all samples.

    Attributes
    ----------
    samples : SearchSamples
        All samples.
    fits : LinearFits
        How the classifiers are fitted.
    """

    samples: SearchSamples
    fits: LinearFits

    def run(
        self,
        fold: Fold,
        family: MarginFamily,
        points: Sequence[Array],
        penalties: Array,
        watch: CellWatch = ignore_cell,
    ) -> HeldOutCells:
        """Fit to all samples and score each by the model of the others, in groups.

        Parameters
        ----------
        fold : Fold
            All samples, and the groups in which they are scored.
        family : MarginFamily
            Gives the margins for the class counts without a sample.
        points : sequence of ndarray
            Parameters of the family.
        penalties : ndarray
            Values of lambda, the largest first.
        watch : callable, default=ignore_cell
            Is told of every cell: all margins of the first lambda, then those of the next.

        Returns
        -------
        HeldOutCells
            With a test for each group.
        """
        train, groups = fold
        samples = self.samples
        weight = samples.training_weight(train)
        counts = samples.class_counts(weight)
        margins = [family.margins(point, counts) for point in points]
        weights = [family_weights(family, point, counts) for point in points]
        less = [_less_one(counts, k, weight[samples.y == k]) for k in range(counts.size)]
        terms = [
            PointTerms(
                np.array([family.margins(point, m) for m in less]),
                np.array([family_weights(family, point, m) for m in less]),
            )
            for point in points
        ]
        n, shape = samples.y.size, (len(points), len(penalties))
        values = np.empty((*shape, n, 1 if counts.size == 2 else counts.size))
        times = np.zeros((*shape, len(groups)))
        start = time.perf_counter()
        path = linear_path(samples.X, samples.y, self.fits, weight, margins, weights, penalties)
        for j, i in np.ndindex(*reversed(shape)):  # the order of the path
            with watch(i, j):
                _, _, problem, theta = next(path)
                if not is_smooth(problem):
                    raise TypeError("leave-one-out scores need a smooth loss")
                values[i, j] = left_out_scores(problem, theta, samples, weight, terms[i], self.fits)
            now = time.perf_counter()
            times[i, j], start = (now - start) / len(groups), now
        return HeldOutCells(values, terms, np.arange(n), samples.y, groups, times)


def _less_one(counts: Array, k: int, weights: Array) -> Array:
    """Return the counts without a sample of class k that has the class's mean weight."""
    less = counts.copy()
    less[k] -= weights[weights > 0].mean()
    return less


def left_out_scores(
    problem: Problem[SmoothRisk],
    theta: Array,
    samples: SearchSamples,
    weight: Array,
    terms: PointTerms,
    fits: LinearFits,
) -> Array:
    """Return the scores of every sample by the model of all others, up to a Newton step.

    Parameters
    ----------
    problem : Problem
        The problem of all samples, dense or sparse.
    theta : ndarray of the problem's shape
        Its solution, or close to it: the step corrects what is missing.
    samples : SearchSamples
        The samples.
    weight : ndarray of shape (n,)
        Their weights in the problem, without those of the classes.
    terms : PointTerms
        In row k the margins and weights without a sample of class k.
    fits : LinearFits
        The loss.

    Returns
    -------
    ndarray of shape (n, k)
        The scores.
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
    slopes = np.empty_like(scores)
    move = np.empty_like(scores)
    for own, (rho, weights) in enumerate(zip(terms.margins, terms.weights, strict=True)):
        rows = np.flatnonzero((samples.y == own) & (weight > 0))
        each = weighted_shares(share, samples.y, weights).astype(problem.dtype)
        risk = immax_risk(fits.loss, fits.form, samples.y, rho, each)
        assert not isinstance(risk, MaxRisk)  # the hinge was refused
        _, gradient = risk.value_gradient(scores)
        towards = step(problem.pull_back(gradient) + problem.penalty_gradient(theta))
        mean = weight[rows].mean()
        move[rows] = problem.scores(towards)[rows] * (weight[rows] / mean)[:, None]
        move[rows] -= shrink[rows] * each[rows, None]
        slopes[rows] = gradient[rows]
    absent = weight == 0
    move[absent] = slopes[absent] = 0
    leverage = _quadratic(problem, inverse.reshape(k, width, k, width))
    blocks = np.empty((len(scores), k, k))
    for a in range(k):
        for b in range(k):
            blocks[:, a, b] = curvature.block(a, b)
    move -= np.einsum("nab,nb->na", leverage, slopes)
    system = np.eye(k) - leverage @ blocks
    return np.asarray(scores - np.linalg.solve(system, move[:, :, None])[:, :, 0])


def _quadratic(problem: Problem[SmoothRisk], inverse: Array) -> Array:
    """Return ``x^T H^-1 x`` for every sample, a k×k matrix each."""
    k = problem.shape[0]
    X = problem.X.toarray() if problem.is_sparse else problem.X
    X = np.column_stack([X, np.ones(len(X), dtype=X.dtype)]) if problem.fit_intercept else X
    out = np.empty((len(X), k, k))
    for a in range(k):
        for b in range(a, k):
            out[:, a, b] = out[:, b, a] = np.einsum("nd,nd->n", X @ inverse[a, :, b, :], X)
    return out
