"""A mixture of the absolute values and the squares of the coefficients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from immax.arrays import Array
from immax.penalties.base import Blocks, Penalty, soft_threshold
from immax.penalties.l1 import L1Norm

__all__ = ["ElasticNet"]


@dataclass(frozen=True)
class ElasticNet(Penalty):
    """``l1_ratio ||W||_1 + (1 - l1_ratio) ||W||^2``, between the l1 and the l2 penalty.

    Parameters
    ----------
    l1_ratio : float, default=0.5
        The share of the l1 norm, above zero and at most one.

    Examples
    --------
    >>> ElasticNet(0.5).value(np.array([[3.0, -4.0]]))
    16.0
    """

    l1_ratio: float = 0.5

    name: ClassVar[str] = "elasticnet"

    @property
    def _ridge(self) -> float:
        return 1 - self.l1_ratio

    @property
    def norm_part(self) -> tuple[float, Penalty]:
        return self.l1_ratio, L1Norm()

    def blocks(self, shape: tuple[int, int]) -> Blocks:
        size = shape[0] * shape[1]
        return Blocks(None, np.broadcast_to(self.l1_ratio, size), self._ridge)

    def value(self, W: Array) -> float:
        W = W.astype(np.float64, copy=False)
        return self.l1_ratio * float(np.abs(W).sum()) + self._ridge * float(np.vdot(W, W))

    def prox(self, W: Array, step: float) -> Array:
        shrunk = soft_threshold(W, step * self.l1_ratio)
        return np.asarray(shrunk / W.dtype.type(1 + 2 * step * self._ridge))

    def dual_norm(self, G: Array) -> float:
        return float(np.abs(G).max(initial=0)) / self.l1_ratio

    def conjugate(self, G: Array, lam: float) -> float:
        beyond = np.maximum(np.abs(G).astype(np.float64) - lam * self.l1_ratio, 0)
        if not beyond.any():
            return 0.0
        ridge = lam * self._ridge
        return float(np.vdot(beyond, beyond)) / (4 * ridge) if ridge > 0 else float("inf")

    def violations(self, W: Array, G: Array, lam: float) -> Array:
        slope = G + 2 * lam * self._ridge * W
        threshold = lam * self.l1_ratio
        at_zero = np.maximum(np.abs(slope) - threshold, 0)
        return np.asarray(np.where(W == 0, at_zero, np.abs(slope + threshold * np.sign(W))).ravel())

    def screen(self, G: Array, lam: float, previous: float) -> Array:
        return np.asarray(np.abs(G) >= self.l1_ratio * (2 * lam - previous)).ravel()
