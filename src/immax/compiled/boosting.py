"""LossSpec's gradient and diagonal Hessian, a sample at a time, in either layout of the scores.

The same formulas as ``immax.losses.softmax``, whose notes on precision hold here too.
"""

from __future__ import annotations

import numpy as np

from immax.arrays import Array
from immax.compiled.compiler import jit
from immax.compiled.vector_math import exp_of_negative, exponentiate, log1p_of_positive

__all__ = ["focal_pairs", "gradient_pairs", "single_pairs"]


@jit(fastmath={"contract", "nsz"}, error_model="numpy")
def gradient_pairs(
    h: Array,
    y: Array,
    slope: Array,
    scale: Array,
    offset: Array,
    target_offset: Array,
    weight: Array,
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
) -> None:
    """Fill rows ``begin`` to ``end`` of the gradient and of the diagonal of the Hessian.

    ``slope`` is the inverse temperature; ``sample_weight`` and ``drop`` are empty where there are
    none. Hessians are multiplied by ``factor`` and then at least ``floor``.
    """
    number = slope.dtype.type
    zero, one, lowest = number(0), number(1), number(-1e38)
    c = h.shape[1]
    z = np.empty(c, slope.dtype)
    for i in range(begin, end):
        t = y[i]
        top = lowest
        for j in range(c):
            z[j] = number(h[i, j]) * slope[t] * scale[j] + offset[j]
        z[t] -= target_offset[t]
        if drop.size > 0 and drop[i]:
            for j in range(c):
                z[j] = lowest if droppable[j] and j != t else z[j]
        for j in range(c):
            top = z[j] if z[j] > top else top
        own = z[t]
        exponentiate(z, top)
        target = z[t]
        # Summed in one order whatever the label, so that equal scores have equal probabilities to
        # the bit: trees break ties by the last one.
        total = zero
        for j in range(c):
            total += z[j]
        z[t] = zero
        rest = zero
        for j in range(c):
            rest += z[j]
        inverse = one / total
        share = rest * inverse
        own_weight = weight[t]
        if sample_weight.size > 0:
            own_weight *= sample_weight[i]
        first, second = one, zero
        if focus > 0:
            nll = (top - own) + log1p_of_positive(rest - (one - target))
            p = one - share
            ratio = nll / share if share > 0 else one
            safe = share if share > number(1e-30) else number(1e-30)
            power = number(share**focus)
            first = power * (one + number(focus) * p * ratio)
            bend = number(2) + number(focus - 1) * p * ratio - nll
            second = number(focus) * number(safe ** (focus - 1)) * p * bend
        for j in range(c):
            step = slope[t] * scale[j]
            q = share if j == t else z[j] * inverse
            gradient[i, j] = (-q if j == t else q) * own_weight * step * first
            bend = own_weight * step * step * (first * q * (one - q) + second * q * q)
            bend *= number(factor)
            hessian[i, j] = bend if bend > number(floor) else number(floor)


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
    """The same for two classes and one score, ``weight_y Psi(slope_y h + shift_y)``.

    Without a branch, and with indices that cannot be negative: in vector instructions.
    """
    number = slope.dtype.type
    zero, one, scale, least = number(0), number(1), number(factor), number(floor)
    (slope_0, slope_1), (shift_0, shift_1), (weight_0, weight_1) = slope, shift, weight
    h, y, gradient, hessian = h[begin:end], y[begin:end], gradient[begin:end], hessian[begin:end]
    for i in range(h.size):
        second = y[i] != 0
        step = slope_1 if second else slope_0
        u = step * number(h[i]) + (shift_1 if second else shift_0)
        small = exp_of_negative(-abs(u))
        q = (small if u > zero else one) / (one + small)
        pull = (weight_1 if second else weight_0) * step
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
    """The same with a focus."""
    number = slope.dtype.type
    zero, one = number(0), number(1)
    for i in range(begin, end):
        t = y[i]
        step = slope[t]
        u = step * number(h[i]) + shift[t]
        small = exp_of_negative(-abs(u))
        q = (small if u > zero else one) / (one + small)
        nll = log1p_of_positive(small) + (zero if u > zero else -u)
        p = one - q
        ratio = nll / q if q > 0 else one
        safe = q if q > number(1e-30) else number(1e-30)
        first = number(q**focus) * (one + number(focus) * p * ratio)
        bend = number(2) + number(focus - 1) * p * ratio - nll
        second = number(focus) * number(safe ** (focus - 1)) * p * bend
        pull = weight[t] * step
        gradient[i] = -q * pull * first
        bend = number(factor) * pull * step * (first * q * (one - q) + second * q * q)
        hessian[i] = bend if bend > number(floor) else number(floor)
