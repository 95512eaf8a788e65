"""Cheap stand-ins for the inverse Hessian, from a sample of the rows that carry curvature.

Near the optimum of an almost separable problem a few hundred rows hold nearly all of the
curvature. Rows are therefore drawn with probability proportional to their curvature (Poisson
sampling) and weighted by the inverse, which keeps the estimate unbiased and its cost
independent of n.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from immax.arrays import Array
from immax.losses.risks import SmoothRisk
from immax.solvers.problem import Problem

__all__ = [
    "Preconditioner",
    "above_zero",
    "block_cost",
    "block_preconditioner",
    "diagonal_preconditioner",
    "shared_preconditioner",
    "strong_preconditioner",
]

Preconditioner = Callable[[Array], Array]
Builder = Callable[[Problem[SmoothRisk], Array, np.random.Generator], Preconditioner]

ROWS_PER_FEATURE = 5
SHARED_ROWS_PER_FEATURE = 2
FEWEST_ROWS = 2000
FEWEST_ENTRIES = 10**6  # that a preconditioner may have however small the data are


def strong_preconditioner(problem: Problem[Any]) -> tuple[Builder, float]:
    """The best that the memory allows, and its price in L-BFGS iterations.

    One block for each output, or one for all of them; if even that is too large, the diagonal
    at an infinite price. A preconditioner may take as much memory as the data.

    Forming and inverting a block takes about ``(rows + d) d^2`` multiplications, an iteration
    ``2 n d`` per output. The former are products of matrices, and were measured to run five
    to six times faster than the latter when there is one output, and about three times when
    there are several.
    """
    n, d = problem.X.shape
    k = problem.shape[0]
    room = max(n * d, FEWEST_ENTRIES)
    if (d + 1) ** 2 > room or (problem.is_sparse and d > 1000):
        return diagonal_preconditioner, np.inf
    if k * (d + 1) ** 2 <= room:
        rows = min(n, max(ROWS_PER_FEATURE * d, FEWEST_ROWS))
        return block_preconditioner, (rows + d) * d / n / (11 if k == 1 else 5.5)
    rows = min(n, max(SHARED_ROWS_PER_FEATURE * d, FEWEST_ROWS))
    return shared_preconditioner, (rows + d) * d / n / k / 5.5


def block_cost(problem: Problem[Any]) -> float:
    """The price of the strong preconditioner."""
    return strong_preconditioner(problem)[1]


def _sample(curvature: Array, size: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Rows and weights whose weighted sum stands for the sum over all rows."""
    total = curvature.sum()
    if curvature.size <= size or total <= 0:
        return np.arange(curvature.size), curvature
    probability = np.minimum(1, curvature * (size / total))
    rows = np.flatnonzero(rng.random(curvature.size) < probability)
    return rows, curvature[rows] / probability[rows]


def _project(problem: Problem[SmoothRisk], solve: Preconditioner) -> Preconditioner:
    """Keep out of the direction in class space along which the risk is flat.

    Along it the true curvature is only that of the penalty, far below what the blocks or
    the diagonal say, and the optimum has no component in it.
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
    """The inverse of the Hessian's diagonal blocks, one per output.

    Block k is ``sum_i h_ik a_i a_i^T + 2 lam I`` with ``a_i = (x_i, 1)``, the bias not
    penalised, and ``h_ik`` the curvature of sample i in score k.
    """
    size = max(ROWS_PER_FEATURE * problem.X.shape[1], FEWEST_ROWS)
    curvature = _curvature(problem, scores)
    inverses = np.stack([_inverse_block(problem, column, size, rng) for column in curvature.T])

    return _project(problem, lambda g: (inverses @ g[:, :, None])[:, :, 0])


def shared_preconditioner(
    problem: Problem[SmoothRisk], scores: Array, rng: np.random.Generator
) -> Preconditioner:
    """The inverse of one block for all outputs, scaled to the curvature that each of them has.

    The block is that of ``block_preconditioner`` with the mean of the outputs' curvatures.
    """
    size = max(SHARED_ROWS_PER_FEATURE * problem.X.shape[1], FEWEST_ROWS)
    curvature = _curvature(problem, scores)
    mean = curvature.mean(axis=1)
    inverse = _inverse_block(problem, mean, size, rng)
    most = mean.sum() or 1.0
    scale = np.maximum(curvature.sum(axis=0) / most, 1e-3).astype(problem.dtype)

    return _project(problem, lambda g: (g / scale[:, None]) @ inverse)


def above_zero(diagonal: Array) -> Array:
    """Curvatures none of which vanishes, as those of biases do where the risk is linear."""
    floor = max(1e-30 * float(diagonal.max()), float(np.finfo(diagonal.dtype).tiny))
    return np.maximum(diagonal, diagonal.dtype.type(floor))


def _curvature(problem: Problem[SmoothRisk], scores: Array) -> Array:
    return np.maximum(problem.risk.curvature(scores).diagonal(), 0).astype(np.float64)


def _inverse_block(
    problem: Problem[SmoothRisk], curvature: Array, size: int, rng: np.random.Generator
) -> Array:
    """The inverse of ``sum_i h_i a_i a_i^T + 2 lam I``, from a sample of the rows."""
    d, width = problem.X.shape[1], problem.shape[1]
    rows, weight = _sample(curvature, size, rng)
    features = problem.X if rows.size == problem.X.shape[0] else problem.X[rows]
    hessian = np.empty((width, width))
    if problem.is_sparse:
        weighted = features.multiply(weight[:, None]).tocsr()
        hessian[:d, :d] = (weighted.T @ features).toarray()
        linear = np.asarray(weighted.sum(axis=0)).ravel()
    else:
        weighted = features * weight[:, None].astype(problem.dtype)
        hessian[:d, :d] = weighted.T @ features
        linear = weighted.sum(axis=0)
    if problem.fit_intercept:
        hessian[d, :d] = hessian[:d, d] = linear
        hessian[d, d] = weight.sum() * (1 + 1e-9)
    hessian[np.arange(d), np.arange(d)] += 2 * problem.lam
    # Scaled to unit diagonals, columns of very different sizes do no harm. NumPy's own LAPACK:
    # SciPy's brings a second pool of threads that get in the way.
    scale = 1 / np.sqrt(above_zero(np.diagonal(hessian)))
    outer = scale[:, None] * scale[None, :]
    inverse = np.linalg.inv(hessian * outer + 1e-13 * np.eye(width)) * outer
    return inverse.astype(problem.dtype, copy=False)


def diagonal_preconditioner(
    problem: Problem[SmoothRisk], scores: Array, rng: np.random.Generator
) -> Preconditioner:
    """The inverse of the Hessian's diagonal: evens out the scales of the columns."""
    curvature = np.maximum(problem.risk.curvature(scores).diagonal(), 0)
    X = problem.X
    if problem.is_sparse:
        squares = type(X)((X.data**2, X.indices, X.indptr), X.shape)
    else:
        rows, weight = _sample(curvature.sum(axis=1), FEWEST_ROWS, rng)
        scale = weight / np.maximum(curvature.sum(axis=1)[rows], np.finfo(X.dtype).tiny)
        curvature = curvature[rows] * scale[:, None]
        squares = X[rows] ** 2
    diagonal = np.empty(problem.shape, dtype=problem.dtype)
    problem.weights(diagonal)[:] = (squares.T @ curvature).T + 2 * problem.lam
    if problem.fit_intercept:
        diagonal[:, -1] = curvature.sum(axis=0)
    diagonal = above_zero(diagonal)

    return _project(problem, lambda g: g / diagonal)
