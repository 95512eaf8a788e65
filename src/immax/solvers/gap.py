"""Duality gaps that bound the distance from the optimum, also with free biases.

For a convex risk and biases that minimise the objective given the weights, the weighted
gradients of the losses are a feasible point of the dual problem, and the duality gap there is
``||gradient in W||^2 / (4 lam)``. (Equivalently: minimised over its biases, the objective is
2 lam-strongly convex in W.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

import numpy as np

from immax.arrays import Array
from immax.losses.risks import SmoothRisk
from immax.solvers.biases import best_biases
from immax.solvers.line_search import Point
from immax.solvers.problem import Problem, Solution

__all__ = ["Certifier", "Stopping", "reachable_tol", "settle_biases"]

Stopping: TypeAlias = Literal["gap", "estimate", "bounded", "decrease"]
"""What a tolerance is compared with; see ``LBFGS``."""

BOUND_FACTOR = 30.0  # tolerances that the gap may be under the stopping criterion "bounded"


def settle_biases(
    problem: Problem[SmoothRisk],
    theta: Array,
    scores: Array,
    max_steps: int = 20,
    flat: float = 0.0,
) -> Point:
    """Return the point with the best biases for the given weights.

    There is no product with the features until the last gradient.

    Parameters
    ----------
    problem : Problem
        A smooth problem.
    theta : ndarray of the problem's shape
        Weights and biases.
    scores : ndarray of shape (n, k)
        The scores of ``theta``.
    max_steps : int, default=20
        Upper bound on the number of Newton steps.
    flat : float, default=0
        As in ``best_biases``.

    Returns
    -------
    Point
        ``theta`` with other biases; ``theta`` itself if the problem has none.
    """
    theta = theta.copy()
    if problem.fit_intercept:
        biases, scores, value, residuals = best_biases(problem.risk, scores, max_steps, flat)
        theta[:, -1] += biases
    else:
        value, residuals = problem.risk.value_gradient(scores)
    gradient = problem.pull_back(residuals) + problem.penalty_gradient(theta)
    return Point(theta, scores, value + problem.penalty(theta), gradient)


def reachable_tol(tol: float, dtype: np.dtype[np.float32 | np.float64]) -> float:
    """Return the tolerance, or the precision of the arithmetic if that is coarser.

    Parameters
    ----------
    tol : float
        A tolerance relative to the objective.
    dtype : numpy.dtype
        The precision in which the problem is solved.

    Returns
    -------
    float
        At least three times the square root of the machine epsilon.
    """
    return max(tol, 3 * float(np.finfo(dtype).eps) ** 0.5)


class Certifier:
    """Decides when a smooth solver may stop, and computes the gap of its solution.

    Parameters
    ----------
    problem : Problem
        A smooth problem.
    tol : float
        Relative to the objective.
    stopping : {"gap", "estimate", "bounded", "decrease"}, default="gap"
        What is compared with the tolerance; see ``LBFGS``. "gap" is "estimate" if the risk is
        not convex.
    settle : callable, optional
        Takes a point and a bound on the sum of the biases' slopes, and returns the point with
        biases that meet it; ``settle_biases`` by default.
    """

    def __init__(
        self,
        problem: Problem[SmoothRisk],
        tol: float,
        stopping: Stopping = "gap",
        settle: Callable[[Point, float], Point] | None = None,
    ) -> None:
        self.problem = problem
        self.tol = tol
        self._by_decrease = stopping in ("bounded", "decrease")
        self._largest_bound = BOUND_FACTOR * tol if stopping == "bounded" else np.inf
        self._certify = stopping == "gap" and problem.risk.convex
        self._settle_to = settle or (
            lambda point, flat: settle_biases(problem, point.theta, point.scores, flat=flat)
        )
        self._target = tol
        self._accepted = False
        self._settled: tuple[Point, Point] | None = None  # a point, and with its biases settled

    def _bound(self, point: Point) -> float:
        slope = self.problem.weights(point.gradient).astype(np.float64)
        return float(np.vdot(slope, slope)) / (4 * self.problem.lam)

    def _gap(self, settled: Point) -> float:
        rounding = 0.0
        if self.problem.fit_intercept:
            # The slopes of settled biases are next to nothing; they are counted all the same.
            slopes, biases = np.abs(settled.gradient[:, -1]), np.abs(settled.theta[:, -1])
            rounding = float(slopes @ (1 + biases))
        return self._bound(settled) + rounding

    def _settle(self, point: Point) -> Point:
        """Return the point with biases whose slopes are a hundredth of the tolerance at most."""
        flat = 0.0
        if self.problem.fit_intercept:
            largest = 1 + float(np.abs(point.theta[:, -1]).max())
            flat = 0.01 * self.tol * abs(point.value) / largest
        return self._settle_to(point, flat)

    def accepts(self, point: Point, direction: Array) -> bool:
        """Return whether the solver may stop at this point.

        Parameters
        ----------
        point : Point
            The current iterate.
        direction : ndarray of the problem's shape
            The next step from there; a quadratic model promises a decrease along it.

        Returns
        -------
        bool
            Whether the stopping criterion is met, or no further decrease can be computed.
        """
        decrease = -0.5 * float(np.vdot(point.gradient, direction))
        value = abs(point.value)
        if decrease <= 0.5 * np.finfo(self.problem.dtype).eps * value:
            self._accepted = True
            return True
        remaining = decrease if self._by_decrease else max(self._bound(point), decrease)
        if remaining > self._target * value:
            return False
        if self._by_decrease and self._bound(point) > self._largest_bound * value:
            return False
        if not self._certify:
            self._accepted = True
            return True
        settled = self._settle(point)
        self._settled = point, settled
        self._target *= 0.1  # for the next time, if the biases had concealed the gap
        return self._gap(settled) <= self.tol * abs(settled.value)

    def solution(self, point: Point, n_iter: int) -> Solution:
        """Return the solution at the last iterate.

        Parameters
        ----------
        point : Point
            The last iterate.
        n_iter : int
            The number of iterations.

        Returns
        -------
        Solution
            With its gap, and with biases that minimise the objective, if it is to be certified.
        """
        if not self._certify:
            return Solution(point.theta, point.value, None, n_iter, self._accepted)
        if self._settled is not None and self._settled[0] is point:
            point = self._settled[1]
        else:
            point = self._settle(point)
        gap = self._gap(point)
        converged = gap <= reachable_tol(self.tol, self.problem.dtype) * abs(point.value)
        return Solution(point.theta, point.value, gap, n_iter, converged)
