"""The surrogates Psi of the margin loss, their slopes, and the multi-class max form.

All are non-increasing and convex. Logarithms are natural: the paper's ``log_2(1 + e^-u)``
is the logistic surrogate here divided by ``log 2``, which only rescales lambda.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from immax.arrays import Array
from immax.class_vectors import class_vector
from immax.losses.focal import focal_curvature, focal_factor, focal_slope
from immax.losses.softmax import as_scores, float_dtype

__all__ = [
    "SURROGATES",
    "Surrogate",
    "exponential",
    "focal",
    "hinge",
    "logistic",
    "max_form",
    "runner_up",
    "smoothed_hinge",
    "softplus",
]


def softplus(u: Array) -> Array:
    """Return ``log(1 + e^u)`` without overflow.

    Parameters
    ----------
    u : ndarray
        Any finite numbers.

    Returns
    -------
    ndarray
        Of the same shape.
    """
    return np.asarray(np.maximum(u, 0) + np.log1p(_exp_of_minus_abs(u)))


@dataclass(frozen=True)
class Surrogate:
    """A convex, non-increasing function of the margin, with its derivatives.

    Parameters
    ----------
    name : str
        The surrogate's name.
    value_slope : callable
        ``u -> (Psi(u), Psi'(u))``; at a kink, the slope on its right.
    curvature : callable
        ``u -> Psi''(u)`` where it exists, and 0 at a kink.
    smooth : bool, default=True
        Whether the slope is continuous.
    """

    name: str
    value_slope: Callable[[Array], tuple[Array, Array]]
    curvature: Callable[[Array], Array]
    smooth: bool = True

    def value(self, u: ArrayLike) -> Array:
        """Return the surrogate, ``Psi(u)``.

        Parameters
        ----------
        u : array-like
            Margins.

        Returns
        -------
        ndarray of the shape of u
        """
        return self.value_slope(np.asarray(u, float_dtype(u)))[0]

    def slope(self, u: ArrayLike) -> Array:
        """Return the derivative of the surrogate, ``Psi'(u)``.

        Parameters
        ----------
        u : array-like
            Margins.

        Returns
        -------
        ndarray of the shape of u
            At a kink, the slope on its right.
        """
        return self.value_slope(np.asarray(u, float_dtype(u)))[1]


def _logistic(u: Array) -> tuple[Array, Array]:
    small = _exp_of_minus_abs(u)
    whole = 1 + small
    value = np.asarray(np.log(whole))
    # The rounding error of 1 + small: with it log is as precise as log1p, and three times as fast.
    value += (small - (whole - 1)) / whole
    value -= np.minimum(u, 0)
    slope = np.where(u > 0, small, 1)
    slope /= -whole
    return value, slope


def _logistic_curvature(u: Array) -> Array:
    small = _exp_of_minus_abs(u)
    return np.asarray(small / (1 + small) ** 2)


def _exp_of_minus_abs(u: Array) -> Array:
    out = np.atleast_1d(np.abs(u))
    np.negative(out, out=out)
    return np.asarray(np.exp(out, out=out)).reshape(u.shape)


def _hinge(u: Array) -> tuple[Array, Array]:
    return np.maximum(1 - u, 0), np.where(u < 1, -1, 0).astype(u.dtype, copy=False)


def _exponential(u: Array) -> tuple[Array, Array]:
    with np.errstate(over="ignore"):
        value = np.exp(-u)
    return value, -value


logistic = Surrogate("logistic", _logistic, _logistic_curvature)
"""``log(1 + e^-u)``."""

hinge = Surrogate("hinge", _hinge, np.zeros_like, smooth=False)
"""``max(0, 1 - u)``."""

exponential = Surrogate("exponential", _exponential, lambda u: _exponential(u)[0])
"""``e^-u``."""


def smoothed_hinge(width: float = 1.0) -> Surrogate:
    """Return the hinge with its kink replaced by a parabola on ``1 - width < u < 1``.

    ``0`` for ``u >= 1``, ``(1 - u)^2 / (2 width)`` between, ``1 - u - width / 2`` below:
    the hinge's Moreau envelope, within ``width / 2`` of it.

    Parameters
    ----------
    width : float, default=1.0
        The width of the parabola, positive.

    Returns
    -------
    Surrogate

    Raises
    ------
    ValueError
        If the width is not positive and finite.

    Examples
    --------
    >>> float(smoothed_hinge(1.0).value(0.5))
    0.125
    """
    if not (np.isfinite(width) and width > 0):
        raise ValueError(f"width must be a positive number; got {width!r}")

    def value_slope(u: Array) -> tuple[Array, Array]:
        short = 1 - u
        inside = np.minimum(np.maximum(short / width, 0), 1)  # np.clip takes longer to call
        short -= inside * (width / 2)
        return inside * short, -inside

    def curvature(u: Array) -> Array:
        inside = (u < 1) & (u > 1 - width)
        return np.where(inside, 1 / width, 0).astype(u.dtype, copy=False)

    return Surrogate(f"smoothed hinge of width {width:g}", value_slope, curvature)


def focal(focus: float) -> Surrogate:
    """Return the focal loss of two classes, ``(1 - p)^focus (-log p)`` with ``p = 1 / (1 + e^-u)``.

    Above 0 it is not convex.

    Parameters
    ----------
    focus : float
        The focal exponent, not negative.

    Returns
    -------
    Surrogate
    """

    def value_slope(u: Array) -> tuple[Array, Array]:
        nll, derivative = _logistic(u)
        rest = -derivative
        return focal_factor(rest, focus) * nll, focal_slope(nll, rest, focus) * derivative

    def curvature(u: Array) -> Array:
        nll, derivative = _logistic(u)
        rest = -derivative
        outer = focal_curvature(nll, rest, focus) * rest**2
        return np.asarray(outer + focal_slope(nll, rest, focus) * rest * (1 - rest))

    return Surrogate(f"focal of exponent {focus:g}", value_slope, curvature)


SURROGATES: Mapping[str, Surrogate] = MappingProxyType(
    {s.name: s for s in (logistic, hinge, exponential)}
)
"""The paper's three surrogates by name."""


def runner_up(scores: Array, y: Array) -> tuple[Array, Array]:
    """Return the best-scored class other than y, and its score.

    Parameters
    ----------
    scores : ndarray of shape (n, c)
        The scores.
    y : ndarray of int, shape (n,)
        Class indices.

    Returns
    -------
    rival : ndarray of int, shape (n,)
        The highest index on a tie.
    best : ndarray of shape (n,)
        The rival's scores.
    """
    rows = np.arange(y.size)
    others = scores.copy()
    others[rows, y] = -np.inf
    rival = scores.shape[1] - 1 - np.argmax(others[:, ::-1], axis=1)
    return rival, scores[rows, rival]


def max_form(
    surrogate: Surrogate, scores: ArrayLike, y: ArrayLike, rho: ArrayLike
) -> tuple[Array, Array]:
    """Return ``max_{j != y} Psi((h_y - h_j) / rho_y)`` per sample, and a subgradient.

    Psi does not increase, so the maximum is at the best-scored other class.

    Parameters
    ----------
    surrogate : Surrogate
        Psi.
    scores : array-like of shape (n, c)
        The scores h.
    y : array-like of int, shape (n,)
        Labels from 0 to c-1.
    rho : array-like of shape (c,)
        The margins, positive.

    Returns
    -------
    loss : ndarray of shape (n,)
    subgradient : ndarray of shape (n, c)
        In the scores.

    References
    ----------
    *Balancing the Scales*, section "Extension to Multi-Class Classification".

    Examples
    --------
    >>> loss, _ = max_form(hinge, [[2.0, 0.5, 1.5]], [0], [1.0, 1.0, 1.0])
    >>> loss
    array([0.5])
    """
    margins = class_vector(rho, "rho")
    labels = np.asarray(y)
    h = as_scores(scores, (labels.size, margins.size))
    rows = np.arange(labels.size)
    slope = (1 / margins)[labels].astype(h.dtype, copy=False)
    rival, best = runner_up(h, labels)
    loss, derivative = surrogate.value_slope((h[rows, labels] - best) * slope)
    gradient = np.zeros_like(h)
    gradient[rows, labels] = derivative * slope
    gradient[rows, rival] = -derivative * slope
    return loss, gradient
