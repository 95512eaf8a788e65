"""The methods of the catalogue as risks, of c scores or for two classes of a single one."""

from __future__ import annotations

import numpy as np

from immax.arrays import Array
from immax.losses.curvatures import Curvature
from immax.losses.margin_risks import MarginRisk
from immax.losses.risks import SampleRisk
from immax.losses.softmax import SoftmaxKernel
from immax.losses.spec import LossSpec
from immax.losses.surrogates import focal, logistic

__all__ = ["SoftmaxRisk", "binary_risk"]


class SoftmaxRisk(SampleRisk):
    """The weighted mean of a ``LossSpec``'s losses, a function of c scores."""

    smooth = True

    def __init__(self, spec: LossSpec, y: Array, weight: Array, drop: Array | None) -> None:
        self.spec, self.y, self.weight, self.drop = spec, y, weight, drop
        self.n_outputs = spec.n_classes
        self.convex = spec.convex
        null = (1 / spec.scale).astype(weight.dtype)
        self.null_direction = null / np.linalg.norm(null)
        self._kernel = SoftmaxKernel(spec, y, drop, weight, dtype=weight.dtype)

    def value(self, scores: Array) -> float:
        return float(self._kernel.loss(scores).sum(dtype=np.float64))

    def value_gradient(self, scores: Array) -> tuple[float, Array]:
        loss, gradient = self._kernel.loss_gradient(scores)
        return float(loss.sum(dtype=np.float64)), gradient

    def curvature(self, scores: Array) -> Curvature:
        return self._kernel.curvature(scores)

    def of_rows(self, rows: slice) -> SoftmaxRisk:
        """Return the part of the risk that is due to some of the samples.

        Parameters
        ----------
        rows : slice
            The samples.

        Returns
        -------
        SoftmaxRisk
            The risk is the sum of those of its parts.
        """
        drop = None if self.drop is None else self.drop[rows]
        return SoftmaxRisk(self.spec, self.y[rows], self.weight[rows], drop)

    def residuals_in_place(self, scores: Array) -> float:
        """Replace the scores by the gradient of the risk, and return the risk.

        Parameters
        ----------
        scores : ndarray of shape (n, n_outputs)
            Scores by sample, in C order.

        Returns
        -------
        float
        """
        value, scores[:] = self.value_gradient(scores)
        return value

    def single(self) -> SoftmaxRisk:
        return SoftmaxRisk(self.spec, self.y, self.weight.astype(np.float32), self.drop)


def binary_risk(spec: LossSpec, y: Array, weight: Array, drop: Array | None) -> MarginRisk:
    """Return the risk of a catalogue method for two classes on the single score h.

    The scores of the classes are (-h/2, h/2). The logit of the target's probability is then
    linear in h, so every method is a logistic (or focal) loss of ``slope * h + shift``.

    Parameters
    ----------
    spec : LossSpec
        The method, for two classes.
    y : ndarray of int, shape (n,)
        Labels, 0 or 1.
    weight : ndarray of shape (n,)
        Weights that sum to one.
    drop : ndarray of bool, shape (n,), or None
        For which samples the droppable classes are left out.

    Returns
    -------
    MarginRisk
    """
    sign = np.where(y == 1, 1.0, -1.0)
    slope = sign * spec.scale.mean() / spec.temperature[y]
    shift = sign * (spec.offset[1] - spec.offset[0]) - spec.target_offset[y]
    factor = spec.weight[y]
    if drop is not None:
        # A sample without its only negative has probability one, and its loss is zero.
        factor = np.where(drop & spec.droppable[1 - y], 0, factor)
    return MarginRisk(
        logistic if spec.focus == 0 else focal(spec.focus),
        slope.astype(weight.dtype),
        shift.astype(weight.dtype),
        (weight * factor).astype(weight.dtype),
        convex=spec.convex,
    )
