"""Approximations of the inverse Hessian, from a sample of the rows that carry curvature.

Near the optimum of an almost separable problem a few hundred rows hold nearly all of the
curvature. Rows are therefore drawn with probability proportional to their curvature (systematic
sampling) and weighted by the inverse, which keeps the estimate unbiased and its cost
independent of n.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy import sparse

from immax.arrays import Array, Features
from immax.losses.risks import Risk, SmoothRisk
from immax.solvers.problem import Problem

__all__ = [
    "Preconditioner",
    "StrongPreconditioner",
    "above_zero",
    "block_preconditioner",
    "curvature_sums",
    "diagonal_preconditioner",
    "invert_diagonal",
    "project",
    "risk_diagonal",
    "shared_preconditioner",
    "strong_preconditioner",
]

Preconditioner: TypeAlias = Callable[[Array], Array]
"""Maps a gradient to an approximation of the inverse Hessian times it."""

Builder: TypeAlias = Callable[[Problem[SmoothRisk], Array, np.random.Generator], Preconditioner]

ROWS_PER_FEATURE = 5
SHARED_ROWS_PER_FEATURE = 2
MIN_ROWS = 2000
MIN_DIAGONAL_ROWS = 200
MIN_ENTRIES = 10**6  # that a preconditioner may have however small the data are
MAX_SPARSE_FEATURES = 1000
CURVATURE_COST = 100  # of the curvature of all scores, in products of one feature with a weight


class StrongPreconditioner(NamedTuple):
    """How to build a preconditioner, and what that costs."""

    build: Builder
    cost: float  # in iterations of L-BFGS


def strong_preconditioner(problem: Problem[Risk]) -> StrongPreconditioner:
    """Return the best preconditioner that the memory allows, with its cost.

    It has one block for each output, or one for all of them; if even that is too large, it is the
    diagonal at an infinite cost. A preconditioner may take as much memory as the data.

    Forming and inverting a block takes about ``(rows + d) d^2`` multiplications, an iteration
    ``2 n d`` per output. The former are products of matrices, and were measured to run five
    to six times faster than the latter when there is one output, and about three times when
    there are several.

    Parameters
    ----------
    problem : Problem
        The problem; only the shape of its data matters.

    Returns
    -------
    StrongPreconditioner
        The builder, and its cost in iterations of L-BFGS.
    """
    n, d = problem.X.shape
    k = problem.shape[0]
    allowed = max(n * d, MIN_ENTRIES)
    if (d + 1) ** 2 > allowed or (problem.is_sparse and d > MAX_SPARSE_FEATURES):
        return StrongPreconditioner(diagonal_preconditioner, np.inf)
    if k * (d + 1) ** 2 <= allowed:
        rows = min(n, max(ROWS_PER_FEATURE * d, MIN_ROWS))
        cost = (rows + d) * d / n / (11 if k == 1 else 5.5)
        return StrongPreconditioner(block_preconditioner, cost)
    rows = min(n, max(SHARED_ROWS_PER_FEATURE * d, MIN_ROWS))
    cost = (rows + d) * d / n / k / 5.5 + CURVATURE_COST / d
    return StrongPreconditioner(shared_preconditioner, cost)


def _sample(curvature: Array, size: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Return rows and weights whose weighted sum estimates the sum over all rows.

    Points at equal distances fall into the intervals of the rows, laid end to end. A row whose
    interval is longer than the distance is always drawn, and keeps its own weight.
    """
    sums = np.cumsum(curvature, dtype=np.float64)
    if curvature.size <= size or not 0 < sums[-1] < np.inf:
        return np.arange(curvature.size), curvature.astype(np.float64)
    distance = sums[-1] / size
    points = (rng.random() + np.arange(size)) * distance
    rows = np.minimum(np.searchsorted(sums, points), curvature.size - 1)
    rows = rows[np.append(True, rows[1:] > rows[:-1])]  # they are in order
    return rows, np.maximum(curvature[rows].astype(np.float64), distance)


