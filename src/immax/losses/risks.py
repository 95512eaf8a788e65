"""Empirical risks: weighted mean losses of a labelled sample as functions of its scores.

A risk holds everything about the sample but its features: labels, weights, margins. The
weights sum to one, so a risk is a weighted mean. Scores have shape (n, k): one column per
class, or a single column for two classes, the score of class 1 (the paper's h).

Smooth risks offer ``value_gradient`` and ``curvature``. Risks with kinks (the hinge, every
max form) offer ``value`` and ``envelope``, a smooth risk that the method of multipliers
minimises in their place. Here are the protocols, the risks of a single score and those of the
catalogue's methods; IMMAX's other forms are in ``exponential_risks`` and ``max_risks``, and
``immax_risks`` chooses among them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import DTypeLike

from immax.arrays import Array
from immax.losses.softmax import SoftmaxKernel
from immax.losses.spec import LossSpec
from immax.losses.surrogates import Surrogate, focal, logistic, smoothed_hinge

__all__ = [
    "Curvature",
    "DiagonalCurvature",
    "Envelope",
    "KinkedRisk",
    "MarginEnvelope",
    "MarginRisk",
    "SampleRisk",
    "SmoothRisk",
    "SoftmaxRisk",
    "binary_risk",
    "uniform_direction",
    "weighted_mean",
]

BLOCK_ROWS = 8192


class Curvature(Protocol):
    """Hessians of a sample's weighted losses in its scores, one k×k matrix per sample."""

    def block(self, a: int, b: int) -> Array:
        """Return one entry of every sample's Hessian.

        Parameters
        ----------
        a, b : int
            The row and the column of the entry.

        Returns
        -------
        ndarray of shape (n,)
        """

    def diagonal(self) -> Array:
        """Return the diagonal of every sample's Hessian.

        Returns
        -------
        ndarray of shape (n, k)
        """

    def product(self, vectors: Array) -> Array:
        """Multiply every sample's Hessian by a vector.

        Parameters
        ----------
        vectors : ndarray of shape (n, k)
            A vector for each sample.

        Returns
        -------
        ndarray of shape (n, k)
        """

    def total(self) -> Array:
        """Return the sum of the samples' Hessians.

        Returns
        -------
        ndarray of shape (k, k)
            The Hessian in the biases.
        """


class SmoothRisk(Protocol):
    """A continuously differentiable risk.

    ``null_direction`` is the unit vector in class space along which scores can move
    without changing the risk, or None.
    """

    @property
    def n_outputs(self) -> int:
        """The number of scores of a sample."""

    @property
    def convex(self) -> bool:
        """Whether the risk is a convex function of the scores."""

    @property
    def smooth(self) -> bool:
        """Whether the risk is continuously differentiable."""

    @property
    def null_direction(self) -> Array | None:
        """The unit vector along which scores can move without changing the risk, or None."""

    def value(self, scores: Array) -> float:
        """Return the risk of these scores.

        Parameters
        ----------
        scores : ndarray of shape (n, n_outputs)
            Scores.

        Returns
        -------
        float
        """

    def value_gradient(self, scores: Array) -> tuple[float, Array]:
        """Return the risk of these scores and its gradient.

        Parameters
        ----------
        scores : ndarray of shape (n, n_outputs)
            Scores.

        Returns
        -------
        value : float
            The risk.
        gradient : ndarray of shape (n, n_outputs)
            The gradient in the scores.
        """

    def curvature(self, scores: Array) -> Curvature:
        """Return the Hessians of the weighted losses in the scores.

        Parameters
        ----------
        scores : ndarray of shape (n, n_outputs)
            Scores.

        Returns
        -------
        Curvature
        """


class SampleRisk(SmoothRisk, Protocol):
    """A smooth risk of a sample that can be converted to single precision."""

    def single(self) -> SampleRisk:
        """Return the same risk with weights of single precision.

        Returns
        -------
        SampleRisk
        """


class Envelope(SmoothRisk, Protocol):
    """A smooth stand-in for a risk with kinks, at given multipliers and stiffness."""

    def dual(self, scores: Array) -> tuple[Array, Array, float]:
        """Return the multipliers at these scores and the dual value that belongs to them.

        Parameters
        ----------
        scores : ndarray of shape (n, n_outputs)
            Scores.

        Returns
        -------
        multipliers : ndarray of shape (n,) or (n, n_outputs)
            The slopes of the losses, without sample weights.
        gradient : ndarray of shape (n, n_outputs)
            The weighted slopes in the scores.
        value : float
            Minus the conjugate of the risk at ``gradient``.
        """


class KinkedRisk(Protocol):
    """A convex risk with kinks."""

    @property
    def n_outputs(self) -> int:
        """The number of scores of a sample."""

    @property
    def smooth(self) -> bool:
        """Whether the risk is continuously differentiable."""

    def value(self, scores: Array) -> float:
        """Return the risk of these scores.

        Parameters
        ----------
        scores : ndarray of shape (n, n_outputs)
            Scores.

        Returns
        -------
        float
        """

    def envelope(self, multipliers: Array | None, stiffness: float) -> Envelope:
        """Return a smooth approximation of the risk.

        Parameters
        ----------
        multipliers : ndarray or None
            As ``Envelope.dual`` returns them; None stands for zeros.
        stiffness : float
            Positive; the larger it is, the closer the envelope is to the risk.

        Returns
        -------
        Envelope
        """


def weighted_mean(losses: Array, weight: Array) -> float:
    """Return the mean of the losses by weights that sum to one, in double precision.

    Parameters
    ----------
    losses, weight : ndarray of shape (n,)
        The losses of the samples, and their weights.

    Returns
    -------
    float
    """
    return float(
        np.dot(losses.astype(np.float64, copy=False), weight.astype(np.float64, copy=False))
    )


