"""The sum of the absolute values of the coefficients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from immax.arrays import Array
from immax.penalties.base import Blocks, Penalty, soft_threshold

__all__ = ["L1Norm"]


@dataclass(frozen=True)
class L1Norm(Penalty):
    """``||W||_1``, which leaves most coefficients at zero.

    Examples
    --------
    >>> L1Norm().value(np.array([[3.0, -4.0]]))
    7.0
    >>> L1Norm().prox(np.array([[3.0, -0.5]]), 1.0)
    array([[2., 0.]])
    """

    name: ClassVar[str] = "l1"

    def blocks(self, shape: tuple[int, int]) -> Blocks:
        size = shape[0] * shape[1]
        return Blocks(None, np.broadcast_to(1.0, size), 0.0)

    def value(self, W: Array) -> float:
        return float(np.abs(W[W != 0]).sum(dtype=np.float64))

    def prox(self, W: Array, step: float) -> Array:
        return soft_threshold(W, step)

    def dual_norm(self, G: Array) -> float:
        return max(float(G.max(initial=0)), -float(G.min(initial=0)))

    def conjugate(self, G: Array, lam: float) -> float:
        return 0.0 if self.dual_norm(G) <= lam else float("inf")

    def violations(self, W: Array, G: Array, lam: float) -> Array:
        slopes = np.sign(W)
        slopes *= lam
        slopes += G
        np.abs(slopes, out=slopes)
        np.subtract(slopes, lam, out=slopes, where=W == 0)
        return np.maximum(slopes, 0, out=slopes).ravel()

    def screen(self, G: Array, lam: float, previous: float) -> Array:
        return np.asarray(np.abs(G) >= 2 * lam - previous).ravel()
