"""The NumPy kernel of LossSpec: value, gradient and curvature for a fixed sample.

Every method of the catalogue is evaluated here and nowhere else. The target's
exponential is kept apart from the others, so that ``1 - p`` and the target's gradient
keep their relative precision when ``p`` is near one.

Scores may lie in memory by sample or by class; intermediate arrays follow their layout.
With few classes and many samples, by class (Fortran order) is several times faster.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from immax.arrays import Array

if TYPE_CHECKING:
    from immax.losses.spec import LossSpec

__all__ = ["SoftmaxCurvature", "SoftmaxKernel", "as_scores", "focal_curvature", "focal_slope"]


def float_dtype(values: ArrayLike) -> Any:
    """float32 for float32, and float64 for everything else."""
    return np.float32 if getattr(values, "dtype", None) == np.float32 else np.float64


def as_scores(scores: ArrayLike, shape: tuple[int, int], dtype: Any = None) -> Array:
    """Return ``scores`` as a floating-point array of the given shape."""
    array = np.asarray(scores, dtype=float_dtype(scores) if dtype is None else dtype)
    if array.shape != shape:
        raise ValueError(f"scores must have shape {shape}, samples by classes; got {array.shape}")
    return array


def focal_slope(nll: Array, rest: Array, focus: float) -> Array:
    """Derivative of ``rest^focus * nll`` in nll, where ``rest = 1 - e^-nll``."""
    # nll / rest tends to 1 as rest -> 0, so that rest^focus can be taken out.
    ratio = np.divide(nll, rest, out=np.ones_like(nll), where=rest > 0)
    return np.asarray(rest**focus * (1 + focus * (1 - rest) * ratio))


def focal_curvature(nll: Array, rest: Array, focus: float) -> Array:
    """Second derivative of ``rest^focus * nll`` in nll, where ``rest = 1 - e^-nll``."""
    p, q = 1 - rest, np.maximum(rest, np.finfo(rest.dtype).tiny)
    ratio = np.divide(nll, rest, out=np.ones_like(nll), where=rest > 0)
    return np.asarray(focus * q ** (focus - 1) * p * (2 + (focus - 1) * p * ratio - nll))


@dataclass
class _Forward:
    """What a pass over the scores leaves behind."""

    others: Array  # (n, c) exp(z - max z), zero at the target
    total: Array  # (n,) sum over the row, target included
    rest: Array  # (n,) 1 - p, where p is the target's probability
    nll: Array  # (n,) -log p


class SoftmaxKernel:
    """The loss of one labelled sample, as a function of its scores.

    Parameters
    ----------
    spec : LossSpec
    y : ndarray of int, shape (n,)
    drop : ndarray of bool, shape (n,), optional
        Where the droppable classes are left out of the negatives.
    sample_weight : ndarray of shape (n,), optional
        Multiplies each sample's loss.
    dtype : dtype
        In which all is computed; scores are cast to it.
    """

    def __init__(
        self,
        spec: LossSpec,
        y: Array,
        drop: Array | None = None,
        sample_weight: Array | None = None,
        dtype: Any = np.float64,
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

    def _rows(self, values: ArrayLike) -> Array:
        return as_scores(values, (self.y.size, self.n_classes), self.dtype)

    def _forward(self, scores: ArrayLike, in_order: bool = False) -> _Forward:
        """``in_order`` sums a row the same way whatever its label, so that equal scores have equal
        probabilities to the bit.
        """
        z = self._rows(scores) * self.slope[:, None]
        if self.scale is not None:
            z *= self.scale
        if self.offset is not None:
            z += self.offset
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
        f = self._forward(scores)
        value = f.nll if self.spec.focus == 0 else f.rest**self.spec.focus * f.nll
        return value * self.weight

    def gradient(self, scores: ArrayLike) -> Array:
        return self.loss_gradient(scores)[1]

    def loss_gradient(self, scores: ArrayLike) -> tuple[Array, Array]:
        """Loss, shape (n,), and its gradient in the scores, shape (n, c)."""
        f = self._forward(scores)
        factor = self.weight * self.slope
        loss = f.nll * self.weight
        if self.spec.focus:
            factor = factor * focal_slope(f.nll, f.rest, self.spec.focus)
            loss = loss * f.rest**self.spec.focus
        gradient = f.others
        gradient *= (factor / f.total)[:, None]
        gradient[self._targets] = -factor * f.rest
        if self.scale is not None:
            gradient *= self.scale
        return loss, gradient

    def gradient_diagonal(self, scores: ArrayLike) -> tuple[Array, Array]:
        """The gradient and the diagonal of the Hessian, each of shape (n, c), in one pass."""
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
        return self.curvature(scores).product(self._rows(vectors))


@dataclass
class SoftmaxCurvature:
    """Hessians of a sample in its scores: one c×c matrix per sample, never formed.

    ``H_i = S [f_i (diag p_i - p_i p_i^T) + g_i r_i r_i^T] S`` with ``S = diag(scale)`` and
    ``r_i`` the softmax residual; the second term only with a focal exponent.
    """

    probability: Array
    weight: Array
    scale: Array | None = None
    residual: Array | None = None
    residual_weight: Array | None = None

    def block(self, a: int, b: int) -> Array:
        """Entry (a, b) of every sample's Hessian, shape (n,)."""
        p = self.probability
        entry = (1 - p[:, a] if a == b else -p[:, b]) * p[:, a] * self.weight
        if self.residual is not None:
            entry += self.residual[:, a] * self.residual[:, b] * self.residual_weight
        return np.asarray(entry if self.scale is None else entry * (self.scale[a] * self.scale[b]))

    def diagonal(self) -> Array:
        """Diagonal of every sample's Hessian, shape (n, c)."""
        diagonal = self.probability * (1 - self.probability)
        diagonal *= self.weight[:, None]
        if self.residual is not None and self.residual_weight is not None:
            diagonal += self.residual**2 * self.residual_weight[:, None]
        return np.asarray(diagonal if self.scale is None else diagonal * self.scale**2)

    def product(self, vectors: Array) -> Array:
        """Every sample's Hessian times its row of ``vectors``, shape (n, c)."""
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
        """Sum over the samples of their Hessians, shape (c, c): the Hessian of the biases."""
        p = self.probability
        total = np.diag(self.weight @ p) - (p * self.weight[:, None]).T @ p
        if self.residual is not None and self.residual_weight is not None:
            total += (self.residual * self.residual_weight[:, None]).T @ self.residual
        return np.asarray(total if self.scale is None else total * np.outer(self.scale, self.scale))
