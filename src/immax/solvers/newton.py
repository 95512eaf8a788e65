"""Newton's method with the full Hessian, for problems with few parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from immax.arrays import Array
from immax.losses.curvatures import Curvature
from immax.losses.risks import Risk, SmoothRisk
from immax.solvers.base import Solver
from immax.solvers.gap import Certifier, Stopping
from immax.solvers.line_search import Point, ScoreBuffers, find_step
from immax.solvers.memory import Memory
from immax.solvers.preconditioners import above_zero, diagonal_preconditioner
from immax.solvers.problem import Problem, Solution, is_smooth

__all__ = ["Newton", "hessian", "scale_hessian", "unit_hessian"]

BLOCK_ROWS = 4096
MAX_FACTORED = 3000  # parameters; beyond, conjugate gradients replace the factorisation
MAX_SUITABLE = 300  # parameters for which "auto" takes Newton's method
MAX_WORK = 50_000_000  # samples times parameters squared, likewise
MAX_AT_ONCE = 2**17  # samples times parameters whose blocks take longer to call for than to compute
MAX_CONJUGATE_STEPS = 250
CONJUGATE_TOL = 0.01


@dataclass(frozen=True)
class Newton(Solver[SmoothRisk]):
    """Newton's method with a line search, for smooth risks.

    The Hessian is scaled to a unit diagonal and factored; beyond 3,000 parameters the direction
    comes from preconditioned conjugate gradients.

    Parameters
    ----------
    tol : float, default=1e-6
        Stop when the certified duality gap is at most ``tol`` times the objective, or when the
        arithmetic allows no further decrease. Risks that are not convex have no such bound: for
        them the gap is estimated from the gradient.
    max_iter : int, default=1000
        Upper bound on the number of Newton steps.
    random_state : int, default=0
        Seed of the rows that the preconditioner of conjugate gradients samples.
    stopping : {"gap", "estimate"}, default="gap"
        "estimate" compares the tolerance with the gap for the biases as they are, before they are
        settled; the solution then has no gap.
    on_iteration : callable, optional
        As in ``Solver``.
    """

    stopping: Stopping = "gap"

    name: ClassVar[str] = "newton"

    def unsupported(self, problem: Problem[Risk]) -> str | None:
        return None if is_smooth(problem) else "a smooth risk"

    def suits(self, problem: Problem[Risk]) -> bool:
        outputs, width = problem.shape
        parameters = outputs * width
        work = problem.X.shape[0] * parameters**2
        return parameters <= MAX_SUITABLE and work <= MAX_WORK

    def _minimise(
        self,
        problem: Problem[SmoothRisk],
        start: Array | None,
        memory: Memory | None,  # noqa: ARG002 - the Hessian is computed anew
    ) -> Solution:
        rng = np.random.default_rng(self.random_state)
        certifier = Certifier(problem, self.tol, self.stopping)
        point = Point.at(problem, problem.zeros() if start is None else start)
        buffers = ScoreBuffers(problem)
        for iteration in range(self.max_iter + 1):
            direction = _direction(problem, point, rng)
            if certifier.accepts(point, direction):
                # The last direction is known, and a full step along it squares the error.
                last = Point.at(problem, point.theta + direction)
                if np.linalg.norm(last.gradient) < np.linalg.norm(point.gradient):
                    point = last
                break
            following = find_step(problem, point, direction, buffers, flatness=0.1)
            if following is None or iteration == self.max_iter:
                break
            buffers.give_back(point.scores)
            point = following
            self._report(point.theta)
        return certifier.solution(point, iteration)


def _direction(problem: Problem[SmoothRisk], point: Point, rng: np.random.Generator) -> Array:
    if point.gradient.size > MAX_FACTORED:
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
    """Return the Newton direction by preconditioned conjugate gradients, to a few digits."""
    curvature = problem.risk.curvature(point.scores)
    precondition = diagonal_preconditioner(problem, point.scores, rng)
    direction = np.zeros_like(point.gradient)
    residual = -point.gradient
    preconditioned = precondition(residual)
    conjugate = preconditioned
    energy = first_energy = float(np.vdot(residual, preconditioned))
    for _ in range(MAX_CONJUGATE_STEPS):
        product = problem.pull_back(curvature.product(problem.scores(conjugate)))
        product += problem.penalty_gradient(conjugate)
        along = float(np.vdot(conjugate, product))
        if along <= 0:
            break
        length = energy / along
        direction = direction + problem.dtype.type(length) * conjugate
        residual = residual - problem.dtype.type(length) * product
        preconditioned = precondition(residual)
        next_energy = float(np.vdot(residual, preconditioned))
        if next_energy <= CONJUGATE_TOL**2 * first_energy:
            break
        conjugate = preconditioned + problem.dtype.type(next_energy / energy) * conjugate
        energy = next_energy
    return direction if direction.any() else precondition(-point.gradient)


def unit_hessian(problem: Problem[SmoothRisk], curvature: Curvature) -> tuple[Array, Array]:
    """Return the Hessian scaled to a unit diagonal, and the scale of each parameter.

    A large curvature is added in the direction along which the risk is constant, where the
    optimum has no component. The scaling makes columns of very different sizes harmless.

    Parameters
    ----------
    problem : Problem
        A smooth problem with k outputs and ``width`` parameters for each of them.
    curvature : Curvature
        The curvature of its risk at some scores.

    Returns
    -------
    matrix : ndarray of shape (k * width, k * width)
        The scaled Hessian.
    scale : ndarray of shape (k * width,)
        The Hessian is ``matrix / outer(scale, scale)``.
    """
    return scale_hessian(hessian(problem, curvature), problem.shape, problem.risk.null_direction)


def scale_hessian(matrix: Array, shape: tuple[int, int], null: Array | None) -> tuple[Array, Array]:
    """Scale a Hessian to a unit diagonal, in place; see ``unit_hessian``.

    Parameters
    ----------
    matrix : ndarray of shape (k * width, k * width)
        The Hessian, ordered by output.
    shape : tuple of int
        ``(k, width)``.
    null : ndarray of shape (k,) or None
        The direction in class space along which the risk is constant.

    Returns
    -------
    matrix : ndarray of shape (k * width, k * width)
        The scaled Hessian.
    scale : ndarray of shape (k * width,)
        The scale of each parameter.
    """
    k, width = shape
    diagonal = np.arange(k * width)
    if null is not None:
        largest = max(matrix[diagonal, diagonal].max(), np.finfo(np.float64).tiny)
        outer = largest * np.outer(null, null)
        matrix.reshape(k, width, k, width)[:, np.arange(width), :, np.arange(width)] += outer
    scale = 1 / np.sqrt(above_zero(matrix[diagonal, diagonal]))
    matrix *= scale[:, None]
    matrix *= scale
    return matrix, scale


def hessian(problem: Problem[SmoothRisk], curvature: Curvature) -> Array:
    """Return the Hessian of the objective in theta.

    Parameters
    ----------
    problem : Problem
        A smooth problem with k outputs and ``width`` parameters for each of them.
    curvature : Curvature
        The curvature of its risk at some scores.

    Returns
    -------
    ndarray of shape (k * width, k * width)
        Its rows are ordered by output, then by feature, with the bias last.
    """
    k, width = problem.shape
    of_parameters = getattr(curvature, "of_parameters", None)
    known = None if of_parameters is None else of_parameters(problem.X, problem.fit_intercept)
    small = k > 1 and k * width * problem.X.shape[0] <= MAX_AT_ONCE
    if known is not None:
        blocks = known
    else:
        blocks = _blocks_at_once(problem, curvature) if small else _blocks(problem, curvature)
    matrix = blocks.reshape(k * width, k * width)
    penalty = np.zeros((k, width))
    problem.weights(penalty)[:] = 2 * problem.lam
    matrix[np.arange(k * width), np.arange(k * width)] += penalty.ravel()
    return matrix


def _blocks_at_once(problem: Problem[SmoothRisk], curvature: Curvature) -> Array:
    """Return the Hessian of the risk, the blocks of each output by a single product."""
    k, width = problem.shape
    features = problem.X.toarray() if problem.is_sparse else problem.X
    n = features.shape[0]
    if problem.fit_intercept:
        features = np.column_stack([features, np.ones(n, features.dtype)])
    blocks = np.empty((k, width, k, width))
    for b, unit in enumerate(np.eye(k, dtype=problem.dtype)):
        column = curvature.product(np.broadcast_to(unit, (n, k)))
        curved = np.flatnonzero(column.any(axis=1))
        rows = curved if curved.size <= 0.7 * n else slice(None)  # a copy of more takes longer
        own = features[rows]
        weighted = column[rows, :, None] * own[:, None, :]
        product = weighted.reshape(len(own), k * width).T @ own
        blocks[:, :, b, :] = product.reshape(k, width, width)
    return blocks


def _blocks(problem: Problem[SmoothRisk], curvature: Curvature) -> Array:
    """Return the Hessian of the risk, block by block of two outputs."""
    k, width = problem.shape
    blocks = np.zeros((k, width, k, width))
    for a in range(k):
        for b in range(a, k):
            block = _gram(problem, curvature.block(a, b))
            blocks[a, :, b, :] = block
            blocks[b, :, a, :] = block
    return blocks


def _gram(problem: Problem[SmoothRisk], weight: Array) -> Array:
    """Return ``sum_i weight_i a_i a_i^T`` with ``a_i = (x_i, 1)``, over rows with a weight."""
    width = problem.shape[1]
    d = problem.X.shape[1]
    gram = np.zeros((width, width))
    active = np.flatnonzero(weight)
    use_all = active.size > 0.7 * weight.size
    n = weight.size if use_all else active.size
    for begin in range(0, n, BLOCK_ROWS):
        block = slice(begin, begin + BLOCK_ROWS)
        rows = block if use_all else active[block]
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