def uniform_direction(n_classes: int, dtype: DTypeLike) -> Array:
    """Return the unit vector that moves the scores of all classes alike.

    Parameters
    ----------
    n_classes : int
        The number of scores.
    dtype : dtype
        The vector's data type.

    Returns
    -------
    ndarray of shape (n_classes,)
    """
    return np.full(n_classes, n_classes**-0.5, dtype=dtype)


@dataclass
class DiagonalCurvature:
    """The curvature of a single score, or of scores that do not interact: (n, k)."""

    entries: Array

    def block(self, a: int, b: int) -> Array:
        """Return one entry of every sample's Hessian.

        Parameters
        ----------
        a, b : int
            The row and the column of the entry.

        Returns
        -------
        ndarray of shape (n,)
        """
        return self.entries[:, a] if a == b else np.zeros_like(self.entries[:, a])

    def diagonal(self) -> Array:
        """Return the diagonal of every sample's Hessian.

        Returns
        -------
        ndarray of shape (n, k)
        """
        return self.entries

    def product(self, vectors: Array) -> Array:
        """Multiply every sample's Hessian by a vector.

        Parameters
        ----------
        vectors : ndarray of shape (n, k)
            A vector for each sample.

        Returns
        -------
        ndarray of shape (n, k)
        """
        return np.asarray(self.entries * vectors)

    def total(self) -> Array:
        """Return the sum of the samples' Hessians.

        Returns
        -------
        ndarray of shape (k, k)
            The Hessian in the biases.
        """
        return np.diag(self.entries.sum(axis=0))


@dataclass
class MarginRisk:
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

    @property
    def smooth(self) -> bool:
        """Whether the risk is continuously differentiable."""
        return self.surrogate.smooth

    def _blocks(self) -> list[slice]:
        """Return blocks of rows whose temporary arrays stay in the cache."""
        return [slice(i, i + BLOCK_ROWS) for i in range(0, self.weight.size, BLOCK_ROWS)]

    def _margins(self, scores: Array, rows: slice) -> Array:
        margins = self.slope[rows] * scores[rows, 0]
        margins += self.shift[rows]
        return np.asarray(margins)

    def value(self, scores: Array) -> float:
        """Return the risk of these scores.

        Parameters
        ----------
        scores : ndarray of shape (n, 1)
            Scores of class 1.

        Returns
        -------
        float
        """
        return self.value_gradient(scores)[0]

    def value_gradient(self, scores: Array) -> tuple[float, Array]:
        """Return the risk of these scores and its gradient.

        Parameters
        ----------
        scores : ndarray of shape (n, 1)
            Scores of class 1.

        Returns
        -------
        value : float
            The risk.
        gradient : ndarray of shape (n, 1)
            The gradient in the scores.
        """
        value, gradient = 0.0, np.empty_like(scores)
        for rows in self._blocks():
            losses, slope = self.surrogate.value_slope(self._margins(scores, rows))
            value += weighted_mean(losses, self.weight[rows])
            slope *= self.weight[rows]
            np.multiply(slope, self.slope[rows], out=gradient[rows, 0])
        return value, gradient

    def curvature(self, scores: Array) -> DiagonalCurvature:
        """Return the second derivatives of the weighted losses in the scores.

        Parameters
        ----------
        scores : ndarray of shape (n, 1)
            Scores of class 1.

        Returns
        -------
        DiagonalCurvature
        """
        entries = np.empty_like(scores)
        for rows in self._blocks():
            bend = self.surrogate.curvature(self._margins(scores, rows))
            bend *= self.weight[rows]
            np.multiply(bend, self.slope[rows] ** 2, out=entries[rows, 0])
        return DiagonalCurvature(entries)

    def single(self) -> MarginRisk:
        """Return the same risk with arrays of single precision.

        Returns
        -------
        MarginRisk
        """
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


class MarginEnvelope(MarginRisk):
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


class SoftmaxRisk:
    """The weighted mean of a ``LossSpec``'s losses, a function of c scores."""

    smooth = True

    def __init__(self, spec: LossSpec, y: Array, weight: Array, drop: Array | None) -> None:
        self.spec, self.y, self.weight, self.drop = spec, y, weight, drop
        self.n_outputs = spec.n_classes
        self.convex = spec.convex
        null = (1 / spec.scale).astype(weight.dtype)
        self.null_direction: Array | None = null / np.linalg.norm(null)
        self._kernel = SoftmaxKernel(spec, y, drop, weight, dtype=weight.dtype)

    def value(self, scores: Array) -> float:
        """Return the risk of these scores.

        Parameters
        ----------
        scores : ndarray of shape (n, c)
            Scores.

        Returns
        -------
        float
        """
        return float(self._kernel.loss(scores).sum(dtype=np.float64))

    def value_gradient(self, scores: Array) -> tuple[float, Array]:
        """Return the risk of these scores and its gradient.

        Parameters
        ----------
        scores : ndarray of shape (n, c)
            Scores.

        Returns
        -------
        value : float
            The risk.
        gradient : ndarray of shape (n, c)
            The gradient in the scores.
        """
        loss, gradient = self._kernel.loss_gradient(scores)
        return float(loss.sum(dtype=np.float64)), gradient

    def curvature(self, scores: Array) -> Curvature:
        """Return the Hessians of the weighted losses in the scores.

        Parameters
        ----------
        scores : ndarray of shape (n, c)
            Scores.

        Returns
        -------
        SoftmaxCurvature
        """
        return self._kernel.curvature(scores)

    def single(self) -> SoftmaxRisk:
        """Return the same risk with weights of single precision.

        Returns
        -------
        SoftmaxRisk
        """
        return SoftmaxRisk(self.spec, self.y, self.weight.astype(np.float32), self.drop)
