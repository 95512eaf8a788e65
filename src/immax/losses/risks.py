"""Empirical risks: weighted mean losses of a labelled sample as functions of its scores.

A risk holds everything about the sample but its features: labels, weights, margins. The
weights sum to one, so a risk is a weighted mean. Scores have shape (n, k): one column per
class, or a single column for two classes, the score of class 1 (the paper's h).

Smooth risks offer ``value_gradient`` and ``curvature``. Risks with kinks (the hinge, every
max form) offer ``value`` and ``envelope``, a smooth risk that the method of multipliers
minimises in their place. These are the interfaces; the risks are in ``margin_risks``,
``softmax_risks``, ``exponential_risks`` and ``max_risks``, and ``immax_risks`` chooses among
those of IMMAX.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import DTypeLike

from immax.arrays import Array
from immax.losses.curvatures import Curvature

__all__ = [
    "Envelope",
    "KinkedRisk",
    "Risk",
    "SampleRisk",
    "SmoothRisk",
    "uniform_direction",
    "weighted_mean",
]


class Risk(Protocol):
    """What every risk has, smooth or with kinks.

    Attributes
    ----------
    n_outputs : int
        The number of scores of a sample.
    smooth : bool
        Whether the risk is continuously differentiable.
    """

    n_outputs: int
    smooth: bool

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


class SmoothRisk(Risk, Protocol):
    """A continuously differentiable risk.

    Attributes
    ----------
    convex : bool
        Whether the risk is a convex function of the scores.
    null_direction : ndarray of shape (n_outputs,), or None
        The unit vector along which scores can move without changing the risk.
    """

    convex: bool
    null_direction: Array | None

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


class KinkedRisk(Risk, Protocol):
    """A convex risk with kinks."""

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
