"""Newton's method with the whole Hessian, for problems of few parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from immax.arrays import Array
from immax.losses.risks import Curvature, SmoothRisk
from immax.solvers.gap import Certifier
from immax.solvers.line_search import Point, step
from immax.solvers.preconditioners import above_zero, diagonal_preconditioner
from immax.solvers.problem import Problem, Solution

__all__ = ["hessian", "newton", "unit_hessian"]

BLOCK_ROWS = 4096
MOST_PARAMETERS = 3000  # beyond, conjugate gradients instead of a factorisation


def newton(
    problem: Problem[SmoothRisk],
    start: Array | None = None,
    tol: float = 1e-6,
    max_iter: int = 1000,
    random_state: int = 0,
) -> Solution:
    """Minimise a smooth problem until its certified gap is ``tol`` times the objective."""
    rng = np.random.default_rng(random_state)
    certifier = Certifier(problem, tol)
    point = Point.at(problem, problem.zeros() if start is None else start)
    for iteration in range(max_iter + 1):
        direction = _direction(problem, point, rng)
        if certifier.accepts(point, direction):
            # The last direction is at hand, and a full step along it squares the error.
            last = Point.at(problem, point.theta + direction)
            if np.linalg.norm(last.gradient) < np.linalg.norm(point.gradient):
                point = last
            break
        following = step(problem, point, direction, flatness=0.1)
        if following is None or iteration == max_iter:
            break
        point = following
    return certifier.solution(point, iteration)


def _direction(problem: Problem[SmoothRisk], point: Point, rng: np.random.Generator) -> Array:
    if point.gradient.size > MOST_PARAMETERS:
        return _conjugate_direction(problem, point, rng)
    gradient = point.gradient.astype(np.float64)
    matrix, scale = unit_hessian(problem, problem.risk.curvature(point.scores))
    diagonal = np.arange(gradient.size)
    scaled = gradient.ravel() * scale
    ridge = 1e-14
    for _ in range(10):
        # The ridge grows until a loss that is not convex has a direction of descent.
        matrix[diagonal, diagonal] += ridge
        direction = -scale * np.linalg.solve(matrix, scaled)
        if float(gradient.ravel() @ direction) < 0:
            break
        ridge *= 100
    return np.asarray(direction.reshape(gradient.shape).astype(problem.dtype, copy=False))


def _conjugate_direction(
    problem: Problem[SmoothRisk], point: Point, rng: np.random.Generator
) -> Array:
    """The Newton direction by preconditioned conjugate gradients, cut short by accuracy."""
    curvature = problem.risk.curvature(point.scores)
    precondition = diagonal_preconditioner(problem, point.scores, rng)
    direction = np.zeros_like(point.gradient)
    residual = -point.gradient
    steep = precondition(residual)
    search = steep
    height = first = float(np.vdot(residual, steep))
    forcing = 0.01
    for _ in range(250):
        product = problem.pull_back(curvature.product(problem.scores(search)))
        product += problem.penalty_gradient(search)
        bend = float(np.vdot(search, product))
        if bend <= 0:
            break
        length = height / bend
        direction = direction + problem.dtype.type(length) * search
        residual = residual - problem.dtype.type(length) * product
        steep = precondition(residual)
        following = float(np.vdot(residual, steep))
        if following <= forcing**2 * first:
            break
        search = steep + problem.dtype.type(following / height) * search
        height = following
    return direction if direction.any() else precondition(-point.gradient)


def unit_hessian(problem: Problem[SmoothRisk], curvature: Curvature) -> tuple[Array, Array]:
    """The Hessian scaled to a unit diagonal, and the scale of each parameter.

    Stiffened in the direction in which the risk is flat: there is nothing to gain in it. Scaled,
    columns of very different sizes do no harm.
    """
    matrix = hessian(problem, curvature)
    k, width = problem.shape
    diagonal = np.arange(k * width)
    null = problem.risk.null_direction
    if null is not None:
        largest = max(matrix[diagonal, diagonal].max(), np.finfo(np.float64).tiny)
        outer = largest * np.outer(null, null)
        matrix.reshape(k, width, k, width)[:, np.arange(width), :, np.arange(width)] += outer
    scale = 1 / np.sqrt(above_zero(matrix[diagonal, diagonal]))
    matrix *= scale[:, None]
    matrix *= scale
    return matrix, scale


def hessian(problem: Problem[SmoothRisk], curvature: Curvature) -> Array:
    """The Hessian of the objective in theta, its rows by output, then feature, then bias."""
    k, width = problem.shape
    blocks = np.zeros((k, width, k, width))
    for a in range(k):
        for b in range(a, k):
            block = _gram(problem, curvature.block(a, b))
            blocks[a, :, b, :] = block
            blocks[b, :, a, :] = block
    matrix = blocks.reshape(k * width, k * width)
    penalty = np.zeros((k, width))
    problem.weights(penalty)[:] = 2 * problem.lam
    matrix[np.arange(k * width), np.arange(k * width)] += penalty.ravel()
    return matrix


def _gram(problem: Problem[SmoothRisk], weight: Array) -> Array:
    """``sum_i weight_i a_i a_i^T`` with ``a_i = (x_i, 1)``, over the rows that count."""
    width = problem.shape[1]
    d = problem.X.shape[1]
    gram = np.zeros((width, width))
    active = np.flatnonzero(weight)
    everything = active.size > 0.7 * weight.size
    n = weight.size if everything else active.size
    for begin in range(0, n, BLOCK_ROWS):
        rows: Any = slice(begin, begin + BLOCK_ROWS)
        if not everything:
            rows = active[rows]
        features = problem.X[rows]
        if problem.is_sparse:
            features = features.toarray()
        weighted = features * weight[rows, None]
        gram[:d, :d] += weighted.T @ features
        if problem.fit_intercept:
            gram[d, :d] += weighted.sum(axis=0)
            gram[d, d] += weight[rows].sum()
    if problem.fit_intercept:
        gram[:d, d] = gram[d, :d]
    return gram
