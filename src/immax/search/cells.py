"""All cells of a search on one fold."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy import sparse

from immax.arrays import Array, Features
from immax.linear import immax_risk
from immax.search.families import MarginFamily
from immax.search.folds import Fold
from immax.search.scoring import HeldOut, Scorer, averages, log_probability
from immax.solvers import Problem, solve_grid

__all__ = ["Cells", "Judge", "LinearCells", "Results", "linear_path"]

MAX_ITER = 1000


class Results(NamedTuple):
    """Of some margins (axis 0) and prices (axis 1), for scores rules (axis 2), and tests (last)."""

    scores: Array
    losses: Array  # log-loss, or zero where there are no probabilities
    fit_times: Array
    score_times: Array

    @classmethod
    def empty(cls, margins: int, prices: int, rules: int, tests: int = 1) -> Results:
        shape = margins, prices
        return cls(*(np.zeros((*shape, *rest, tests)) for rest in ((rules,), (), (), ())))


class Cells(Protocol):
    """Fits and scores all cells of a fold."""

    def run(
        self, fold: Fold, family: MarginFamily, points: Sequence[Array], prices: Array
    ) -> Results:
        """Those of some points of the family, and of all prices."""


@dataclass(frozen=True)
class Judge:
    """Samples with their labels, and how scores for them are judged."""

    X: Any
    y: Array  # indices of classes
    weight: Array | None
    classes: Array
    loss: str
    rules: Sequence[str]
    scorer: Scorer

    def present(self, train: Array) -> Array:
        """The weight of every sample in a fit to these."""
        weight = np.zeros(self.y.size)
        np.add.at(weight, train, 1.0 if self.weight is None else self.weight[train])
        return weight

    def counts(self, present: Array) -> Array:
        """Class counts of such a fit."""
        return np.bincount(self.y, weights=present, minlength=self.classes.size)

    def part(self, test: Array) -> Judge:
        """Of some of the samples."""
        weight = None if self.weight is None else self.weight[test]
        return replace(self, X=self.X[test], y=self.y[test], weight=weight)

    def judge(
        self, scores: Array, rho: Array, groups: Sequence[Array], kinds: Array | None = None
    ) -> tuple[Array, Array]:
        """Scores (rules by groups of samples), and log-losses of the groups.

        Parameters
        ----------
        scores : ndarray of shape (n, k)
        rho : ndarray of shape (c,), or one row for each kind of model
        groups : sequence of ndarray
            Rows that are judged together.
        kinds : ndarray of shape (n,), optional
            Which row of the margins is that of each sample's model.
        """
        labels, scorer = self.classes[self.y], self.scorer
        model = HeldOut(self.classes, scores, rho, self.loss, kinds=kinds)
        found = []
        for rule in self.rules:
            model.rule = rule
            found.append(scorer.groups(model, self.X, labels, self.weight, groups))
        losses = np.zeros(len(groups))
        if self.loss != "hinge":
            each = -log_probability(model, self.X, labels)
            losses[:] = averages(each, self.weight, groups)
        return np.array(found), losses


@dataclass(frozen=True)
class LinearCells:
    """Linear classifiers, each warm-started from its neighbours.

    ``tol`` is what the next step of a fit may promise when it stops, as a share of the objective.
    With a small lam on badly conditioned features the objective may be off by much more.
    """

    judge: Judge
    tol: float

    def run(
        self, fold: Fold, family: MarginFamily, points: Sequence[Array], prices: Array
    ) -> Results:
        """Fit to the training part and score on the test part.

        All samples are in every fit, those of the test part with a weight of zero: nothing is
        copied.
        """
        train, (test,) = fold
        present = self.judge.present(train)
        counts = self.judge.counts(present)
        held_out = self.judge.part(test)
        margins = [family.margins(point, counts) for point in points]
        found = Results.empty(len(points), len(prices), len(self.judge.rules))
        start = time.perf_counter()
        everything = [np.arange(held_out.y.size)]
        fits = linear_path(
            self.judge.X, self.judge.y, self.judge.loss, present, margins, prices, self.tol
        )
        for i, j, _, theta in fits:
            fitted = time.perf_counter()
            scores = _scores(held_out.X, theta)
            found.scores[i, j], found.losses[i, j] = held_out.judge(scores, margins[i], everything)
            found.fit_times[i, j] = fitted - start
            start = time.perf_counter()
            found.score_times[i, j] = start - fitted
        return found


class PathPoint(NamedTuple):
    """A fit of a grid of margins and penalty strengths."""

    margin_index: int
    penalty_index: int
    problem: Problem[Any]
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

    Yields
    ------
    PathPoint
        All margins of the first lam, then those of the next.
    """
    share = (weight / weight.sum()).astype(X.dtype)

    def row(lam: float) -> Iterator[Problem[Any]]:
        for rho in margins:
            yield Problem(X, immax_risk(loss, "auto", y, rho, share), lam)

    fits = solve_grid((row(float(lam)) for lam in lams), tol, MAX_ITER, certify)
    for number, (problem, solution) in enumerate(fits):
        j, i = divmod(number, len(margins))
        yield PathPoint(i, j, problem, solution.theta)


def _scores(X: Any, theta: Array) -> Array:
    product = X @ theta[:, :-1].T
    product = product.toarray() if sparse.issparse(product) else np.asarray(product)
    return np.asarray(product + theta[:, -1])
