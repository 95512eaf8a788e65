"""How far from the optimum: duality gaps that hold with free biases.

For a convex risk and biases that minimise the objective given the weights, the weighted
gradients of the losses are a feasible point of the dual problem, and the duality gap there is
``||gradient in W||^2 / (4 lam)``. (Minimised over its biases, the objective is 2 lam-strongly
convex in W, which says the same.)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from immax.arrays import Array
from immax.losses.risks import SmoothRisk
from immax.solvers.line_search import Point
from immax.solvers.problem import Problem, Solution

__all__ = ["Certifier", "reachable", "settle_biases"]


def settle_biases(
    problem: Problem[SmoothRisk], theta: Array, scores: Array, most_steps: int = 20
) -> Point:
    """Move to the biases that are best for these weights, by Newton steps on the scores."""
    risk = problem.risk
    value, residuals = risk.value_gradient(scores)
    most_steps = most_steps if problem.fit_intercept else 0
    theta = theta.copy()
    eps = np.finfo(scores.dtype).eps
    for _ in range(most_steps):
        slope = residuals.sum(axis=0, dtype=np.float64)
        scale = np.abs(residuals).sum(dtype=np.float64)
        if np.abs(slope).max() <= 8 * eps * scale:
            break
        hessian = risk.curvature(scores).total().astype(np.float64)
        size = max(float(np.trace(hessian)), np.finfo(np.float64).tiny)
        if risk.null_direction is not None:
            hessian += size * np.outer(risk.null_direction, risk.null_direction)
        move = -np.linalg.solve(hessian + 1e-15 * size * np.eye(slope.size), slope)
        best = None
        for _ in range(10):
            moved = move.astype(scores.dtype)
            trial = risk.value_gradient(scores + moved)
            if trial[0] <= value + 8 * eps * abs(value):
                best = trial
                break
            move *= 0.25
        if best is None or not np.abs(best[1].sum(axis=0)).max() < np.abs(slope).max():
            break
        value, residuals = best
        scores = scores + moved
        theta[:, -1] += moved
    gradient = problem.pull_back(residuals) + problem.penalty_gradient(theta)
    return Point(theta, scores, value + problem.penalty(theta), gradient)


def reachable(tol: float, dtype: Any) -> float:
    """The tolerance, or what the arithmetic can be held to if that is more."""
    return max(tol, 3 * float(np.finfo(dtype).eps) ** 0.5)


class Certifier:
    """Decides when a smooth solver may stop, and issues its Solution."""

    def __init__(
        self, problem: Problem[SmoothRisk], tol: float, certify: bool = True, trust: bool = False
    ) -> None:
        self.problem = problem
        self.certify = certify and not trust and problem.risk.convex
        self.trust = trust
        self.tol = tol
        self._target = tol
        self._accepted = False
        self._settled: tuple[Point, Point] | None = None  # a point, and with its biases settled

    def _bound(self, point: Point) -> float:
        slope = self.problem.weights(point.gradient).astype(np.float64)
        return float(np.vdot(slope, slope)) / (4 * self.problem.lam)

    def _gap(self, settled: Point) -> float:
        rounding = 0.0
        if self.problem.fit_intercept:
            # Settled biases have no slope but that of rounding; count it all the same.
            slopes, biases = np.abs(settled.gradient[:, -1]), np.abs(settled.theta[:, -1])
            rounding = float(slopes @ (1 + biases))
        return self._bound(settled) + rounding

    def accepts(self, point: Point, direction: Array) -> bool:
        """Whether the gap at the point, its biases settled, is within the tolerance."""
        decrease = -0.5 * float(np.vdot(point.gradient, direction))
        value = abs(point.value)
        if decrease <= 0.5 * np.finfo(self.problem.dtype).eps * value:
            self._accepted = True  # the arithmetic can do no more
            return True
        remaining = decrease if self.trust else max(self._bound(point), decrease)
        if remaining > self._target * value:
            return False
        if not self.certify:
            self._accepted = True
            return True
        settled = settle_biases(self.problem, point.theta, point.scores)
        self._settled = point, settled
        self._target *= 0.1  # for the next time, if the biases had hidden the gap
        return self._gap(settled) <= self.tol * abs(settled.value)

    def solution(self, point: Point, n_iter: int) -> Solution:
        if not self.certify:
            return Solution(point.theta, point.value, None, n_iter, self._accepted)
        if self._settled is not None and self._settled[0] is point:
            point = self._settled[1]
        else:
            point = settle_biases(self.problem, point.theta, point.scores)
        gap = self._gap(point)
        done = gap <= reachable(self.tol, self.problem.dtype) * abs(point.value)
        return Solution(point.theta, point.value, gap, n_iter, done)
