"""Exponential IMMAX in the sum form, as a risk of c scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from immax.arrays import Array
from immax.losses.curvatures import Curvature
from immax.losses.risks import SampleRisk, uniform_direction

__all__ = ["ExponentialCurvature", "ExponentialRisk"]


@dataclass
class ExponentialCurvature(Curvature):
    """Hessians of ``sum_{j != y} e_j``: ``sum_j e_j (u_j - u_y)(u_j - u_y)^T``, u unit vectors."""

    others: Array  # (n, c) weighted e_j / rho_y^2, zero at the target
    y: Array

    def block(self, a: int, b: int) -> Array:
        e, y = self.others, self.y
        if a == b:
            return np.where(y == a, e.sum(axis=1), e[:, a])
        return np.asarray(-np.where(y == a, e[:, b], np.where(y == b, e[:, a], 0)))

    def diagonal(self) -> Array:
        diagonal = self.others.copy()
        diagonal[np.arange(self.y.size), self.y] = self.others.sum(axis=1)
        return diagonal

    def product(self, vectors: Array) -> Array:
        rows = np.arange(self.y.size)
        out = self.others * (vectors - vectors[rows, self.y][:, None])
        out[rows, self.y] = -out.sum(axis=1)
        return out

    def total(self) -> Array:
        c = self.others.shape[1]
        member = np.equal.outer(np.arange(c), self.y).astype(self.others.dtype)
        between = member @ self.others  # (c, c): from the target's class to each other class
        total = -between - between.T
        total[np.diag_indices(c)] = between.sum(axis=1) + between.sum(axis=0)
        return np.asarray(total)


@dataclass
class ExponentialRisk(SampleRisk):
    """Exponential IMMAX in the sum form: ``sum_{j != y} exp((h_j - h_y) / rho_y)``."""

    y: Array
    rho: Array
    weight: Array

    def __post_init__(self) -> None:
        self.convex = self.smooth = True
        self.n_outputs = self.rho.size
        self.null_direction = uniform_direction(self.rho.size, self.weight.dtype)
        self._slope = (1 / self.rho)[self.y].astype(self.weight.dtype)
        self._rows = np.arange(self.y.size)
        self._absent = np.flatnonzero(self.weight == 0)

    def _others(self, scores: Array) -> Array:
        z = scores - scores[self._rows, self.y][:, None]
        z *= self._slope[:, None]
        z[self._absent] = 0  # without weight, nothing keeps these from overflowing
        with np.errstate(over="ignore"):
            np.exp(z, out=z)
        z *= self.weight[:, None]
        z[self._rows, self.y] = 0
        return z

    def value(self, scores: Array) -> float:
        """Return the risk of these scores.

        Parameters
        ----------
        scores : ndarray of shape (n, c)
            Scores.

        Returns
        -------
        float
            Infinity where an exponential overflows.
        """
        return float(self._others(scores).sum(dtype=np.float64))

    def value_gradient(self, scores: Array) -> tuple[float, Array]:
        e = self._others(scores)
        value = float(e.sum(dtype=np.float64))
        e *= self._slope[:, None]
        e[self._rows, self.y] = -e.sum(axis=1)
        return value, e

    def curvature(self, scores: Array) -> ExponentialCurvature:
        return ExponentialCurvature(self._others(scores) * self._slope[:, None] ** 2, self.y)

    def single(self) -> ExponentialRisk:
        return ExponentialRisk(self.y, self.rho, self.weight.astype(np.float32))
