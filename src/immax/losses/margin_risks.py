"""Risks of two classes as functions of a single score, that of class 1 (the paper's h)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from immax.arrays import Array
from immax.losses.curvatures import DiagonalCurvature
from immax.losses.risks import Envelope, KinkedRisk, SampleRisk, weighted_mean
from immax.losses.surrogates import Surrogate, smoothed_hinge

__all__ = ["MarginEnvelope", "MarginRisk"]

BLOCK_ROWS = 8192


@dataclass
class MarginRisk(SampleRisk, KinkedRisk):
    """Two classes: ``sum_i weight_i Psi(slope_i h_i + shift_i)`` of a single score.

    For IMMAX, slope is ``1 / rho_1`` on class 1 and ``-1 / rho_0`` on class 0, and shift is zero.
    """

    surrogate: Surrogate
    slope: Array
    shift: Array
    weight: Array
    convex: bool = True
    n_outputs: int = 1
    null_direction: Array | None = None

    def __post_init__(self) -> None:
        self.smooth = self.surrogate.smooth

    def _blocks(self) -> list[slice]:
        """Return blocks of rows whose temporary arrays stay in the cache."""
        return [slice(i, i + BLOCK_ROWS) for i in range(0, self.weight.size, BLOCK_ROWS)]

    def _margins(self, scores: Array, rows: slice) -> Array:
        margins = self.slope[rows] * scores[rows, 0]
        margins += self.shift[rows]
        return np.asarray(margins)

    def value(self, scores: Array) -> float:
        return self.value_gradient(scores)[0]

    def value_gradient(self, scores: Array) -> tuple[float, Array]:
        value, gradient = 0.0, np.empty_like(scores)
        for rows in self._blocks():
            losses, slope = self.surrogate.value_slope(self._margins(scores, rows))
            value += weighted_mean(losses, self.weight[rows])
            slope *= self.weight[rows]
            np.multiply(slope, self.slope[rows], out=gradient[rows, 0])
        return value, gradient

    def curvature(self, scores: Array) -> DiagonalCurvature:
        entries = np.empty_like(scores)
        for rows in self._blocks():
            bend = self.surrogate.curvature(self._margins(scores, rows))
            bend *= self.weight[rows]
            np.multiply(bend, self.slope[rows] ** 2, out=entries[rows, 0])
        return DiagonalCurvature(entries)

    def single(self) -> MarginRisk:
        slope, shift, weight = (
            part.astype(np.float32) for part in (self.slope, self.shift, self.weight)
        )
        return MarginRisk(self.surrogate, slope, shift, weight, self.convex)

    def every(self, step: int) -> MarginRisk:
        """Return the risk of every ``step``-th sample.

        Parameters
        ----------
        step : int
            The distance between two samples; 1 keeps them all.

        Returns
        -------
        MarginRisk
            Its weights are scaled to a sum of one.
        """
        slope, shift, weight = (
            np.ascontiguousarray(part[::step]) for part in (self.slope, self.shift, self.weight)
        )
        return MarginRisk(self.surrogate, slope, shift, weight / weight.sum(), self.convex)

    def envelope(self, multipliers: Array | None, stiffness: float) -> MarginEnvelope:
        """Return the augmented Lagrangian of the hinge.

        Parameters
        ----------
        multipliers : ndarray of shape (n,), or None
            The slopes of the hinge, in [-1, 0]; None stands for zeros.
        stiffness : float
            Positive; the kink is smoothed over a width of ``1 / stiffness``.

        Returns
        -------
        MarginEnvelope
        """
        return MarginEnvelope(self, multipliers, stiffness)


class MarginEnvelope(MarginRisk, Envelope):
    """A smoothed hinge whose shifts carry the multipliers (up to a constant)."""

    def __init__(self, base: MarginRisk, multipliers: Array | None, stiffness: float) -> None:
        carried = 0.0 if multipliers is None else multipliers / stiffness
        surrogate = smoothed_hinge(1 / stiffness)
        super().__init__(surrogate, base.slope, base.shift + carried, base.weight)
        self._base = base

    def dual(self, scores: Array) -> tuple[Array, Array, float]:
        """Return the multipliers at these scores and the dual value that belongs to them.

        Parameters
        ----------
        scores : ndarray of shape (n, 1)
            Scores of class 1.

        Returns
        -------
        multipliers : ndarray of shape (n,)
            The slopes of the smoothed hinge, in [-1, 0].
        gradient : ndarray of shape (n, 1)
            The weighted slopes in the scores.
        value : float
            Minus the conjugate of the hinge's risk at ``gradient``.
        """
        multipliers = self.surrogate.slope(self._margins(scores, slice(None)))
        # The hinge's conjugate is the identity on [-1, 0].
        value = weighted_mean(multipliers * (self._base.shift - 1), self.weight)
        return multipliers, (multipliers * self.slope * self.weight)[:, None], value
