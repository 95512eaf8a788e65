"""Gradients and diagonal Hessians of LossSpec, as XGBoost and LightGBM use them.

The rows come from ``immax.compiled.softmax``; here are their derivatives, in either memory layout
of the scores, and the loops for two classes with a single score.
"""

from __future__ import annotations

from immax.arrays import Array
from immax.compiled.compiler import jit
from immax.compiled.focal import focal_curvature, focal_slope
from immax.compiled.softmax import adjust_row, negative_log, softmax_of_others
from immax.compiled.vector_math import FAST, exp_of_negative, log1p_of_positive

__all__ = ["focal_pairs", "gradient_pairs", "single_pairs"]


@jit(fastmath={"contract", "nsz"}, error_model="numpy", owns_arrays=False)
def gradient_pairs(
    h: Array,
    y: Array,
    slope: Array,
    scale: Array,
    offset: Array,
    target_offset: Array,
    weight: Array,
    plain: bool,
    sample_weight: Array,
    focus: float,
    drop: Array,
    droppable: Array,
    factor: float,
    floor: float,
    gradient: Array,
    hessian: Array,
    begin: int,
    end: int,
    z: Array,
) -> None:
    """Fill rows ``begin`` to ``end`` of the gradients and of the diagonals of the Hessians.

    Parameters
    ----------
    h : ndarray of shape (n, c)
        Scores, in either memory layout.
    y : ndarray of int, shape (n,)
        Class indices.
    slope : ndarray of shape (c,)
        The inverse temperature; its dtype is that of the computation.
    scale, offset, target_offset, weight : ndarrays of shape (c,)
        As in ``LossSpec``.
    plain : bool
        Whether ``scale`` is one and ``offset`` zero.
    sample_weight : ndarray of shape (n,) or (0,)
        Empty if there is none.
    focus : float
        The focal exponent.
    drop : ndarray of bool, shape (n,) or (0,)
        Samples without the droppable classes; empty if nothing is dropped.
    droppable : ndarray of bool, shape (c,)
        As in ``LossSpec``.
    factor, floor : float
        Hessians are multiplied by the factor, and then bounded from below by the floor.
    gradient, hessian : ndarrays of shape (n, c)
        Receive the results.
    begin, end : int
        The range of rows.
    z : ndarray of shape (c,)
        Memory for a row, of the dtype of ``slope``.
    """
    number = slope.dtype.type
    one = number(1)
    c = h.shape[1]
    for i in range(begin, end):
        t = y[i]
        target, top, _ = adjust_row(
            h, i, t, slope, scale, offset, target_offset, plain, drop, droppable, z
        )
        total, excess, rest = softmax_of_others(z, t, target, top, True)
        own_weight = weight[t]
        if sample_weight.size > 0:
            own_weight *= number(sample_weight[i])
        first, second = one, number(0)
        if focus > 0:
            nll = negative_log(target, top, excess)
            first = number(focal_slope(nll, rest, focus))
            second = number(focal_curvature(nll, rest, focus))
        inverse = one / total
        for j in range(c):
            step = slope[t] * scale[j]
            q = rest if j == t else z[j] * inverse
            gradient[i, j] = (-q if j == t else q) * own_weight * step * first
            bend = own_weight * step * step * (first * q * (one - q) + second * q * q)
            bend *= number(factor)
            hessian[i, j] = bend if bend > number(floor) else number(floor)


@jit(fastmath=FAST, error_model="numpy")
def logistic_rest(u: float, one: float) -> float:
    """Return ``1 - p`` for ``p = 1 / (1 + e^-u)``, without a branch.

    ``one`` is the number one in the precision of ``u``.
    """
    small = exp_of_negative(-abs(u))
    return (small if u > 0 else one) / (one + small)


@jit(fastmath=FAST)
def logistic_loss(u: float, one: float) -> float:
    """Return ``-log p`` for ``p = 1 / (1 + e^-u)``."""
    return log1p_of_positive(exp_of_negative(-abs(u))) + (one - one if u > 0 else -u)


@jit(fastmath={"contract", "nsz", "nnan"}, error_model="numpy")
def single_pairs(
    h: Array,
    y: Array,
    slope: Array,
    shift: Array,
    weight: Array,
    factor: float,
    floor: float,
    gradient: Array,
    hessian: Array,
    begin: int,
    end: int,
) -> None:
    """Fill the pairs of two classes with one score, ``weight_y Psi(slope_y h + shift_y)``.

    Psi is the logistic loss. The loop has no branch and no index that could be negative, so that
    the compiler vectorises it.

    Parameters
    ----------
    h : ndarray of shape (n,)
        Scores of class 1.
    y : ndarray of int, shape (n,)
        Class indices.
    slope, shift, weight : ndarrays of shape (2,)
        One entry for each class.
    factor, floor : float
        As in ``gradient_pairs``.
    gradient, hessian : ndarrays of shape (n,)
        Receive the results.
    begin, end : int
        The range of samples.
    """
    number = slope.dtype.type
    one, scale, least = number(1), number(factor), number(floor)
    (slope_0, slope_1), (shift_0, shift_1), (weight_0, weight_1) = slope, shift, weight
    h, y, gradient, hessian = h[begin:end], y[begin:end], gradient[begin:end], hessian[begin:end]
    for i in range(h.size):
        positive = y[i] != 0
        step = slope_1 if positive else slope_0
        q = logistic_rest(step * number(h[i]) + (shift_1 if positive else shift_0), one)
        pull = (weight_1 if positive else weight_0) * step
        gradient[i] = -q * pull
        bend = scale * pull * step * q * (one - q)
        hessian[i] = bend if bend > least else least


@jit(fastmath={"contract", "nsz"}, error_model="numpy")
def focal_pairs(
    h: Array,
    y: Array,
    slope: Array,
    shift: Array,
    weight: Array,
    focus: float,
    factor: float,
    floor: float,
    gradient: Array,
    hessian: Array,
    begin: int,
    end: int,
) -> None:
    """Fill the pairs of two classes with one score, where Psi is the focal loss.

    Parameters
    ----------
    h, y, slope, shift, weight
        As in ``single_pairs``.
    focus : float
        The focal exponent.
    factor, floor, gradient, hessian, begin, end
        As in ``single_pairs``.
    """
    number = slope.dtype.type
    one = number(1)
    for i in range(begin, end):
        t = int(y[i])
        step = slope[t]
        u = step * number(h[i]) + shift[t]
        q, nll = logistic_rest(u, one), logistic_loss(u, one)
        first = number(focal_slope(nll, q, focus))
        second = number(focal_curvature(nll, q, focus))
        pull = weight[t] * step
        gradient[i] = -q * pull * first
        bend = number(factor) * pull * step * (first * q * (one - q) + second * q * q)
        hessian[i] = bend if bend > number(floor) else number(floor)