def project(problem: Problem[SmoothRisk], solve: Preconditioner) -> Preconditioner:
    """Project off the direction in class space along which the risk is constant.

    Along it the true curvature is only that of the penalty, far below that of the blocks or
    the diagonal, and the optimum has no component in it.

    Parameters
    ----------
    problem : Problem
        A smooth problem.
    solve : Preconditioner
        What is applied to gradients without this direction.

    Returns
    -------
    Preconditioner
    """
    null = problem.risk.null_direction
    if null is None:
        return solve

    def remove(g: Array) -> Array:
        return np.asarray(g - null[:, None] * (null @ g))

    return lambda g: remove(solve(remove(g)))


def block_preconditioner(
    problem: Problem[SmoothRisk], scores: Array, rng: np.random.Generator
) -> Preconditioner:
    """Return the inverse of the Hessian's diagonal blocks, one per output.

    Block k is ``sum_i h_ik a_i a_i^T + 2 lam I`` with ``a_i = (x_i, 1)``, the bias not
    penalised, and ``h_ik`` the curvature of sample i in score k.

    Parameters
    ----------
    problem : Problem
        A smooth problem.
    scores : ndarray of shape (n, k)
        Where the curvature is evaluated.
    rng : numpy.random.Generator
        Draws the sample of rows.

    Returns
    -------
    Preconditioner
        A function of the gradient.
    """
    size = max(ROWS_PER_FEATURE * problem.X.shape[1], MIN_ROWS)
    curvature = np.maximum(problem.risk.curvature(scores).diagonal(), 0)
    inverses = np.stack([_inverse_block(problem, column, size, rng) for column in curvature.T])

    return project(problem, lambda g: (inverses @ g[:, :, None])[:, :, 0])


def shared_preconditioner(
    problem: Problem[SmoothRisk], scores: Array, rng: np.random.Generator
) -> Preconditioner:
    """Return the inverse of one block for all outputs, scaled to the curvature of each.

    The block is that of ``block_preconditioner`` with the mean of the outputs' curvatures.

    Parameters
    ----------
    problem : Problem
        A smooth problem.
    scores : ndarray of shape (n, k)
        Where the curvature is evaluated.
    rng : numpy.random.Generator
        Draws the sample of rows.

    Returns
    -------
    Preconditioner
        A function of the gradient.
    """
    size = max(SHARED_ROWS_PER_FEATURE * problem.X.shape[1], MIN_ROWS)
    of_samples, totals = curvature_sums(problem.risk, scores)
    mean = of_samples / problem.shape[0]
    inverse = _inverse_block(problem, mean, size, rng)
    most = mean.sum() or 1.0
    scale = np.maximum(totals / most, 1e-3).astype(problem.dtype)

    return project(problem, lambda g: (g / scale[:, None]) @ inverse)


def curvature_sums(risk: SmoothRisk, scores: Array) -> tuple[Array, Array]:
    """Return the curvature summed over the scores of each sample, and over all samples.

    Parameters
    ----------
    risk : SmoothRisk
        A risk that has a method ``curvature_sums`` is asked for them.
    scores : ndarray of shape (n, k)
        Where the curvature is evaluated.

    Returns
    -------
    of_samples : ndarray of shape (n,)
    of_outputs : ndarray of shape (k,)
    """
    known = getattr(risk, "curvature_sums", None)
    if known is not None:
        return known(scores)
    curvature = np.maximum(risk.curvature(scores).diagonal(), 0)
    return curvature.sum(axis=1, dtype=np.float64), curvature.sum(axis=0, dtype=np.float64)


def above_zero(diagonal: Array) -> Array:
    """Return curvatures of which none vanishes, as those of biases do where the risk is linear.

    Parameters
    ----------
    diagonal : ndarray
        Curvatures, not negative.

    Returns
    -------
    ndarray
        The same, raised to a tiny share of the largest.
    """
    floor = max(1e-30 * float(diagonal.max()), float(np.finfo(diagonal.dtype).tiny))
    return np.maximum(diagonal, diagonal.dtype.type(floor))


