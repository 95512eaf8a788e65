"""What is known about similar problems: their curvature, and multipliers for kinks."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from immax.arrays import Array
from immax.losses.risks import Risk
from immax.solvers.feature_columns import FeatureColumns
from immax.solvers.local_models import FullGram
from immax.solvers.preconditioners import Preconditioner
from immax.solvers.problem import Problem

__all__ = ["Memory", "Multipliers", "SettledPoint"]


class Multipliers(NamedTuple):
    """Slopes of the losses at kinks, and the stiffness of the envelope that they were found by."""

    values: Array
    stiffness: float


@dataclass(frozen=True)
class SettledPoint:
    """Parameters whose biases minimise the risk, and all that X and the risk tell there.

    Attributes
    ----------
    problem : Problem
        Its X and its risk; the penalty does not matter.
    theta : ndarray of the problem's shape
        The parameters.
    scores : ndarray of shape (n, k)
        Their scores.
    value : float
        The risk.
    residuals : ndarray of shape (n, k)
        Its gradient in the scores.
    gradient : ndarray of the problem's shape
        Its gradient in the parameters.
    """

    problem: Problem[Risk]
    theta: Array
    scores: Array
    value: float
    residuals: Array
    gradient: Array

    def serves(self, problem: Problem[Risk], theta: Array) -> bool:
        """Return whether this is what a problem has at these parameters.

        Parameters
        ----------
        problem : Problem
            Any problem.
        theta : ndarray of the problem's shape
            Parameters.

        Returns
        -------
        bool
        """
        mine = self.problem
        same = mine.X is problem.X and mine.risk is problem.risk
        same = same and mine.fit_intercept == problem.fit_intercept
        return same and np.array_equal(self.theta, theta)


class Memory:
    """An estimate of the inverse Hessian from a preconditioner and the last steps.

    Parameters
    ----------
    size : int, default=10
        The number of steps that are kept.

    Attributes
    ----------
    precondition : Preconditioner or None
        Maps a gradient to a step.
    scores : ndarray or None
        Those of the next start, if they are known; after a run, those of its solution.
    multipliers : Multipliers or None
        Those that the method of multipliers begins with; after a run, those that it ended with.
    columns : FeatureColumns or None
        The columns that working sets have taken from the features.
    full_gram : FullGram or None
        The last matrix of few columns, of proximal Newton steps.
    settled : SettledPoint or None
        Where a run of working sets ended; the next may start there.
    """

    def __init__(self, size: int = 10) -> None:
        self.precondition: Preconditioner | None = None
        self.scores: Array | None = None
        self.multipliers: Multipliers | None = None
        self.columns: FeatureColumns | None = None
        self.full_gram: FullGram | None = None
        self.settled: SettledPoint | None = None
        self._pairs: deque[tuple[Array, Array, float]] = deque(maxlen=size)

    def __len__(self) -> int:
        return len(self._pairs)

    def restart(self, precondition: Preconditioner | None = None) -> None:
        """Forget the steps, and replace the preconditioner if one is given.

        Parameters
        ----------
        precondition : Preconditioner, optional
            Maps a gradient to a step; by default the current one is kept.
        """
        self.precondition = precondition or self.precondition
        self._pairs.clear()

    def update(self, step: Array, change: Array) -> None:
        """Add a step and the change of the gradient along it.

        A pair whose product is not positive is left out.

        Parameters
        ----------
        step : ndarray of shape (k, width)
            The change of the parameters.
        change : ndarray of shape (k, width)
            The change of the gradient.
        """
        product = float(np.vdot(step, change))
        if product > 0:
            self._pairs.append((step, change, 1 / product))

    def direction(self, gradient: Array) -> Array:
        """Return minus the inverse Hessian times the gradient, by the two-loop recursion.

        Parameters
        ----------
        gradient : ndarray of shape (k, width)
            The gradient.

        Returns
        -------
        ndarray of shape (k, width)
            The step to take.

        Raises
        ------
        RuntimeError
            If there is no preconditioner yet.
        """
        if self.precondition is None:
            raise RuntimeError("the memory has no preconditioner yet; call restart with one")
        out = gradient.copy()
        factors = []
        for step, change, inverse in reversed(self._pairs):
            factor = inverse * float(np.vdot(step, out))
            out -= out.dtype.type(factor) * change
            factors.append(factor)
        out = self.precondition(out)
        if self._pairs:
            _, change, inverse = self._pairs[-1]
            curved = float(np.vdot(change, self.precondition(change)))
            out *= out.dtype.type(1 / (inverse * curved))
        for (step, change, inverse), factor in zip(self._pairs, reversed(factors), strict=True):
            out += out.dtype.type(factor - inverse * float(np.vdot(change, out))) * step
        return -out

    def astype(self, dtype: DTypeLike) -> Memory:
        """Return a copy whose steps are in another precision.

        Besides the steps, only the preconditioner is taken over.

        Parameters
        ----------
        dtype : dtype
            The precision.

        Returns
        -------
        Memory
        """
        other = Memory(self._pairs.maxlen or 0)
        other.precondition = self.precondition
        for step, change, inverse in self._pairs:
            other._pairs.append((step.astype(dtype), change.astype(dtype), inverse))
        return other
