"""What L-BFGS remembers of the curvature: a preconditioner, and the last moves."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from immax.arrays import Array
from immax.solvers.preconditioners import Preconditioner

__all__ = ["Memory"]


class Memory:
    """An estimate of the inverse Hessian from the last ``size`` moves."""

    def __init__(self, size: int) -> None:
        self.precondition: Preconditioner | None = None
        self._pairs: deque[tuple[Array, Array, float]] = deque(maxlen=size)

    def __len__(self) -> int:
        return len(self._pairs)

    def restart(self, precondition: Preconditioner | None = None) -> None:
        """Forget the moves, and take to another preconditioner if there is one."""
        self.precondition = precondition or self.precondition
        self._pairs.clear()

    def learn(self, move: Array, change: Array) -> None:
        """Take note of a move and of the change of the gradient along it."""
        product = float(np.vdot(move, change))
        if product > 0:
            self._pairs.append((move, change, 1 / product))

    def direction(self, gradient: Array) -> Array:
        """Minus the inverse Hessian times the gradient: the two-loop recursion."""
        assert self.precondition is not None
        out = gradient.copy()
        factors = []
        for move, change, inverse in reversed(self._pairs):
            factor = inverse * float(np.vdot(move, out))
            out -= out.dtype.type(factor) * change
            factors.append(factor)
        out = self.precondition(out)
        if self._pairs:
            _, change, inverse = self._pairs[-1]
            curved = float(np.vdot(change, self.precondition(change)))
            out *= out.dtype.type(1 / (inverse * curved))
        for (move, change, inverse), factor in zip(self._pairs, reversed(factors), strict=True):
            out += out.dtype.type(factor - inverse * float(np.vdot(change, out))) * move
        return -out

    def to(self, dtype: Any) -> Memory:
        """The same in another precision."""
        other = Memory(self._pairs.maxlen or 0)
        other.precondition = self.precondition
        for move, change, inverse in self._pairs:
            other._pairs.append((move.astype(dtype), change.astype(dtype), inverse))
        return other
