"""The squared Euclidean norm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from immax.arrays import Array
from immax.penalties.base import Blocks, Penalty

__all__ = ["SquaredL2"]


@dataclass(frozen=True)
class SquaredL2(Penalty):
    """``||W||^2``, the paper's penalty: it shrinks every coefficient and removes none.

    Examples
    --------
    >>> SquaredL2().value(np.array([[3.0, 4.0]]))
    25.0
    """

    name: ClassVar[str] = "l2"

    @property
    def smooth(self) -> bool:
        return True

    def blocks(self, shape: tuple[int, int]) -> Blocks:
        size = shape[0] * shape[1]
        return Blocks(None, np.zeros(size), 1.0)

    def value(self, W: Array) -> float:
        W = W.astype(np.float64, copy=False)
        return float(np.vdot(W, W))

    def prox(self, W: Array, step: float) -> Array:
        return np.asarray(W / W.dtype.type(1 + 2 * step))

    def dual_norm(self, G: Array) -> float:
        return float("inf") if G.any() else 0.0

    def conjugate(self, G: Array, lam: float) -> float:
        return self.value(G) / (4 * lam)

    def violations(self, W: Array, G: Array, lam: float) -> Array:
        return np.abs(G + 2 * lam * W).ravel()

    def screen(self, G: Array, lam: float, previous: float) -> Array:  # noqa: ARG002
        return np.ones(G.size, dtype=bool)
