"""The sum of the Euclidean norms of groups of coefficients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from immax.arrays import Array
from immax.penalties.base import Blocks, Penalty

__all__ = ["GroupNorm"]


@dataclass(frozen=True, eq=False)
class GroupNorm(Penalty):
    """``sum_g sqrt(columns in g) ||W_g||_2``, which keeps or drops whole groups of features.

    A group holds the coefficients of its columns for all classes. Without ``groups`` every feature
    is one: it is used by all classes or by none. With two classes, which share one weight vector,
    this is the l1 norm.

    Parameters
    ----------
    groups : ndarray of int, shape (d,), optional
        The number of each column's group, from 0 on.

    Examples
    --------
    >>> W = np.array([[3.0, 0.0], [4.0, 0.0]])
    >>> GroupNorm().value(W)
    5.0
    >>> round(GroupNorm(np.array([0, 0])).value(W), 3)
    7.071
    """

    groups: Array | None = None

    name: ClassVar[str] = "group"

    def _labels(self, n_columns: int) -> Array:
        return np.arange(n_columns) if self.groups is None else self.groups

    def blocks(self, shape: tuple[int, int]) -> Blocks:
        labels = self._labels(shape[1])
        return Blocks(labels, np.sqrt(np.bincount(labels).astype(np.float64)), 0.0)

    def value(self, W: Array) -> float:
        blocks = self.blocks(W.shape)
        return float(blocks.norms(W) @ blocks.weights)

    def prox(self, W: Array, step: float) -> Array:
        blocks = self.blocks(W.shape)
        norms = blocks.norms(W)
        shrinkage = np.divide(
            norms - step * blocks.weights, norms, out=np.zeros_like(norms), where=norms > 0
        )
        return np.asarray(W * np.maximum(shrinkage, 0)[self._labels(W.shape[1])].astype(W.dtype))

    def dual_norm(self, G: Array) -> float:
        blocks = self.blocks(G.shape)
        return float((blocks.norms(G) / blocks.weights).max(initial=0))

    def conjugate(self, G: Array, lam: float) -> float:
        return 0.0 if self.dual_norm(G) <= lam else float("inf")

    def violations(self, W: Array, G: Array, lam: float) -> Array:
        blocks = self.blocks(W.shape)
        norms = blocks.norms(W)
        thresholds = lam * blocks.weights
        inverse = np.divide(thresholds, norms, out=np.zeros_like(norms), where=norms > 0)
        at_zero = np.maximum(blocks.norms(G) - thresholds, 0)
        slopes = G + W * inverse[self._labels(W.shape[1])]
        return np.where(norms == 0, at_zero, blocks.norms(slopes))

    def screen(self, G: Array, lam: float, previous: float) -> Array:
        blocks = self.blocks(G.shape)
        return np.asarray(blocks.norms(G) >= blocks.weights * (2 * lam - previous))