def _inverse_block(
    problem: Problem[SmoothRisk], curvature: Array, size: int, rng: np.random.Generator
) -> Array:
    """Return the inverse of ``sum_i h_i a_i a_i^T + 2 lam I``, from a sample of the rows."""
    d, width = problem.X.shape[1], problem.shape[1]
    rows, weight = _sample(curvature, size, rng)
    features = problem.X if rows.size == problem.X.shape[0] else problem.X[rows]
    hessian = np.empty((width, width))
    if problem.is_sparse:
        weighted = features.multiply(weight[:, None]).tocsr()
        hessian[:d, :d] = (weighted.T @ features).toarray()
        linear = np.asarray(weighted.sum(axis=0)).ravel()
    else:
        root = np.sqrt(weight).astype(problem.dtype)
        weighted = features * root[:, None]
        hessian[:d, :d] = weighted.T @ weighted  # half the work of a product of two matrices
        linear = root @ weighted
    if problem.fit_intercept:
        hessian[d, :d] = hessian[:d, d] = linear
        hessian[d, d] = weight.sum() * (1 + 1e-9)
    hessian[np.arange(d), np.arange(d)] += 2 * problem.lam
    # The scaling to a unit diagonal makes columns of very different sizes harmless. NumPy's LAPACK
    # is used because SciPy's has a thread pool of its own, which competes with NumPy's.
    scale = 1 / np.sqrt(above_zero(np.diagonal(hessian)))
    outer = scale[:, None] * scale[None, :]
    inverse = np.linalg.inv(hessian * outer + 1e-13 * np.eye(width)) * outer
    return inverse.astype(problem.dtype, copy=False)


def diagonal_preconditioner(
    problem: Problem[SmoothRisk], scores: Array, rng: np.random.Generator
) -> Preconditioner:
    """Return the inverse of the Hessian's diagonal, which compensates for the columns' scales.

    Parameters
    ----------
    problem : Problem
        A smooth problem.
    scores : ndarray of shape (n, k)
        Where the curvature is evaluated.
    rng : numpy.random.Generator
        Draws the sample of rows.

    Returns
    -------
    Preconditioner
        A function of the gradient.
    """
    curvature = np.maximum(problem.risk.curvature(scores).diagonal(), 0)
    X = problem.X
    if not problem.is_sparse:
        total = curvature.sum(axis=1)
        size = min(MIN_ROWS, max(MIN_ENTRIES // X.shape[1], MIN_DIAGONAL_ROWS))
        rows, weight = _sample(total, size, rng)
        scale = weight / np.maximum(total[rows], np.finfo(X.dtype).tiny)
        curvature = curvature[rows] * scale[:, None]
        X = X[rows]
    return invert_diagonal(problem, risk_diagonal(X, curvature, problem.fit_intercept))


def risk_diagonal(X: Features, curvature: Array, fit_intercept: bool) -> Array:
    """Return the diagonal of the Hessian of a risk.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n, d)
        Features.
    curvature : ndarray of shape (n, k)
        The curvatures of the samples in their scores, not negative.
    fit_intercept : bool
        Whether there are biases.

    Returns
    -------
    ndarray of shape (k, width)
        In the precision of the features.
    """
    squares = type(X)((X.data**2, X.indices, X.indptr), X.shape) if sparse.issparse(X) else X**2
    diagonal = np.empty((curvature.shape[1], X.shape[1] + fit_intercept), dtype=X.dtype)
    diagonal[:, : X.shape[1]] = (squares.T @ curvature).T
    if fit_intercept:
        diagonal[:, -1] = curvature.sum(axis=0)
    return diagonal


def invert_diagonal(problem: Problem[SmoothRisk], diagonal: Array) -> Preconditioner:
    """Return the inverse of the diagonal of a problem's Hessian.

    Parameters
    ----------
    problem : Problem
        Its penalty is added, and its null direction is projected off.
    diagonal : ndarray of shape (k, width)
        That of the risk.

    Returns
    -------
    Preconditioner
    """
    whole = diagonal.copy()
    problem.weights(whole)[:] += 2 * problem.lam
    whole = above_zero(whole)
    return project(problem, lambda g: g / whole)
