"""The max forms of IMMAX as risks of c scores, and their smooth envelopes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from immax.arrays import Array
from immax.losses.curvatures import Curvature
from immax.losses.proximal import max_prox
from immax.losses.risks import Envelope, KinkedRisk, uniform_direction, weighted_mean
from immax.losses.surrogates import Surrogate, runner_up

__all__ = ["MaxCurvature", "MaxEnvelope", "MaxRisk"]


@dataclass
class MaxRisk(KinkedRisk):
    """IMMAX in the max form: ``max_{j != y} Psi((h_y - h_j) / rho_y)``."""

    surrogate: Surrogate
    y: Array
    rho: Array
    weight: Array

    def __post_init__(self) -> None:
        self.smooth = False
        self.n_outputs = self.rho.size
        self.margin = self.rho[self.y].astype(self.weight.dtype)
        self._rows = np.arange(self.y.size)

    def losses(self, scores: Array) -> Array:
        """Return the loss of every sample, without its weight.

        Parameters
        ----------
        scores : ndarray of shape (n, c)
            Scores.

        Returns
        -------
        ndarray of shape (n,)
        """
        best = runner_up(scores, self.y)[1]
        return self.surrogate.value((scores[self._rows, self.y] - best) / self.margin)

    def value(self, scores: Array) -> float:
        return weighted_mean(self.losses(scores), self.weight)

    def envelope(self, multipliers: Array | None, stiffness: float) -> MaxEnvelope:
        """Return the Moreau envelope of the risk.

        Parameters
        ----------
        multipliers : ndarray of shape (n, c), or None
            As ``MaxEnvelope.dual`` returns them; None stands for zeros.
        stiffness : float
            Positive; the larger it is, the closer the envelope is to the risk.

        Returns
        -------
        MaxEnvelope
        """
        return MaxEnvelope(self, multipliers, stiffness)


class MaxEnvelope(Envelope):
    """The Moreau envelope of a max form at ``scores + multipliers / stiffness``."""

    convex = True
    smooth = True

    def __init__(self, base: MaxRisk, multipliers: Array | None, stiffness: float) -> None:
        self.base = base
        # In units of u = (h_y - h_j) / rho_y, as for two classes.
        self.stiffness = (stiffness / base.margin**2).astype(base.weight.dtype)
        self.n_outputs = base.n_outputs
        self.null_direction = uniform_direction(base.n_outputs, base.weight.dtype)
        self._start = 0.0 if multipliers is None else multipliers / self.stiffness[:, None]

    def _proximal(self, scores: Array) -> tuple[Array, Array, Array]:
        """Return the proximal point, the slopes of the loss there, and the margins u."""
        shifted = scores + self._start
        base = self.base
        point, u = max_prox(base.surrogate, shifted, base.y, base.margin, self.stiffness)
        shifted -= point
        shifted *= self.stiffness[:, None]
        return point, shifted, u

    def value(self, scores: Array) -> float:
        return self.value_gradient(scores)[0]

    def value_gradient(self, scores: Array) -> tuple[float, Array]:
        _, slopes, u = self._proximal(scores)
        distance = np.einsum("ij,ij->i", slopes, slopes) / (2 * self.stiffness)
        value = weighted_mean(self.base.surrogate.value(u) + distance, self.base.weight)
        slopes *= self.base.weight[:, None]
        return value, slopes

    def curvature(self, scores: Array) -> MaxCurvature:
        base, rows = self.base, np.arange(self.base.y.size)
        _, slopes, u = self._proximal(scores)
        cut = slopes > 0
        cut[rows, base.y] = False
        size = np.maximum(cut.sum(axis=1), 1).astype(scores.dtype)
        mass = -slopes[rows, base.y] * base.margin
        between = (1 + 1 / size) / self.stiffness
        if base.surrogate.smooth:
            bend = base.surrogate.curvature(u) / base.margin**2
            bend = bend / (1 + bend * between)
        else:
            # At its kink the hinge keeps the margin fixed; elsewhere it is linear.
            bend = np.where((mass > 0) & (mass < 1 - 1e-12), 1 / between, 0)
        return MaxCurvature(
            cut.astype(scores.dtype), size, self.stiffness * base.weight, bend * base.weight, base.y
        )

    def dual(self, scores: Array) -> tuple[Array, Array, float]:
        """Return the multipliers at these scores and the dual value that belongs to them.

        Parameters
        ----------
        scores : ndarray of shape (n, c)
            Scores.

        Returns
        -------
        multipliers : ndarray of shape (n, c)
            The slopes of the losses at the proximal point, without sample weights.
        gradient : ndarray of shape (n, c)
            The weighted slopes.
        value : float
            Minus the conjugate of the risk at ``gradient``.
        """
        point, slopes, u = self._proximal(scores)
        conjugate = np.einsum("ij,ij->i", slopes, point) - self.base.surrogate.value(u)
        weighted = slopes * self.base.weight[:, None]
        return slopes, weighted, -weighted_mean(conjugate, self.base.weight)


@dataclass
class MaxCurvature(Curvature):
    """Hessians of the envelope of a max form.

    ``H_i = f_i (diag a_i - a_i a_i^T / k_i) + g_i b_i b_i^T``, where a_i marks the k_i scores
    that the proximal map cuts and ``b_i = u_y - a_i / k_i``, u unit vectors.
    """

    cut: Array  # (n, c), zeros and ones
    size: Array  # (n,) number of scores cut, at least 1
    spread_weight: Array  # f
    margin_weight: Array  # g
    y: Array

    def _b(self, j: int) -> Array:
        return np.asarray((self.y == j) - self.cut[:, j] / self.size)

    def block(self, a: int, b: int) -> Array:
        spread = self.cut[:, a] * (float(a == b) - self.cut[:, b] / self.size)
        along = self.margin_weight * self._b(a) * self._b(b)
        return np.asarray(self.spread_weight * spread + along)

    def diagonal(self) -> Array:
        spread = self.cut * (1 - 1 / self.size)[:, None] * self.spread_weight[:, None]
        b = self.cut / self.size[:, None]
        b[np.arange(self.y.size), self.y] = 1
        return np.asarray(spread + b**2 * self.margin_weight[:, None])

    def product(self, vectors: Array) -> Array:
        rows = np.arange(self.y.size)
        mean = np.einsum("ij,ij->i", self.cut, vectors) / self.size
        out = self.cut * (vectors - mean[:, None]) * self.spread_weight[:, None]
        along = self.margin_weight * (vectors[rows, self.y] - mean)
        out -= self.cut * (along / self.size)[:, None]
        out[rows, self.y] += along
        return np.asarray(out)

    def total(self) -> Array:
        c = self.cut.shape[1]
        spread = np.diag(self.spread_weight @ self.cut)
        spread -= (self.cut * (self.spread_weight / self.size)[:, None]).T @ self.cut
        b = -self.cut / self.size[:, None]
        b[np.arange(self.y.size), self.y] = 1
        return np.asarray(spread + (b * self.margin_weight[:, None]).T @ b).reshape(c, c)
