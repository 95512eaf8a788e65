"""A preconditioner from the rows that hold most of the curvature, for wide dense features.

Where there are few times as many rows as features, a block of all features costs as much as
hundreds of iterations. But a model with that many features classifies most rows with a wide
margin, and their curvature is next to nothing: a quarter of min(n, d) rows hold half of it or more.
With ``Z`` the rows that hold it, scaled by the roots of their curvatures, and a diagonal
``S`` for the penalty and the other rows, the inverse is that of Woodbury,

    (S + Z^T Z)^-1 = S^-1 - S^-1 Z^T (I + Z S^-1 Z^T)^-1 Z S^-1,

and only a matrix of the size of the rows is factored and inverted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from immax.arrays import Array
from immax.losses.risks import SmoothRisk
from immax.solvers.preconditioners import (
    Preconditioner,
    StrongPreconditioner,
    above_zero,
)
from immax.solvers.problem import Problem

__all__ = [
    "AffordablePreconditioner",
    "affordable_preconditioner",
    "dominant_rows_preconditioner",
]

AFFORDABLE = 20  # iterations, that a block may cost
LEAST_COST = 8  # iterations, before which the curvature says little about the optimum's
SHARE_OF_ROWS = 1 / 4  # of n or d, whichever is smaller
LEAST_SHARE = 0.5  # of the curvature, below which the rows are hardly better than the diagonal
SMALL_TRIANGLE = 64
SAMPLED_ROWS = 500  # that the mean squares of the features are estimated from


class AffordablePreconditioner(NamedTuple):
    """How to build a preconditioner, or None where it would not help, and what that costs."""

    build: Callable[[Problem[SmoothRisk], Array, np.random.Generator], Preconditioner | None]
    cost: float  # in iterations of L-BFGS


def affordable_preconditioner(
    problem: Problem[SmoothRisk], strong: StrongPreconditioner
) -> AffordablePreconditioner:
    """Return a preconditioner from dominant rows if the strong one costs too much.

    Parameters
    ----------
    problem : Problem
        The problem; only the shape of its data matters.
    strong : StrongPreconditioner
        The best that the memory allows.

    Returns
    -------
    AffordablePreconditioner
        That of ``strong`` for sparse features and for several outputs.
    """
    n, d = problem.X.shape
    if strong.cost <= AFFORDABLE or problem.shape[0] > 1 or problem.is_sparse:
        return AffordablePreconditioner(*strong)
    size = _number_of_rows(problem)
    if size == 0:
        return AffordablePreconditioner(*strong)
    cost = (size + d) * size**2 / (n * d) / 22  # as that of a block, see strong_preconditioner
    return AffordablePreconditioner(dominant_rows_preconditioner, max(cost, LEAST_COST))


def _number_of_rows(problem: Problem[SmoothRisk]) -> int:
    return int(SHARE_OF_ROWS * min(problem.X.shape))


def dominant_rows_preconditioner(
    problem: Problem[SmoothRisk],
    scores: Array,
    rng: np.random.Generator,  # noqa: ARG001 - the rows are not sampled
) -> Preconditioner | None:
    """Return the inverse of the Hessian of the rows with the most curvature and a diagonal.

    Parameters
    ----------
    problem : Problem
        A smooth problem with one output and dense features.
    scores : ndarray of shape (n, 1)
        Where the curvature is evaluated.
    rng : numpy.random.Generator
        Not used: the rows are not drawn at random.

    Returns
    -------
    Preconditioner or None
        None where the rows hold too little of the curvature to be better than the diagonal.
    """
    curvature = np.maximum(problem.risk.curvature(scores).diagonal()[:, 0], 0).astype(np.float64)
    size = _number_of_rows(problem)
    rows = np.sort(np.argsort(-curvature, kind="stable")[:size])
    total, held = float(curvature.sum()), float(curvature[rows].sum())
    if not held >= LEAST_SHARE * total:
        return None
    scale = _scale_of_rest(problem, total - held, total)
    matrix = np.empty((size, problem.shape[1]), problem.dtype)
    problem.weights(matrix)[:] = problem.X[rows]
    if problem.fit_intercept:
        matrix[:, -1] = 1
    matrix *= np.sqrt(curvature[rows, None]).astype(problem.dtype)
    matrix *= scale
    gram = (matrix @ matrix.T).astype(np.float64)
    gram[np.arange(size), np.arange(size)] += 1
    try:
        factor = _inverse_triangle(np.linalg.cholesky(gram)).astype(problem.dtype)
    except np.linalg.LinAlgError:  # rounding errors are larger than the penalty
        return None

    def precondition(gradient: Array) -> Array:
        scaled = (gradient[0] * scale).astype(matrix.dtype, copy=False)
        scaled = scaled - ((factor @ (matrix @ scaled)) @ factor) @ matrix
        return np.asarray((scaled * scale).astype(gradient.dtype, copy=False)[None, :])

    return precondition


def _inverse_triangle(lower: Array) -> Array:
    """Return the inverse of a triangular matrix, in a sixth of the operations of ``inv``."""
    if len(lower) <= SMALL_TRIANGLE:
        return np.linalg.inv(lower)
    half = len(lower) // 2
    out = np.zeros_like(lower)
    out[:half, :half] = _inverse_triangle(lower[:half, :half])
    out[half:, half:] = _inverse_triangle(lower[half:, half:])
    out[half:, :half] = -out[half:, half:] @ (lower[half:, :half] @ out[:half, :half])
    return out


def _scale_of_rest(problem: Problem[SmoothRisk], rest: float, total: float) -> Array:
    """Return the inverse roots of the penalty plus the curvature of the other rows.

    Along a feature that is its mean square times the sum of these rows' curvatures.
    """
    sample = problem.X[:: max(problem.X.shape[0] // SAMPLED_ROWS, 1)]
    diagonal = np.empty(problem.shape[1])
    d = sample.shape[1]
    diagonal[:d] = 2 * problem.lam + rest * np.einsum("ij,ij->j", sample, sample) / len(sample)
    if problem.fit_intercept:
        diagonal[d] = max(rest, 1e-6 * total)
    return np.asarray(1 / np.sqrt(above_zero(diagonal))).astype(problem.dtype)
