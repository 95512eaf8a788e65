"""All cells of a search on one fold."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
from scipy import sparse

from immax.arrays import Array, Features
from immax.class_weights import weighted_shares
from immax.losses.immax_risks import immax_risk
from immax.losses.risks import Risk
from immax.penalties import Penalty, SquaredL2
from immax.search.folds import Fold
from immax.search.held_out import HeldOutCells, PointTerms
from immax.search.margin_family import MarginFamily, family_weights
from immax.search.samples import SearchSamples
from immax.solvers import Problem, solve_grid
from immax.solvers.compiled_risks import with_compiled_risk

__all__ = [
    "CellWatch",
    "Cells",
    "LinearCells",
    "LinearFits",
    "PathPoint",
    "ignore_cell",
    "linear_path",
]

MOST_COPIED = 2**27  # bytes of features


CellWatch: TypeAlias = Callable[[int, int], AbstractContextManager[object]]
"""Takes the indices of a point and of a penalty; the cell is fitted within what it returns."""


def ignore_cell(point: int, penalty: int) -> AbstractContextManager[object]:  # noqa: ARG001
    """Return a context that does nothing.

    Parameters
    ----------
    point, penalty : int
        Indices of the cell.

    Returns
    -------
    context manager
    """
    return nullcontext()


class Cells(Protocol):
    """Fits all cells of a fold."""

    def run(
        self,
        fold: Fold,
        family: MarginFamily,
        points: Sequence[Array],
        penalties: Array,
        watch: CellWatch = ignore_cell,
    ) -> HeldOutCells:
        """Fit points of the family with all penalty strengths, and score the test part.

        Parameters
        ----------
        fold : Fold
            Training samples, and sets of test samples.
        family : MarginFamily
            Gives the margins for the class counts of the training part.
        points : sequence of ndarray
            Parameters of the family.
        penalties : ndarray
            The penalty strengths.
        watch : callable, default=ignore_cell
            Takes the indices of a point and of a penalty; the cell is fitted within the context
            that it returns.

        Returns
        -------
        HeldOutCells
        """


@dataclass(frozen=True)
class LinearFits:
    """How the linear classifiers of a search are fitted.

    Attributes
    ----------
    loss : {"logistic", "hinge", "exponential"}
        The surrogate.
    form : {"auto", "sum", "max"}, default="auto"
        With three classes or more, as in IMMAXClassifier.
    fit_intercept : bool, default=True
        Whether there are biases.
    tol : float, default=1e-6
        A fit stops when its gap is at most ``tol`` times the objective; by L-BFGS when the next
        step promises no larger decrease and the gap is at most ``30 * tol``, evaluated for the
        biases as they are.
    max_iter : int, default=1000
        Upper bound on the number of iterations of a fit.
    omega : Penalty, default=SquaredL2()
        The penalty.
    """

    loss: str
    form: str = "auto"
    fit_intercept: bool = True
    tol: float = 1e-6
    max_iter: int = 1000
    omega: Penalty = field(default_factory=SquaredL2)


@dataclass(frozen=True)
class LinearCells:
    """Linear classifiers, each warm-started from its neighbours.

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
        """Fit to the training part of the fold and score its test part.

        The features of the training part are copied if they are not large. Otherwise all samples
        are in every fit, those of the test part with a weight of zero.

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
        watch : callable, default=ignore_cell
            Is told of every cell: all margins of the first lambda, then those of the next.

        Returns
        -------
        HeldOutCells
            Of one test.
        """
        (test,) = fold.tests
        samples = self.samples
        weight = samples.training_weight(fold.train)
        counts = samples.class_counts(weight)
        X = samples.X[test]
        margins = [family.margins(point, counts) for point in points]
        weights = [family_weights(family, point, counts) for point in points]
        shape = len(points), len(penalties)
        values = np.empty((*shape, len(test), 1 if counts.size == 2 else counts.size))
        times = np.zeros((*shape, 1))
        start = time.perf_counter()
        in_fits = _rows_in_fits(samples.X, weight)
        path = linear_path(
            samples.X[in_fits],
            samples.y[in_fits],
            self.fits,
            weight[in_fits],
            margins,
            weights,
            penalties,
        )
        for j, i in np.ndindex(*reversed(shape)):  # the order of the path
            with watch(i, j):
                values[i, j] = _linear_scores(X, next(path).theta, self.fits.fit_intercept)
            now = time.perf_counter()
            times[i, j], start = now - start, now
        terms = [
            PointTerms(rho[None], own[None]) for rho, own in zip(margins, weights, strict=True)
        ]
        index = np.zeros(len(test), dtype=np.intp)
        return HeldOutCells(values, terms, test, index, [np.arange(len(test))], times)


def _rows_in_fits(X: Features, weight: Array) -> Array | slice:
    """Return the rows that have a weight, or all of them if a copy would take much memory."""
    size = X.data.nbytes if sparse.issparse(X) else X.nbytes
    return np.flatnonzero(weight) if size <= MOST_COPIED else slice(None)


class PathPoint(NamedTuple):
    """A fit of a grid of margins and values of lambda."""

    margin_index: int
    lam_index: int
    problem: Problem[Risk]
    theta: Array


def linear_path(
    X: Features,
    y: Array,
    fits: LinearFits,
    weight: Array,
    margins: Sequence[Array],
    weights: Sequence[Array] | None,
    lams: Sequence[float] | Array,
    certify: bool = False,
) -> Iterator[PathPoint]:
    """Fit linear classifiers with all margins for each lam, each with a warm start.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n, d)
        Features, in float32 or float64.
    y : ndarray of int, shape (n,)
        Indices of classes.
    fits : LinearFits
        The loss, and how it is minimised.
    weight : ndarray of shape (n,)
        Sample weights; those of held-out samples are zero.
    margins : sequence of ndarray of shape (c,)
        Margins in an order in which they change little from one to the next.
    weights : sequence of ndarray of shape (c,), optional
        Class weights that go with the margins; equal by default.
    lams : sequence of float
        Values of lambda, the largest first.
    certify : bool, default=False
        Whether every gap is certified to be within the tolerance. If not, L-BFGS stops when the
        next step promises no larger decrease and the gap is at most 30 times as large.

    Yields
    ------
    PathPoint
        All margins of the first lam, then those of the next.
    """
    share = (weight / weight.sum()).astype(X.dtype)
    own = [np.ones(len(rho)) for rho in margins] if weights is None else weights
    shares = [weighted_shares(share, y, each) for each in own]

    def risk(margin_index: int) -> Risk:
        return immax_risk(fits.loss, fits.form, y, margins[margin_index], shares[margin_index])

    first = Problem(X, risk(0), 1.0, fits.fit_intercept, fits.omega)

    fits_in_all = len(margins) * len(lams)

    def row(lam: float) -> Iterator[Problem[Risk]]:
        problems = (first.with_risk(risk(i), lam) for i in range(len(margins)))
        return (with_compiled_risk(problem, fits_in_all) for problem in problems)

    grid = solve_grid((row(float(lam)) for lam in lams), fits.tol, fits.max_iter, certify)
    for number, (problem, solution) in enumerate(grid):
        lam_index, margin_index = divmod(number, len(margins))
        yield PathPoint(margin_index, lam_index, problem, solution.theta)


def _linear_scores(X: Features, theta: Array, fit_intercept: bool) -> Array:
    W = theta[:, :-1] if fit_intercept else theta
    product = X @ W.T
    product = product.toarray() if sparse.issparse(product) else np.asarray(product)
    return np.asarray(product + theta[:, -1] if fit_intercept else product)
