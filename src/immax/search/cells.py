"""All cells of a search on one fold."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
from scipy import sparse

from immax.arrays import Array, Features
from immax.losses.immax_risks import immax_risk
from immax.penalties import Penalty, SquaredL2
from immax.search.families import MarginFamily
from immax.search.folds import Fold
from immax.search.held_out import HeldOutScorer
from immax.search.results import CellResults
from immax.solvers import Problem, solve_grid
from immax.solvers.problem import Risk

__all__ = ["Cells", "LinearCells", "PathPoint", "linear_path"]

MAX_ITER = 1000


class Cells(Protocol):
    """Fits and scores all cells of a fold."""

    def run(
        self, fold: Fold, family: MarginFamily, points: Sequence[Array], penalties: Array
    ) -> CellResults:
        """Fit and score some points of the family with all penalty strengths."""


@dataclass(frozen=True)
class LinearCells:
    """Linear classifiers, each warm-started from its neighbours.

    Attributes
    ----------
    scorer : HeldOutScorer
        All samples, and how they are scored.
    tol : float
        A fit stops when its gap is at most ``tol`` times the objective; by L-BFGS when the next
        step promises no larger decrease, though with a small lam and badly conditioned features
        the objective may be off by much more.
    omega : Penalty, default=SquaredL2()
        The penalty.
    """

    scorer: HeldOutScorer
    tol: float
    omega: Penalty = field(default_factory=SquaredL2)

    def run(
        self, fold: Fold, family: MarginFamily, points: Sequence[Array], penalties: Array
    ) -> CellResults:
        """Fit to the training part of the fold and score its test part.

        All samples are in every fit, those of the test part with a weight of zero, so that no
        features are copied.

        Parameters
        ----------
        fold : Fold
            Training samples, and one set of test samples.
        family : MarginFamily
            Gives the margins for the class counts of the training part.
        points : sequence of ndarray
            Parameters of the family.
        penalties : ndarray
            Values of lambda, the largest first.

        Returns
        -------
        CellResults
            Of one test.
        """
        (test,) = fold.tests
        scorer = self.scorer
        weight = scorer.training_weight(fold.train)
        counts = scorer.class_counts(weight)
        held_out = scorer.subset(test)
        margins = [family.margins(point, counts) for point in points]
        results = CellResults.empty(len(points), len(penalties), len(scorer.rules))
        start = time.perf_counter()
        fits = linear_path(
            scorer.X, scorer.y, scorer.loss, weight, margins, penalties, self.tol, omega=self.omega
        )
        for i, j, _, theta in fits:
            fitted = time.perf_counter()
            scores = _linear_scores(held_out.X, theta)
            results.scores[i, j], results.losses[i, j] = held_out.score(scores, margins[i])
            results.fit_times[i, j] = fitted - start
            start = time.perf_counter()
            results.score_times[i, j] = start - fitted
        return results


class PathPoint(NamedTuple):
    """A fit of a grid of margins and values of lambda."""

    margin_index: int
    lam_index: int
    problem: Problem[Risk]
    theta: Array


def linear_path(
    X: Features,
    y: Array,
    loss: str,
    weight: Array,
    margins: Sequence[Array],
    lams: Sequence[float] | Array,
    tol: float,
    certify: bool = False,
    omega: Penalty | None = None,
) -> Iterator[PathPoint]:
    """Fit linear classifiers with all margins for each lam, each with a warm start.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n, d)
        Features, in float32 or float64.
    y : ndarray of int, shape (n,)
        Indices of classes.
    loss : {"logistic", "hinge", "exponential"}
        The surrogate.
    weight : ndarray of shape (n,)
        Sample weights; those of held-out samples are zero.
    margins : sequence of ndarray of shape (c,)
        Margins in an order in which they change little from one to the next.
    lams : sequence of float
        Values of lambda, the largest first.
    tol : float
        Tolerance relative to the objective, as in ``immax.solvers.solve``.
    certify : bool, default=False
        Whether every gap is certified to be within the tolerance. If not, L-BFGS stops when the
        next step promises no larger decrease.
    omega : Penalty, optional
        The penalty, by default the squared Euclidean norm.

    Yields
    ------
    PathPoint
        All margins of the first lam, then those of the next.
    """
    share = (weight / weight.sum()).astype(X.dtype)

    def row(lam: float) -> Iterator[Problem[Risk]]:
        for rho in margins:
            risk = immax_risk(loss, "auto", y, rho, share)
            yield Problem(X, risk, lam, omega=omega or SquaredL2())

    fits = solve_grid((row(float(lam)) for lam in lams), tol, MAX_ITER, certify)
    for number, (problem, solution) in enumerate(fits):
        lam_index, margin_index = divmod(number, len(margins))
        yield PathPoint(margin_index, lam_index, problem, solution.theta)


def _linear_scores(X: Features, theta: Array) -> Array:
    product = X @ theta[:, :-1].T
    product = product.toarray() if sparse.issparse(product) else np.asarray(product)
    return np.asarray(product + theta[:, -1])
