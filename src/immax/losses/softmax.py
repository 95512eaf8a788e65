"""The softmax kernel of LossSpec in NumPy: value, gradient and curvature for a fixed sample.

Every method of the catalogue is evaluated here, and in compiled form in
``immax.compiled.softmax``. The target's exponential is kept apart from the others, so that
``1 - p`` and the target's gradient keep their relative precision when ``p`` is near one.

Scores may lie in memory by sample or by class; intermediate arrays follow their layout.
With few classes and many samples, by class (Fortran order) is several times faster.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from immax.arrays import Array
from immax.losses.focal import focal_curvature, focal_factor, focal_slope
from immax.losses.softmax_curvature import SoftmaxCurvature

if TYPE_CHECKING:
    from immax.losses.spec import LossSpec

__all__ = [
    "SoftmaxKernel",
    "adjust_for_every_target",
    "adjust_scores",
    "as_scores",
    "float_dtype",
]


def float_dtype(values: ArrayLike) -> type[np.float32] | type[np.float64]:
    """Return the precision that values are computed in.

    Parameters
    ----------
    values : array-like
        Any numbers.

    Returns
    -------
    type
        float32 for arrays of float32, and float64 for everything else.
    """
    return np.float32 if getattr(values, "dtype", None) == np.float32 else np.float64


def as_scores(
    scores: ArrayLike, shape: tuple[int, int], dtype: DTypeLike | None = None, name: str = "scores"
) -> Array:
    """Return scores as a floating-point array of the given shape.

    Parameters
    ----------
    scores : array-like
        The scores.
    shape : tuple of int
        Samples by classes.
    dtype : dtype, optional
        By default ``float_dtype(scores)``.
    name : str, default="scores"
        What the error message calls them.

    Returns
    -------
    ndarray of the given shape

    Raises
    ------
    ValueError
        If the shape is another one.
    """
    array: Array = np.asarray(scores, dtype=float_dtype(scores) if dtype is None else dtype)
    if array.shape != shape:
        raise ValueError(f"{name} must have shape {shape}, samples by classes; got {array.shape}")
    return array


def adjust_scores(
    scores: Array, slope: Array, scale: Array | None = None, offset: Array | None = None
) -> Array:
    """Return the adjusted scores ``z = scores * slope * scale + offset``, a new array.

    The offset of the target is not subtracted; the arguments are broadcast.

    Parameters
    ----------
    scores : ndarray
        The scores, with the classes along the last axis.
    slope : ndarray
        The inverse temperature of each sample's class.
    scale, offset : ndarrays of shape (c,), optional
        As in ``LossSpec``; one and zero by default.

    Returns
    -------
    ndarray
    """
    z = scores * slope
    if scale is not None:
        z *= scale
    if offset is not None:
        z += offset
    return np.asarray(z)


def adjust_for_every_target(scores: Array, spec: LossSpec) -> Array:
    """Return the adjusted scores of each sample for each class as its target.

    Parameters
    ----------
    scores : ndarray of shape (n, c)
        The scores.
    spec : LossSpec
        The method.

    Returns
    -------
    ndarray of shape (n, c, c)
        Entry (i, k, j) is the adjusted score of class j in a sample of class k.
    """
    slope, scale, offset, lowered = (
        column.astype(scores.dtype)
        for column in (1 / spec.temperature, spec.scale, spec.offset, spec.target_offset)
    )
    return adjust_scores(scores[:, None, :], slope[:, None], scale, offset) - np.diag(lowered)


@dataclass
class _Forward:
    """The intermediate arrays of a pass over the scores."""

    others: Array  # (n, c) exp(z - max z), zero at the target
    total: Array  # (n,) sum over the row, target included
    rest: Array  # (n,) 1 - p, where p is the target's probability
    nll: Array  # (n,) -log p


class SoftmaxKernel:
    """The loss of a labelled sample as a function of its scores.

    Parameters
    ----------
    spec : LossSpec
        The method.
    y : ndarray of int, shape (n,)
        Class indices.
    drop : ndarray of bool, shape (n,), optional
        Samples from whose negatives the droppable classes are left out.
    sample_weight : ndarray of shape (n,), optional
        Multiplies each sample's loss.
    dtype : dtype, default=float64
        The precision of the computation, to which scores are cast.
    """

    def __init__(
        self,
        spec: LossSpec,
        y: Array,
        drop: Array | None = None,
        sample_weight: Array | None = None,
        dtype: DTypeLike = np.float64,
    ) -> None:
        self.spec = spec
        self.y = np.asarray(y, dtype=np.intp)
        self.n_classes = spec.n_classes
        self.drop = drop
        self.dtype = dtype

        def cast(values: Array) -> Array:
            return values.astype(dtype, copy=False)

        self.weight = cast(spec.weight[self.y])
        if sample_weight is not None:
            self.weight = self.weight * cast(sample_weight)
        self.slope = cast((1 / spec.temperature)[self.y])
        self.target_offset = cast(spec.target_offset[self.y])
        self.scale = cast(spec.scale) if (spec.scale != 1).any() else None
        self.offset = cast(spec.offset) if spec.offset.any() else None

    @cached_property
    def _targets(self) -> tuple[Array, Array]:
        return np.arange(self.y.size), self.y

    @cached_property
    def _dropped(self) -> Array | None:
        if self.drop is None:
            return None
        dropped = self.drop[:, None] & self.spec.droppable[None, :]
        dropped[self._targets] = False
        return np.asarray(dropped)

    def _rows(self, values: ArrayLike, name: str = "scores") -> Array:
        return as_scores(values, (self.y.size, self.n_classes), self.dtype, name)

    def _forward(self, scores: ArrayLike, in_order: bool = False) -> _Forward:
        """Compute the softmax of the other classes.

        ``in_order`` sums a row in the same order whatever its label, so that equal scores have
        equal probabilities to the bit.
        """
        z = adjust_scores(self._rows(scores), self.slope[:, None], self.scale, self.offset)
        z_y = z[self._targets] - self.target_offset
        z[self._targets] = z_y
        if self._dropped is not None:
            z[self._dropped] = -np.inf
        top = z.max(axis=1)
        z -= top[:, None]
        np.exp(z, out=z)
        target = z[self._targets]
        total = z.sum(axis=1) if in_order else None
        z[self._targets] = 0
        rest = z.sum(axis=1)
        total = rest + target if total is None else total
        # total >= 1, and total - 1 is exactly `rest` when the target is on top.
        nll = (top - z_y) + np.log1p(rest - (1 - target))
        return _Forward(z, total, rest / total, nll)

    def loss(self, scores: ArrayLike) -> Array:
        """Return the loss of each sample.

        Parameters
        ----------
        scores : array-like of shape (n, c)
            Scores.

        Returns
        -------
        ndarray of shape (n,)

        Raises
        ------
        ValueError
            If the scores have another shape.
        """
        f = self._forward(scores)
        value = f.nll if self.spec.focus == 0 else focal_factor(f.rest, self.spec.focus) * f.nll
        return value * self.weight

    def gradient(self, scores: ArrayLike) -> Array:
        """Return the gradient of each sample's loss in its scores.

        Parameters
        ----------
        scores : array-like of shape (n, c)
            Scores.

        Returns
        -------
        ndarray of shape (n, c)

        Raises
        ------
        ValueError
            If the scores have another shape.
        """
        return self.loss_gradient(scores)[1]

    def loss_gradient(self, scores: ArrayLike) -> tuple[Array, Array]:
        """Return the loss of each sample and its gradient in the scores.

        Parameters
        ----------
        scores : array-like of shape (n, c)
            Scores.

        Returns
        -------
        loss : ndarray of shape (n,)
            The losses.
        gradient : ndarray of shape (n, c)
            Their gradients.

        Raises
        ------
        ValueError
            If the scores have another shape.
        """
        f = self._forward(scores)
        factor = self.weight * self.slope
        loss = f.nll * self.weight
        if self.spec.focus:
            factor = factor * focal_slope(f.nll, f.rest, self.spec.focus)
            loss = loss * focal_factor(f.rest, self.spec.focus)
        gradient = f.others
        gradient *= (factor / f.total)[:, None]
        gradient[self._targets] = -factor * f.rest
        if self.scale is not None:
            gradient *= self.scale
        return loss, gradient

    def gradient_diagonal(self, scores: ArrayLike) -> tuple[Array, Array]:
        """Return the gradient and the diagonal of the Hessian of each sample's loss.

        Parameters
        ----------
        scores : array-like of shape (n, c)
            Scores.

        Returns
        -------
        gradient, diagonal : ndarrays of shape (n, c)

        Raises
        ------
        ValueError
            If the scores have another shape.
        """
        f = self._forward(scores, in_order=True)
        q = f.others
        q /= f.total[:, None]
        q[self._targets] = f.rest
        steepness = self.weight * self.slope
        first, second = steepness, None
        if self.spec.focus:
            first = steepness * focal_slope(f.nll, f.rest, self.spec.focus)
            bend = focal_curvature(f.nll, f.rest, self.spec.focus)
            second = (steepness * self.slope * bend)[:, None] * q**2
        diagonal = q * (1 - q)
        diagonal *= (first * self.slope)[:, None]
        if second is not None:
            diagonal += second
        q *= first[:, None]
        q[self._targets] *= -1
        if self.scale is not None:
            q *= self.scale
            diagonal *= self.scale**2
        return q, diagonal

    def curvature(self, scores: ArrayLike) -> SoftmaxCurvature:
        """Return the Hessians of the samples' losses in their scores.

        Parameters
        ----------
        scores : array-like of shape (n, c)
            Scores.

        Returns
        -------
        SoftmaxCurvature

        Raises
        ------
        ValueError
            If the scores have another shape.
        """
        f = self._forward(scores)
        base = self.weight * self.slope**2
        probability = f.others
        probability /= f.total[:, None]
        probability[self._targets] = 1 - f.rest
        if self.spec.focus == 0:
            return SoftmaxCurvature(probability, base, self.scale)
        residual = probability.copy()
        residual[self._targets] = -f.rest
        return SoftmaxCurvature(
            probability,
            base * focal_slope(f.nll, f.rest, self.spec.focus),
            self.scale,
            residual,
            base * focal_curvature(f.nll, f.rest, self.spec.focus),
        )

    def hessian_product(self, scores: ArrayLike, vectors: ArrayLike) -> Array:
        """Multiply each sample's Hessian by a vector.

        Parameters
        ----------
        scores : array-like of shape (n, c)
            Scores.
        vectors : array-like of shape (n, c)
            A vector for each sample.

        Returns
        -------
        ndarray of shape (n, c)

        Raises
        ------
        ValueError
            If the scores or the vectors have another shape.
        """
        return self.curvature(scores).product(self._rows(vectors, "vectors"))
