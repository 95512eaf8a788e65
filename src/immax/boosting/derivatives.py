"""Derivatives of minus the loss, of a few samples or of one, as CatBoost uses them.

They come from compiled kernels, or without Numba from the NumPy kernel.
"""

from __future__ import annotations

import numpy as np

from immax.arrays import Array
from immax.boosting.pairs import (
    HESSIAN_FLOOR,
    class_columns,
    gradient_hessian,
    is_plain,
    two_class_columns,
)
from immax.compiled import has_numba
from immax.losses.softmax import SoftmaxKernel
from immax.losses.spec import LossSpec

__all__ = ["SampleDerivatives", "TwoClassDerivatives"]


class TwoClassDerivatives:
    """First and second derivatives of minus the loss of two classes with one score.

    Parameters
    ----------
    spec : LossSpec
        A method for two classes without random draws.
    """

    def __init__(self, spec: LossSpec) -> None:
        self._spec = spec
        self._columns = two_class_columns(spec)

    def __call__(self, scores: Array, y: Array, weight: Array | None) -> Array:
        """Return the derivatives of each sample, shape (n, 2)."""
        if not has_numba():
            pairs = gradient_hessian(self._spec, scores, y.astype(np.intp), weight)
            return -np.stack(pairs, axis=1).astype(np.float64)
        from immax.compiled.catboost import fill_derivatives

        out = np.empty((len(scores), 2))
        weights = np.empty(0, np.float32) if weight is None else weight
        focus = float(self._spec.focus)
        fill_derivatives(scores, y, weights, self._columns, focus, HESSIAN_FLOOR, out)
        return out


class SampleDerivatives:
    """Gradient and Hessian of minus the loss of one sample of several classes.

    Parameters
    ----------
    spec : LossSpec
        A method without random draws.
    """

    def __init__(self, spec: LossSpec) -> None:
        self._spec = spec
        self._columns, self._plain = class_columns(spec), is_plain(spec)
        self._focus, self._no_hessian = float(spec.focus), np.empty((0, 0))
        if has_numba():
            from immax.compiled.catboost import fill_sample

            self._compiled = fill_sample  # imported once: there is a call for every sample

    def gradient(self, scores: Array, target: int, weight: float) -> list[float]:
        """Return the gradient of a sample with this class index and weight."""
        if not has_numba():
            return (-weight * self._kernel(target).gradient(scores[None])[0]).tolist()
        out = np.empty(self._spec.n_classes)
        self._fill(scores, target, weight, out, self._no_hessian)
        return out.tolist()

    def hessian(self, scores: Array, target: int, weight: float) -> list[list[float]]:
        """Return the upper triangle of the Hessian, and zeros below it."""
        if not has_numba():
            total = self._kernel(target).curvature(scores[None]).total()
            return np.triu(-weight * total).tolist()
        c = self._spec.n_classes
        out = np.zeros((c, c))
        self._fill(scores, target, weight, np.empty(c), out)
        return out.tolist()

    def _kernel(self, target: int) -> SoftmaxKernel:
        return SoftmaxKernel(self._spec, np.array([target]))

    def _fill(
        self, scores: Array, target: int, weight: float, gradient: Array, hessian: Array
    ) -> None:
        self._compiled(
            scores[None], target, weight, self._columns, self._plain, self._focus, gradient, hessian
        )
