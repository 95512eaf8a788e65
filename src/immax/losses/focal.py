"""The factor ``(1 - p)^focus`` of the focal loss, and the derivatives of the loss with it.

``p`` is the probability of the target, ``nll = -log p`` and ``rest = 1 - p``. The functions work
element by element, on arrays and on single numbers: ``immax.compiled.focal`` compiles these very
functions, so that no other file has their formulas.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from immax.arrays import Array

__all__ = [
    "SMALLEST_PROBABILITY",
    "bound_probability",
    "focal_curvature",
    "focal_factor",
    "focal_slope",
    "focal_slope_at",
]

T = TypeVar("T", float, Array)

SMALLEST_PROBABILITY = 1e-30
"""The lower bound of probabilities in powers and divisions; its inverse is finite in float32."""


def bound_probability(values: T) -> T:
    """Return probabilities that are at least ``SMALLEST_PROBABILITY``.

    This is the one guard against the underflow of ``1 - p``.

    Parameters
    ----------
    values : ndarray or float
        Probabilities.

    Returns
    -------
    ndarray or float
        Of the same shape and dtype.
    """
    return np.maximum(values, SMALLEST_PROBABILITY)


def focal_factor(rest: T, focus: float) -> T:
    """Return the focal factor ``rest^focus``.

    Parameters
    ----------
    rest : ndarray or float
        ``1 - p``.
    focus : float
        The focal exponent, not negative.

    Returns
    -------
    ndarray or float
    """
    return bound_probability(rest) ** focus


def focal_slope(nll: T, rest: T, focus: float) -> T:
    """Return the derivative of the focal loss ``rest^focus nll`` in nll.

    Parameters
    ----------
    nll, rest : ndarrays of one shape, or floats
        ``-log p`` and ``1 - p``, each to full relative precision.
    focus : float
        The focal exponent, not negative.

    Returns
    -------
    ndarray or float
    """
    # nll / rest tends to one as rest tends to zero, so rest^focus can be taken out.
    return focal_factor(rest, focus) * (1 + focus * (1 - rest) * (nll / bound_probability(rest)))


def focal_curvature(nll: T, rest: T, focus: float) -> T:
    """Return the second derivative of the focal loss ``rest^focus nll`` in nll.

    Parameters
    ----------
    nll, rest : ndarrays of one shape, or floats
        ``-log p`` and ``1 - p``, each to full relative precision.
    focus : float
        The focal exponent, not negative.

    Returns
    -------
    ndarray or float
    """
    bounded, p = bound_probability(rest), 1 - rest
    bend = 2 + (focus - 1) * p * (nll / bounded) - nll
    return focal_factor(rest, focus) * (focus * p / bounded * bend)


def focal_slope_at(p: Array, focus: float) -> Array | float:
    """Return the derivative of the focal loss in nll at given probabilities of the target.

    Probabilities do not tell how far they are from one, so this is for divisions by the slope
    (as in ``immax.links``): it is in double precision, and never zero.

    Parameters
    ----------
    p : ndarray
        Probabilities of the target.
    focus : float
        The focal exponent, not negative.

    Returns
    -------
    ndarray of float64, or 1.0 if the exponent is zero

    Examples
    --------
    >>> focal_slope_at(np.array([0.0, 0.5]), 1.0).round(4)
    array([1.    , 0.8466])
    """
    if focus == 0:
        return 1.0
    target = np.minimum(bound_probability(p.astype(np.float64)), 1)
    slope = focal_slope(-np.log(target), 1 - target, focus)
    return np.maximum(slope, np.finfo(np.float64).tiny)
