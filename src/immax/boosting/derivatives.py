"""Derivatives of minus the loss, of a few samples or of one, as CatBoost uses them.

They come from compiled kernels, or without Numba from the NumPy kernel.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from immax.arrays import Array
from immax.boosting.pairs import (
    HESSIAN_FLOOR,
    class_columns,
    gradient_hessian,
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
        self._size = spec.n_classes
        focus = np.full((1, spec.n_classes), float(spec.focus))
        self._table = np.concatenate([class_columns(spec), focus])
        self._fill: Callable[..., None] | None = None  # looked up once: called for every sample
        if has_numba():
            from immax.compiled.catboost import fill_sample

            self._fill = fill_sample

    def gradient(self, scores: Array, target: int, weight: float) -> list[float]:
        """Return the gradient of minus the loss of a sample.

        Parameters
        ----------
        scores : ndarray of shape (c,)
            The scores of the sample.
        target : int
            Its class index.
        weight : float
            Its weight.

        Returns
        -------
        list of float
        """
        if self._fill is None:
            return (-weight * self._kernel(target).gradient(scores[None])[0]).tolist()
        out = np.empty((1, self._size))
        self._fill(scores, target, weight, self._table, out)
        gradient: list[float] = out.tolist()[0]
        return gradient

    def gradient_hessian(
        self, scores: Array, target: int, weight: float
    ) -> tuple[list[float], list[list[float]]]:
        """Return the gradient and the upper triangle of the Hessian of minus the loss of a sample.

        Parameters
        ----------
        scores : ndarray of shape (c,)
            The scores of the sample.
        target : int
            Its class index.
        weight : float
            Its weight.

        Returns
        -------
        gradient : list of float
        hessian : list of list of float
            All rows, with zeros below the diagonal.
        """
        if self._fill is None:
            total = self._kernel(target).curvature(scores[None]).total()
            hessian = np.triu(-weight * total).tolist()
            return self.gradient(scores, target, weight), hessian
        out = np.zeros((1 + self._size, self._size))
        self._fill(scores, target, weight, self._table, out)
        gradient, *hessian = out.tolist()
        return gradient, hessian

    def _kernel(self, target: int) -> SoftmaxKernel:
        return SoftmaxKernel(self._spec, np.array([target]))
