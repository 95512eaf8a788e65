"""Hessians of the softmax losses of a sample in its scores."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from immax.arrays import Array
from immax.losses.curvatures import Curvature

__all__ = ["SoftmaxCurvature"]


@dataclass
class SoftmaxCurvature(Curvature):
    """Hessians of a sample in its scores: one c×c matrix per sample, never formed.

    ``H_i = S [f_i (diag p_i - p_i p_i^T) + g_i r_i r_i^T] S`` with ``S = diag(scale)`` and
    ``r_i`` the softmax residual; the second term only with a focal exponent.

    Parameters
    ----------
    probability : ndarray of shape (n, c)
        ``p_i``.
    weight : ndarray of shape (n,)
        ``f_i``.
    scale : ndarray of shape (c,), optional
        One by default.
    residual : ndarray of shape (n, c), optional
        ``r_i``.
    residual_weight : ndarray of shape (n,), optional
        ``g_i``.
    """

    probability: Array
    weight: Array
    scale: Array | None = None
    residual: Array | None = None
    residual_weight: Array | None = None

    def positive(self) -> Self:
        """Return curvature that is at least this, and never negative.

        Of the second term, only what is positive is kept.

        Returns
        -------
        SoftmaxCurvature
        """
        if self.residual_weight is None:
            return self
        return replace(self, residual_weight=np.maximum(self.residual_weight, 0))

    def block(self, a: int, b: int) -> Array:
        p = self.probability
        entry = (1 - p[:, a] if a == b else -p[:, b]) * p[:, a] * self.weight
        if self.residual is not None:
            entry += self.residual[:, a] * self.residual[:, b] * self.residual_weight
        return np.asarray(entry if self.scale is None else entry * (self.scale[a] * self.scale[b]))

    def diagonal(self) -> Array:
        diagonal = self.probability * (1 - self.probability)
        diagonal *= self.weight[:, None]
        if self.residual is not None and self.residual_weight is not None:
            diagonal += self.residual**2 * self.residual_weight[:, None]
        return np.asarray(diagonal if self.scale is None else diagonal * self.scale**2)

    def product(self, vectors: Array) -> Array:
        v = vectors if self.scale is None else vectors * self.scale
        mean = np.einsum("ij,ij->i", self.probability, v)
        out = v - mean[:, None]
        out *= self.probability
        out *= self.weight[:, None]
        if self.residual is not None:
            inner = np.einsum("ij,ij->i", self.residual, v) * self.residual_weight
            out += self.residual * inner[:, None]
        return out if self.scale is None else out * self.scale

    def total(self) -> Array:
        p = self.probability
        total = np.diag(self.weight @ p) - (p * self.weight[:, None]).T @ p
        if self.residual is not None and self.residual_weight is not None:
            total += (self.residual * self.residual_weight[:, None]).T @ self.residual
        return np.asarray(total if self.scale is None else total * np.outer(self.scale, self.scale))
