"""The hinge in the max form with envelopes whose loops are compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from immax.arrays import Array, Features
from immax.losses.max_risks import MaxCurvature, MaxEnvelope, MaxRisk
from immax.losses.risks import weighted_mean
from immax.solvers.line_search import RayStep
from immax.threads import in_row_threads

__all__ = ["CompiledMaxCurvature", "CompiledMaxEnvelope", "CompiledMaxRisk"]

ENTRIES_PER_THREAD = 50_000  # fewer are not worth a thread
WIDEST = 128  # features beyond which a product of matrices is quicker than loops over samples


class CompiledMaxRisk(MaxRisk):
    """A ``MaxRisk`` of the hinge whose envelopes are computed by Numba.

    Parameters
    ----------
    base : MaxRisk
        The risk, with the hinge as its surrogate.
    """

    def __init__(self, base: MaxRisk) -> None:
        super().__init__(base.surrogate, base.y, base.rho, base.weight)

    def envelope(self, multipliers: Array | None, stiffness: float) -> CompiledMaxEnvelope:
        """Return the Moreau envelope of the risk.

        Parameters
        ----------
        multipliers : ndarray of shape (n, c), or None
            As ``CompiledMaxEnvelope.dual`` returns them; None stands for zeros.
        stiffness : float
            Positive; the larger it is, the closer the envelope is to the risk.

        Returns
        -------
        CompiledMaxEnvelope
        """
        return CompiledMaxEnvelope(self, multipliers, stiffness)


class CompiledMaxEnvelope(MaxEnvelope):
    """The envelope of the hinge, in a single pass over the scores."""

    def __init__(self, base: CompiledMaxRisk, multipliers: Array | None, stiffness: float) -> None:
        super().__init__(base, multipliers, stiffness)
        dtype = base.weight.dtype
        empty = np.empty((0, 0), dtype)
        self._begin = empty if multipliers is None else np.asarray(self._start, dtype)
        self._sample = (np.asarray(base.y, np.intp), base.margin, self.stiffness)

    def _arguments(self, scores: Array) -> tuple[Any, ...]:
        same_order = np.asfortranarray if _by_columns(scores) else np.ascontiguousarray
        return same_order(self._begin), *self._sample

    def _evaluate(
        self, scores: Array, weight: Array, ray: Array, length: float, moved: Array, slopes: Array
    ) -> tuple[float, float]:
        from immax.compiled.max_hinge import envelope_rows

        begin, *sample = self._arguments(scores)
        arrays = (scores, begin, *sample, weight, scores.dtype.type(length), ray, moved, slopes)
        parts = in_row_threads(envelope_rows, arrays, scores.shape, ENTRIES_PER_THREAD)
        return sum(part[0] for part in parts), sum(part[1] for part in parts)

    def value_gradient(self, scores: Array) -> tuple[float, Array]:
        gradient = np.empty_like(scores)
        weight = self.base.weight
        value, _ = self._evaluate(scores, weight, _nothing(scores), 0.0, scores, gradient)
        return value, gradient

    def along(
        self, scores: Array, ray: Array, length: float, moved: Array, residuals: Array
    ) -> RayStep:
        """Return the envelope and its gradient at ``scores + length * ray``.

        Parameters
        ----------
        scores, ray : ndarray of shape (n, c)
            Where the ray begins, and its direction.
        length : float
            The position on the ray.
        moved, residuals : ndarray of shape (n, c)
            Receive the scores there and the gradient.

        Returns
        -------
        RayStep
            With the two arrays.
        """
        value, derivative = self._evaluate(scores, self.base.weight, ray, length, moved, residuals)
        return RayStep(moved, residuals, value, derivative)

    def curvature(self, scores: Array) -> CompiledMaxCurvature:
        from immax.compiled.max_hinge import curvature_rows

        cut = np.empty_like(scores)
        size, spread, along = (np.empty(scores.shape[0], scores.dtype) for _ in range(3))
        arguments = (scores, *self._arguments(scores), cut, size, spread, along)
        curvature_rows(*arguments)
        weight = self.base.weight
        return CompiledMaxCurvature(cut, size, spread * weight, along * weight, self.base.y)

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
        base, n = self.base, scores.shape[0]
        slopes = np.empty_like(scores)
        ones = np.ones_like(base.weight)
        self._evaluate(scores, ones, _nothing(scores), 0.0, scores, slopes)
        # The hinge's conjugate is the margin times the slope in the score of the sample's class.
        mass = -slopes[np.arange(n), base.y] * base.margin
        return slopes, slopes * base.weight[:, None], weighted_mean(mass, base.weight)


def _nothing(scores: Array) -> Array:
    """Return an empty array of the same layout, for which nothing new has to be compiled."""
    return np.empty((0, 0), scores.dtype, order="F" if _by_columns(scores) else "C")


def _by_columns(scores: Array) -> bool:
    return bool(scores.flags.f_contiguous and not scores.flags.c_contiguous)


class CompiledMaxCurvature(MaxCurvature):
    """Hessians of a compiled envelope, which adds up those of the parameters by itself."""

    def of_parameters(self, X: Features, fit_intercept: bool) -> Array | None:
        """Return the Hessian in the parameters, if loops over samples are quick.

        Parameters
        ----------
        X : {ndarray, CSR matrix} of shape (n, d)
            Features.
        fit_intercept : bool
            Whether there are biases.

        Returns
        -------
        ndarray of shape (c, width, c, width), or None
            None for sparse and for many features.
        """
        if sparse.issparse(X) or X.shape[1] > WIDEST:
            return None
        from immax.compiled.max_hinge import add_hessians

        c, width = self.cut.shape[1], X.shape[1] + fit_intercept
        out = np.zeros((c, width, c, width))
        parts = (self.cut, self.size, self.spread_weight, self.margin_weight)
        add_hessians(np.ascontiguousarray(X), *parts, np.asarray(self.y, np.intp), out)
        return out
