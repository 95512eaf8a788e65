"""The objective of many classes, evaluated in blocks of rows without an array of all scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from immax.arrays import Array
from immax.losses.softmax_risks import SoftmaxRisk
from immax.solvers.line_search import Point, Trial, search_ray
from immax.solvers.memory import Memory
from immax.solvers.preconditioners import Preconditioner, curvature_sums, project
from immax.solvers.problem import Problem

__all__ = ["BlockwiseBiases", "RowBlocks", "step_in_blocks"]

MAX_BIAS_STEPS = 100
BIAS_MEMORY = 20  # steps; they are small
MOST_STEEPER = 10  # steps without smaller slopes than before: what follows is rounding
LEAST_CURVATURE = 1e-6  # of a bias, relative to the largest
BLOCK_SCORES = 2**22  # few enough for a cache of the machine, many enough for two threads


class RowBlocks:
    """Blocks of rows whose scores replace each other in one array.

    With many classes and few features the scores are far larger than the data. Computing them
    anew takes less time than reading them from memory.

    Parameters
    ----------
    problem : Problem
        Dense features, and a risk that is the sum of the risks of blocks of rows.
    """

    def __init__(self, problem: Problem[SoftmaxRisk]) -> None:
        self._problem = problem
        n, k = problem.X.shape[0], problem.risk.n_outputs
        size = max(1, BLOCK_SCORES // k)
        rows = [slice(begin, min(begin + size, n)) for begin in range(0, n, size)]
        self._blocks = [(each, problem.risk.of_rows(each)) for each in rows]
        self._scores = np.empty((min(size, n), k), problem.dtype)

    def _scored(self, theta: Array) -> Iterator[tuple[slice, SoftmaxRisk, Array]]:
        W = np.ascontiguousarray(self._problem.weights(theta))
        for rows, risk in self._blocks:
            scores = self._scores[: rows.stop - rows.start]
            np.matmul(self._problem.X[rows], W.T, out=scores)
            if self._problem.fit_intercept:
                scores += theta[:, -1]
            yield rows, risk, scores

    def point(self, theta: Array) -> Point:
        """Return the objective and its gradient, by two products with X.

        Parameters
        ----------
        theta : ndarray of shape (k, width)
            Parameters.

        Returns
        -------
        Point
            Without scores.
        """
        problem = self._problem
        value = problem.penalty(theta)
        gradient = problem.penalty_gradient(theta)
        W = problem.weights(gradient)
        for rows, risk, scores in self._scored(theta):
            value += risk.residuals_in_place(scores)
            W += scores.T @ problem.X[rows]
            if problem.fit_intercept:
                gradient[:, -1] += scores.sum(axis=0)
        return Point(theta, self._scores[:0], value, gradient)

    def slopes(self, theta: Array) -> tuple[float, Array]:
        """Return the risk and its derivatives in the biases, by a single product with X.

        Parameters
        ----------
        theta : ndarray of shape (k, width)
            Parameters.

        Returns
        -------
        value : float
        slopes : ndarray of shape (k, 1)
        """
        value, slopes = 0.0, np.zeros((len(theta), 1))
        for _, risk, scores in self._scored(theta):
            value += risk.residuals_in_place(scores)
            slopes[:, 0] += scores.sum(axis=0)
        return value, slopes.astype(theta.dtype)

    def curvature_sums(self, theta: Array) -> tuple[Array, Array]:
        """Return the curvature of each sample and of each output; see ``curvature_sums``.

        Parameters
        ----------
        theta : ndarray of shape (k, width)
            Where it is evaluated.

        Returns
        -------
        of_samples : ndarray of shape (n,)
        of_outputs : ndarray of shape (k,)
        """
        of_samples, of_outputs = [], np.zeros(len(theta))
        for _, risk, scores in self._scored(theta):
            samples, outputs = curvature_sums(risk, scores)
            of_samples.append(samples)
            of_outputs += outputs
        return np.concatenate(of_samples), of_outputs


def step_in_blocks(
    evaluate: Callable[[Array], Point], point: Point, direction: Array
) -> Point | None:
    """Return a point along the direction that meets the Wolfe conditions.

    Parameters
    ----------
    evaluate : callable
        Takes parameters, and returns the objective and its gradient there.
    point : Point
        Where the search starts.
    direction : ndarray of the shape of the parameters
        A direction of descent; a full step is tried first.

    Returns
    -------
    Point or None
        None if the direction is not one of descent, or if no decrease was found.
    """
    slope = float(np.vdot(point.gradient, direction))
    if not slope < 0:
        return None

    def trial(t: float) -> Trial[Point]:
        there = evaluate(point.theta + direction.dtype.type(t) * direction)
        return Trial(t, there.value, float(np.vdot(there.gradient, direction)), there)

    noise = 4 * float(np.finfo(direction.dtype).eps)
    accepted = search_ray(trial, lambda _: None, point.value, slope, noise)
    return None if accepted is None else accepted.end


class BlockwiseBiases:
    """Finds the best biases for given weights, by L-BFGS on the biases alone.

    Newton's method would need products with the Hessian of the biases, each as expensive as a
    step.

    Parameters
    ----------
    problem : Problem
        The problem.
    blocks : RowBlocks
        Its blocks.

    Attributes
    ----------
    curvature : ndarray of shape (k,) or None
        The curvature in each bias; computed if it is None.
    """

    def __init__(self, problem: Problem[SoftmaxRisk], blocks: RowBlocks) -> None:
        self._problem, self._blocks = problem, blocks
        self.curvature: Array | None = None

    def settle(self, point: Point, flat: float) -> Point:
        """Return the point with biases whose slopes sum to little in absolute value.

        Parameters
        ----------
        point : Point
            The point.
        flat : float
            The sum that is aimed at. Where rounding prevents it, more may remain.

        Returns
        -------
        Point
            The same point if nothing is to be done.
        """
        if not self._problem.fit_intercept or np.abs(point.gradient[:, -1]).sum() <= flat:
            return point

        def evaluate(biases: Array) -> Point:
            value, slopes = self._blocks.slopes(_with_biases(point.theta, biases))
            return Point(biases, point.scores, value, slopes)

        last, memory = evaluate(point.theta[:, -1:]), Memory(BIAS_MEMORY)
        memory.restart(self._precondition(point.theta))
        best, lowest, since = last, np.abs(last.gradient).sum(), 0
        for _ in range(MAX_BIAS_STEPS):
            if lowest <= flat or since == MOST_STEEPER:
                break
            following = step_in_blocks(evaluate, last, memory.direction(last.gradient))
            if following is None:
                break
            memory.update(following.theta - last.theta, following.gradient - last.gradient)
            last, since = following, since + 1
            sum_of_slopes = np.abs(last.gradient).sum()
            if sum_of_slopes < lowest:
                best, lowest, since = last, sum_of_slopes, 0
        return self._blocks.point(_with_biases(point.theta, best.theta))

    def _precondition(self, theta: Array) -> Preconditioner:
        if self.curvature is None:
            self.curvature = self._blocks.curvature_sums(theta)[1]
        floor = LEAST_CURVATURE * float(self.curvature.max())
        raised = np.maximum(self.curvature, floor)[:, None].astype(theta.dtype)
        return project(self._problem, lambda slopes: slopes / raised)


def _with_biases(theta: Array, biases: Array) -> Array:
    theta = theta.copy()
    theta[:, -1:] = biases
    return theta
