"""Line searches on the scores alone, without a pass over the features."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from immax.arrays import Array
from immax.losses.risks import SmoothRisk
from immax.solvers.problem import Problem

__all__ = [
    "FullStep",
    "Point",
    "RayStep",
    "ScoreBuffers",
    "Trial",
    "find_step",
    "largest_size",
    "search_ray",
    "step_along",
]

T = TypeVar("T")

MAX_TRIALS = 40
MAX_GROWTH = 100.0  # of the scores, in the first trial of a step


class ScoreBuffers:
    """Arrays of the size of the scores that are used again and again.

    The first access to a new page of memory costs more than the arithmetic on it.

    Parameters
    ----------
    problem : Problem
        Gives the shape and the order of the arrays.
    """

    def __init__(self, problem: Problem[SmoothRisk]) -> None:
        self._problem = problem
        self._free: list[Array] = []

    def take(self) -> Array:
        """Return an array of the shape of the scores, with arbitrary contents.

        Returns
        -------
        ndarray of shape (n, k)
        """
        return self._free.pop() if self._free else self._problem.new_scores()

    def give_back(self, *arrays: Array) -> None:
        """Accept arrays whose contents are no longer needed.

        Parameters
        ----------
        *arrays : ndarray of shape (n, k)
            They are handed out again by ``take``.
        """
        self._free += arrays


class RayStep(NamedTuple):
    """The risk at a point on a ray of scores."""

    scores: Array
    residuals: Array  # the gradient of the risk in the scores
    value: float
    derivative: float  # along the ray


class FullStep(NamedTuple):
    """The end of a full step, as risks with a method ``full_step`` compute it at once."""

    ray: Array  # the scores of the direction
    step: RayStep
    gradient: Array  # of the risk in the parameters


def step_along(
    risk: SmoothRisk, scores: Array, ray: Array, length: float, buffers: ScoreBuffers
) -> RayStep:
    """Return the risk and its gradient at ``scores + length * ray``.

    Parameters
    ----------
    risk : SmoothRisk
        A risk that has a method ``along`` is asked for all of it at once.
    scores, ray : ndarray of shape (n, k)
        Where the ray begins, and its direction.
    length : float
        The position on the ray.
    buffers : ScoreBuffers
        Where the arrays of the result come from.

    Returns
    -------
    RayStep
    """
    along = getattr(risk, "along", None)
    if along is not None:
        return RayStep(*along(scores, ray, length, buffers.take(), buffers.take()))
    moved = np.multiply(ray, scores.dtype.type(length), out=buffers.take())
    moved += scores
    value, residuals = risk.value_gradient(moved)
    return RayStep(moved, residuals, value, _dot(residuals, ray))


@dataclass(frozen=True)
class Point:
    """Parameters with the scores, the objective and its gradient there.

    The scores are empty where they are computed in blocks and not kept.
    """

    theta: Array
    scores: Array
    value: float
    gradient: Array

    @staticmethod
    def at(problem: Problem[SmoothRisk], theta: Array, scores: Array | None = None) -> Point:
        """Return the point of these parameters.

        Parameters
        ----------
        problem : Problem
            A smooth problem.
        theta : ndarray of the problem's shape
            The parameters.
        scores : ndarray of shape (n, k), optional
            Their scores, if they are known.

        Returns
        -------
        Point
            All else is computed anew.
        """
        scores = problem.scores(theta) if scores is None else scores
        full = _full_step(problem, scores, None, ScoreBuffers(problem))
        if full is None:
            value, residuals = problem.risk.value_gradient(scores)
            gradient = problem.pull_back(residuals)
        else:
            value, gradient = full.step.value, full.gradient
        gradient += problem.penalty_gradient(theta)
        return Point(theta, scores, value + problem.penalty(theta), gradient)


def find_step(
    problem: Problem[SmoothRisk],
    point: Point,
    direction: Array,
    buffers: ScoreBuffers,
    flatness: float = 0.9,
) -> Point | None:
    """Return a point along the direction that meets the Wolfe conditions.

    Parameters
    ----------
    problem : Problem
        A smooth problem. A risk that has a method ``full_step`` is asked for the end of a full
        step, which most searches accept.
    point : Point
        Where the search starts.
    direction : ndarray of the problem's shape
        A direction of descent; a full step is tried first.
    buffers : ScoreBuffers
        Arrays for the scores of trials.
    flatness : float, default=0.9
        The share of the slope along the direction that may remain.

    Returns
    -------
    Point or None
        None if the direction is not one of descent, or if no decrease was found.
    """
    slope = _dot(point.gradient, direction)
    if not slope < 0:
        return None
    full = _full_step(problem, point.scores, direction, buffers)
    ray = problem.scores(direction, out=buffers.take()) if full is None else full.ray
    first = _first_trial(point.scores, ray)
    known = [] if full is None else [full.step]
    if known and first < 1:
        _give_back(known.pop(), buffers)
    W, V = problem.weights(point.theta), problem.weights(direction)
    linear, quadratic = 2 * problem.lam * _dot(W, V), problem.lam * _dot(V, V)
    penalty = problem.penalty(point.theta)

    def evaluate(t: float) -> Trial[RayStep]:
        # A full step is the first trial.
        step = known.pop() if known else step_along(problem.risk, point.scores, ray, t, buffers)
        value = step.value + penalty + t * linear + t * t * quadratic
        return Trial(t, value, linear + 2 * t * quadratic + step.derivative, step)

    accepted = search_ray(
        evaluate,
        lambda trial: _give_back(trial.end, buffers),
        point.value,
        slope,
        4 * float(np.finfo(problem.dtype).eps),
        flatness,
        first,
    )
    if accepted is None:
        return None
    theta = point.theta + problem.dtype.type(accepted.length) * direction
    if full is not None and accepted.end is full.step:
        gradient = full.gradient
    else:
        gradient = problem.pull_back(accepted.end.residuals)
    gradient += problem.penalty_gradient(theta)
    buffers.give_back(ray, accepted.end.residuals)
    return Point(theta, accepted.end.scores, accepted.value, gradient)


def _full_step(
    problem: Problem[SmoothRisk], scores: Array, direction: Array | None, buffers: ScoreBuffers
) -> FullStep | None:
    of_risk = getattr(problem.risk, "full_step", None)
    if of_risk is None:
        return None
    full: FullStep | None = of_risk(problem, scores, direction, buffers)
    return full


def _give_back(step: RayStep, buffers: ScoreBuffers) -> None:
    buffers.give_back(step.scores, step.residuals)


class Trial(NamedTuple, Generic[T]):
    """The objective at a position of a line search."""

    length: float
    value: float
    slope: float
    end: T  # what else was computed there


def search_ray(
    evaluate: Callable[[float], Trial[T]],
    discard: Callable[[Trial[T]], None],
    value: float,
    slope: float,
    noise: float,
    flatness: float = 0.9,
    first: float = 1.0,
) -> Trial[T] | None:
    """Return a position on a ray that meets the Wolfe conditions.

    Within rounding of the objective a decrease cannot be observed, and the slope alone decides
    (approximate Wolfe conditions).

    Parameters
    ----------
    evaluate : callable
        Takes a position, and returns the objective there.
    discard : callable
        Takes the trials that are not returned, when they are no longer needed.
    value, slope : float
        The objective where the ray begins and its derivative, which is negative.
    noise : float
        The relative precision of the objective.
    flatness : float, default=0.9
        The share of the slope that may remain.
    first : float, default=1.0
        The first position.

    Returns
    -------
    Trial or None
        None if no decrease was found.
    """
    rounding = noise * abs(value)
    t, low, high = first, 0.0, np.inf
    low_slope, same_side = slope, 0
    best: Trial[T] | None = None
    for _ in range(MAX_TRIALS):
        trial = evaluate(t)
        here = trial.slope if np.isfinite(trial.value) else np.inf
        lower = trial.value <= value + 1e-4 * t * slope or (
            trial.value <= value + rounding and here <= -0.8 * slope
        )
        if lower and abs(here) <= flatness * abs(slope):
            return trial
        worse: Trial[T] | None = trial
        if lower and (best is None or trial.value < best.value):
            best, worse = trial, best
        if worse is not None:
            discard(worse)
        if lower and here < 0:
            low, low_slope = t, here
            same_side = max(same_side, 0) + 1
            if not np.isfinite(high):
                t *= 4
                continue
        else:
            high, high_slope = t, here
            same_side = min(same_side, 0) - 1
        # Towards the root of the slope by a secant; by bisection where the secant converges slowly.
        share = 0.5
        if high_slope > 0 and abs(same_side) < 3:
            share = low_slope / (low_slope - high_slope) if np.isfinite(high_slope) else 0.125
        t = low + (high - low) * min(max(share, 0.02), 0.98)
    return best


def _first_trial(scores: Array, ray: Array) -> float:
    """Return a full step, or less if the scores would explode, as where there is no curvature."""
    longest = largest_size(ray)
    if longest <= MAX_GROWTH:
        return 1.0
    reach = MAX_GROWTH * (1 + largest_size(scores))
    return min(1.0, reach / longest) if np.isfinite(longest) and longest > 0 else 1.0


def largest_size(values: Array) -> float:
    """Return the largest absolute value, without an array of the absolute values.

    Parameters
    ----------
    values : ndarray
        Of any shape.

    Returns
    -------
    float
        Zero if there are none.
    """
    return max(float(values.max(initial=0)), -float(values.min(initial=0)))


def _dot(a: Array, b: Array) -> float:
    """Return the inner product of two arrays with the same shape and memory order."""
    return float(np.vdot(a.T, b.T)) if a.flags.f_contiguous else float(np.vdot(a, b))
