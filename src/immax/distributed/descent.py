"""L-BFGS on one problem whose values and gradients are computed elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import NamedTuple

import numpy as np

from immax.arrays import Array
from immax.distributed.evaluation import Trial
from immax.solvers.memory import Memory
from immax.solvers.preconditioners import Preconditioner
from immax.solvers.problem import Solution

__all__ = ["Descent", "Stopping"]

SUFFICIENT = 1e-4  # the share of the slope that a step must decrease the objective by
SHORTER = (0.5, 0.2, 0.05, 0.01)  # shares of a step that was too long, tried in one round
MAX_REFUSALS = 6
BOUND_FACTOR = 30.0  # tolerances that the gap may be where only the decrease must be small
NEAR = 1000.0  # tolerances that the gap of the weights may be when that of the biases counts


class Stopping(NamedTuple):
    """When a descent may stop."""

    tol: float = 1e-6
    max_iter: int = 1000
    certified: bool = True  # by the gap; else by the decrease that the next step promises
    convex: bool = True


class Point(NamedTuple):
    """Parameters, the objective and its derivatives, and the name of the scores."""

    theta: Array
    value: float
    gradient: Array
    name: str
    bias_hessian: Array | None = None  # (k, k), where it was asked for


class Descent:
    """Preconditioned L-BFGS as a sequence of questions and answers.

    ``trials`` are the parameters at which the risk is wanted, and ``receive`` takes the answers.
    A question is a full step with its gradient or, where the last step was too long, several
    shorter ones without. So many problems can be solved in the same rounds.

    The duality gap counts the slopes of the biases, but the squared slopes of the weights. Where
    the biases alone are in the way of a certificate, the next step is a Newton step of theirs,
    which needs no products with the features for its scores.

    Parameters
    ----------
    starts : sequence of ndarray of shape (k, width)
        Parameters to start from: the best of them is taken.
    lam : float
        The strength of the l2 penalty.
    fit_intercept : bool
        Whether the last column are biases, which are not penalised.
    precondition : Preconditioner
        The first estimate of the inverse Hessian.
    stopping : Stopping
        When to stop.
    dtype : numpy.dtype
        The precision of the features.
    cell : int, default=0
        The number of the problem.
    """

    def __init__(
        self,
        starts: Sequence[Array],
        lam: float,
        fit_intercept: bool,
        precondition: Preconditioner,
        stopping: Stopping,
        dtype: np.dtype[np.float32 | np.float64],
        cell: int = 0,
    ) -> None:
        self._starts = [np.asarray(start, dtype=np.float64) for start in starts]
        self._lam, self._intercept, self._cell = lam, fit_intercept, cell
        self._stopping = stopping
        self._eps = float(np.finfo(dtype).eps)
        self._memory = Memory()
        self._memory.restart(precondition)
        self._names = (f"{cell}-{number}" for number in count())
        self._point: Point | None = None
        self._direction: Array = self._starts[0]
        self._length = 1.0
        self._of_biases = False  # whether the direction is a step of the biases alone
        self._shorter: tuple[float, ...] = ()
        self._ahead: str | None = None  # the name of the scores of the full step
        self._refusals = 0
        self._asked: list[Trial] = []
        self.n_iter = 0
        self.done = False
        self.converged = False

    @property
    def started(self) -> bool:
        """Whether the risk at the start is known."""
        return self._point is not None

    @property
    def theta(self) -> Array:
        """The parameters of the current point."""
        return self._starts[0] if self._point is None else self._point.theta

    @property
    def gap(self) -> float:
        """The bound on the distance of the objective from the optimum."""
        return np.inf if self._point is None else self._bound(self._point)

    def precondition(self, precondition: Preconditioner) -> None:
        """Replace the estimate of the inverse Hessian at the current point.

        Parameters
        ----------
        precondition : Preconditioner
            Maps a gradient to a step.
        """
        self._memory.restart(precondition)
        if self._point is not None and not self.done:
            self._set_direction()

    def trials(self) -> list[Trial]:
        """Return the parameters at which the risk is wanted next.

        Returns
        -------
        list of Trial
        """
        point = self._point
        if point is None:
            self._asked = [
                Trial(start, self._cell, name=next(self._names)) for start in self._starts
            ]
        elif self._shorter:
            self._asked = [
                Trial(
                    point.theta + length * self._direction,
                    self._cell,
                    gradient=False,
                    parents=self._between(length),
                )
                for length in self._shorter
            ]
        else:
            self._asked = [self._full_step(point)]
        return self._asked

    def _full_step(self, point: Point) -> Trial:
        parents, shift = self._between(self._length), None
        if self._of_biases and not parents:
            parents, shift = ((point.name, 1.0),), self._length * self._direction[:, -1]
        return Trial(
            point.theta + self._length * self._direction,
            self._cell,
            bias_curvature=self._left_to_biases(NEAR),
            name=next(self._names),
            parents=parents,
            shift=shift,
            kept=(point.name,),
        )

    def _between(self, length: float) -> tuple[tuple[str, float], ...]:
        """Return the scores at a share of the full step as a combination of those of its ends."""
        if self._point is None or self._ahead is None:
            return ()
        return ((self._point.name, 1 - length), (self._ahead, length))

    def receive(
        self,
        values: Sequence[float],
        gradients: Sequence[Array | float],
        bias_hessians: Sequence[Array | float] = (),
    ) -> None:
        """Take the risks, and their gradients, at the parameters that ``trials`` returned.

        Parameters
        ----------
        values : sequence of float
            The risks, without the penalty.
        gradients : sequence of ndarray or float
            Their gradients; what was not asked for is ignored.
        bias_hessians : sequence of ndarray or float, optional
            Their Hessians in the biases.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            totals = [
                value + self._penalty(trial.theta)
                for value, trial in zip(values, self._asked, strict=True)
            ]
            if self._point is None:
                order = np.argsort([np.inf if np.isnan(total) else total for total in totals])
                best = int(order[0])
                self._move(self._asked[best], totals[best], gradients[best])
            elif self._shorter:
                self._choose_length(totals)
            else:
                bias_hessian = bias_hessians[0] if bias_hessians else 0.0
                self._judge_step(totals[0], gradients[0], bias_hessian)

    def _penalty(self, theta: Array) -> float:
        W = theta[:, :-1] if self._intercept else theta
        return self._lam * float(np.vdot(W, W))

    def _full_gradient(self, trial: Trial, gradient: Array | float) -> Array:
        full = 2 * self._lam * trial.theta
        if self._intercept:
            full[:, -1] = 0
        return np.asarray(full + gradient)

    def _move(
        self,
        trial: Trial,
        value: float,
        gradient: Array | float,
        bias_hessian: Array | float = 0.0,
    ) -> None:
        full = self._full_gradient(trial, gradient)
        if self._point is not None:
            if not self._of_biases:  # else the scale of the weights would be that of the biases
                self._memory.update(trial.theta - self._point.theta, full - self._point.gradient)
            self.n_iter += 1
        known = bias_hessian if isinstance(bias_hessian, np.ndarray) else None
        self._point = Point(trial.theta, value, full, trial.name or "", known)
        self._refusals = 0
        self._set_direction()

    def _set_direction(self) -> None:
        """Set the next direction, and stop where nothing is left to gain."""
        point = self._point
        assert point is not None
        self._direction = self._memory.direction(point.gradient)
        slope = float(np.vdot(point.gradient, self._direction))
        if not slope < 0 and len(self._memory):
            self._memory.restart()
            self._direction = self._memory.direction(point.gradient)
            slope = float(np.vdot(point.gradient, self._direction))
        self._slope, self._length, self._shorter, self._ahead = slope, 1.0, (), None
        self._of_biases = False
        size, decrease, tol = abs(point.value), -0.5 * slope, self._stopping.tol
        exhausted = decrease <= 0.5 * self._eps * size
        if self._stopping.certified:
            left = self._bound(point)
            left = left if self._stopping.convex else max(left, decrease)
            self.converged = left <= tol * size
        else:
            self.converged = decrease <= tol * size and self._bound(point) <= (
                BOUND_FACTOR * tol * size
            )
        if self.converged or exhausted or self.n_iter >= self._stopping.max_iter:
            self.converged = self.converged or self._within_rounding(exhausted)
            self.done = True
        elif point.bias_hessian is not None and self._left_to_biases(1.0):
            self._settle_biases(point, point.bias_hessian)

    def _settle_biases(self, point: Point, hessian: Array) -> None:
        """Let the next step be the Newton step of the biases, if it decreases the objective."""
        if not np.isfinite(hessian).all():
            return
        slopes = point.gradient[:, -1]
        # The risk may be constant along a direction in class space.
        inverse = np.linalg.pinv(hessian, rcond=len(hessian) * self._eps, hermitian=True)
        move = -inverse @ slopes
        slope = float(slopes @ move)
        if -0.5 * slope <= 0.5 * self._eps * abs(point.value):
            return
        self._direction = np.zeros_like(point.theta)
        self._direction[:, -1] = move
        self._slope, self._of_biases = slope, True

    def _within_rounding(self, exhausted: bool) -> bool:
        assert self._point is not None
        reachable = 3 * self._eps**0.5 * abs(self._point.value)
        return exhausted and (not self._stopping.convex or self._bound(self._point) <= reachable)

    def _weights_bound(self, point: Point) -> float:
        """Return the duality gap for the best biases, if these are the best."""
        W = point.gradient[:, :-1] if self._intercept else point.gradient
        return float(np.vdot(W, W)) / (4 * self._lam)

    def _left_to_biases(self, tolerances: float) -> bool:
        """Return whether a certificate is so close by the weights that the biases count."""
        point, stopping = self._point, self._stopping
        if point is None or not (self._intercept and stopping.certified and stopping.convex):
            return False
        return self._weights_bound(point) <= tolerances * stopping.tol * abs(point.value)

    def _bound(self, point: Point) -> float:
        """Return the duality gap; the slope of the biases is counted as in ``Certifier``."""
        gap = self._weights_bound(point)
        if self._intercept:
            slopes, biases = np.abs(point.gradient[:, -1]), np.abs(point.theta[:, -1])
            gap += float(slopes @ (1 + biases))
        return gap

    def _is_lower(self, value: float, length: float) -> bool:
        assert self._point is not None
        return bool(value <= self._point.value + SUFFICIENT * length * self._slope)

    def _judge_step(
        self, value: float, gradient: Array | float, bias_hessian: Array | float
    ) -> None:
        point, trial = self._point, self._asked[0]
        assert point is not None
        lower = self._is_lower(value, self._length)
        if not lower and value <= point.value + 4 * self._eps * abs(point.value):
            # Within rounding of the objective the slope alone decides.
            here = float(np.vdot(self._full_gradient(trial, gradient), self._direction))
            lower = here <= -0.8 * self._slope
        if lower:
            self._move(trial, value, gradient, bias_hessian)
            return
        self._refusals += 1
        if self._refusals > MAX_REFUSALS:
            self._give_up()
            return
        if self._ahead is None:
            self._ahead = trial.name
        fitted = np.inf
        excess = value - point.value - self._length * self._slope
        if np.isfinite(excess) and excess > 0:
            fitted = -self._slope * self._length**2 / (2 * excess)
        shares = {self._length * share for share in SHORTER}
        if 0.01 * self._length < fitted < 0.9 * self._length:
            shares.add(fitted)
        self._shorter = tuple(sorted(shares, reverse=True))

    def _choose_length(self, totals: Sequence[float]) -> None:
        values = [np.inf if np.isnan(total) else total for total in totals]
        best = int(np.argmin(values))
        lengths, self._shorter = self._shorter, ()
        if self._is_lower(values[best], lengths[best]):
            self._length = lengths[best]
            return
        self._refusals += 1
        self._length = min(lengths)
        if self._refusals > MAX_REFUSALS:
            self._give_up()
            return
        self._shorter = tuple(self._length * share for share in SHORTER)

    def _give_up(self) -> None:
        """Forget the steps, or stop if there is nothing to forget."""
        if len(self._memory):
            self._memory.restart()
            self._refusals = 0
            self._set_direction()
            return
        self.done = True

    def solution(self) -> Solution:
        """Return the point that was reached, after the risk at the start is known.

        Returns
        -------
        Solution
            With a gap if it is to be certified and the risk is convex.
        """
        assert self._point is not None
        certified = self._stopping.certified and self._stopping.convex
        return Solution(
            self._point.theta,
            self._point.value,
            self._bound(self._point) if certified else None,
            self.n_iter,
            self.converged,
        )
