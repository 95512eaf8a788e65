"""Derivatives of LossSpec for single samples, as CatBoost uses them.

CatBoost's threads hold the GIL while they call Python, so these functions do not release it.
"""

from __future__ import annotations

import numpy as np

from immax.arrays import Array
from immax.compiled.boosting import focal_pairs, single_pairs
from immax.compiled.compiler import jit
from immax.compiled.focal import focal_curvature, focal_slope
from immax.compiled.softmax import adjust_row, buffer_size, negative_log, softmax_of_others

__all__ = ["fill_derivatives", "fill_sample"]

NOTHING = np.empty(0, np.bool_)


@jit(nogil=False)
def fill_derivatives(
    h: Array, y: Array, weight: Array, table: Array, focus: float, floor: float, out: Array
) -> None:
    """Fill the first and second derivatives of minus the loss, for two classes with one score.

    Parameters
    ----------
    h, y : ndarrays of shape (n,)
        Scores of class 1, and class indices of any dtype.
    weight : ndarray of shape (n,) or (0,)
        Sample weights; empty if there are none.
    table : ndarray of shape (3, 2)
        Slope, shift and weight of either class.
    focus : float
        The focal exponent.
    floor : float
        The lower bound of the loss's second derivative.
    out : ndarray of shape (n, 2)
        Receives the derivatives.
    """
    slope, shift, class_weight = table
    gradient, hessian = np.empty(h.size), np.empty(h.size)  # contiguous, for vectorised loops
    if focus > 0:
        focal_pairs(h, y, slope, shift, class_weight, focus, 1.0, 0.0, gradient, hessian, 0, h.size)
    else:
        single_pairs(h, y, slope, shift, class_weight, 1.0, 0.0, gradient, hessian, 0, h.size)
    for i in range(h.size):
        own = weight[i] if weight.size > 0 else 1.0
        out[i, 0] = -own * gradient[i]
        out[i, 1] = -max(own * hessian[i], floor)


@jit(nogil=False, error_model="numpy")
def fill_sample(h: Array, t: int, weight: float, table: Array, out: Array) -> None:
    """Fill the gradient and the Hessian of minus the loss of one sample.

    It has few arguments, as each takes time in every call.

    Parameters
    ----------
    h : ndarray of shape (c,)
        Scores.
    t : int
        The class index.
    weight : float
        The sample's weight.
    table : ndarray of shape (6, c)
        Inverse temperature, scale, offset, target offset and weight of each class, and the focal
        exponent in every column.
    out : ndarray of shape (1, c) or (1 + c, c)
        Receives the gradient and, if it has rows for it, the upper triangle of the Hessian.
    """
    slope, scale, offset, target_offset, class_weight, exponents = table
    focus = exponents[0]
    c = h.size
    z = np.empty(buffer_size(c))
    target, top, _ = adjust_row(
        h[None, :], 0, t, slope, scale, offset, target_offset, False, NOTHING, NOTHING, z
    )
    total, excess, rest = softmax_of_others(z, t, target, top, False)
    first, second = 1.0, 0.0
    if focus > 0:
        nll = negative_log(target, top, excess)
        first, second = focal_slope(nll, rest, focus), focal_curvature(nll, rest, focus)
    own = weight * class_weight[t] * slope[t]
    gradient = out[0]
    for j in range(c):
        z[j] /= total
        gradient[j] = z[j]
    gradient[t], z[t] = -rest, 1 - rest  # the slope of nll in z_t, and the target's probability
    for a in range(out.shape[0] - 1):
        step = own * slope[t] * scale[a]
        bend, outer = first * z[a], second * gradient[a]
        for b in range(a, c):
            out[a + 1, b] = step * scale[b] * (bend * z[b] - outer * gradient[b])
        out[a + 1, a] -= step * scale[a] * bend
    for j in range(c):
        gradient[j] *= -own * scale[j] * first
