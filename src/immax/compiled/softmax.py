"""LossSpec's loss and gradient, a sample at a time: scores are read once, gradients written once.

The same formulas as ``immax.losses.softmax``, whose notes on precision hold here too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from immax.arrays import Array
from immax.compiled.compiler import jit
from immax.compiled.vector_math import FAST, exp_of_negative, exponentiate, log1p_of_positive

__all__ = ["softmax_rows"]


PAD = 32  # numbers that the compiler's loops take at a time; the rest they take one by one
REDUCTION = {"reassoc", "nsz", "nnan", "contract"}
# Functions of their own, because only reductions may be reassociated.


@jit(fastmath=REDUCTION)
def _adjust(
    h: Array, i: int, slope: Any, scale: Array, offset: Array, plain: bool, z: Array
) -> Any:
    """``z = slope h[i] scale + offset``; the largest of them."""
    top = h.dtype.type(-1e38)
    if plain:
        for j in range(h.shape[1]):
            new = h[i, j] * slope
            z[j] = new
            top = new if new > top else top
    else:
        for j in range(h.shape[1]):
            new = h[i, j] * slope * scale[j] + offset[j]
            z[j] = new
            top = new if new > top else top
    return top


@jit(fastmath=REDUCTION)
def _largest(z: Array) -> Any:
    top = z[0]
    for j in range(z.size):
        top = z[j] if z[j] > top else top
    return top


@jit()
def _any_nan(h: Array, i: int) -> bool:
    """Without fast mathematics, which would take NaN for impossible."""
    count = 0
    for j in range(h.shape[1]):
        count += h[i, j] != h[i, j]
    return count > 0


@jit(fastmath=REDUCTION)
def _sum(z: Array) -> Any:
    out = z.dtype.type(0)
    for j in range(z.size):
        out += z[j]
    return out


@jit(fastmath=FAST)
def _write(z: Array, factor: Any, scale: Array, plain: bool, out: Array, i: int) -> None:
    if plain:
        for j in range(out.shape[1]):
            out[i, j] = z[j] * factor
    else:
        for j in range(out.shape[1]):
            out[i, j] = z[j] * factor * scale[j]


@jit(fastmath={"contract", "nsz"}, error_model="numpy")
def softmax_rows(
    h: Array,
    y: Array,
    slope: Array,
    scale: Array,
    offset: Array,
    target_offset: Array,
    weight: Array,
    plain: bool,
    focus: float,
    drop: Array,
    droppable: Array,
    ignored: int,
    loss: Array,
    gradient: Array,
    begin: int,
    end: int,
) -> tuple[int, float, int]:
    """Fill ``loss[begin:end]`` and ``gradient[begin:end]``; the gradient may be ``h`` itself.

    ``slope`` is the inverse temperature. ``plain`` says that ``scale`` is one and ``offset``
    zero; ``drop`` is empty where nothing is dropped. Samples whose label is ``ignored`` have
    neither loss nor gradient; those with NaN or infinite scores have NaN. Returns the number of
    a sample whose label is no class (or -1), the sum of the losses, and how many samples count.
    """
    number = h.dtype.type
    zero, one, lowest = number(0), number(1), number(-1e38)
    c = h.shape[1]
    z = np.empty(-(-c // PAD) * PAD, h.dtype)
    bad, counted, sum_of_losses = -1, 0, 0.0
    for i in range(begin, end):
        t = y[i]
        if t == ignored or t < 0 or t >= c:
            bad = bad if t == ignored else i
            loss[i] = zero
            for j in range(c):
                gradient[i, j] = zero
            continue
        top = _adjust(h, i, slope[t], scale, offset, plain, z)
        for j in range(c, z.size):
            z[j] = lowest
        target = z[t] - target_offset[t]
        z[t] = lowest
        if drop.size > 0 and drop[i]:
            for j in range(c):
                z[j] = lowest if droppable[j] else z[j]
            top = _largest(z)
        elif target_offset[t] != 0:
            top = _largest(z)
        top = top if top > target else target
        if _any_nan(h, i) or not lowest < top < np.inf:
            loss[i] = np.nan
            sum_of_losses += np.nan
            counted += 1
            for j in range(c):
                gradient[i, j] = np.nan
            continue
        exponentiate(z, top)
        rest = _sum(z)
        own = exp_of_negative(target - top)
        # rest + own >= 1, and what it has above 1 is exactly `rest` with the target on top.
        value = (top - target) + log1p_of_positive(rest - (one - own))
        inverse = one / (rest + own)
        share = rest * inverse
        factor = weight[t]
        if focus > 0:
            # As in `focal_slope`: value / share tends to one as share does to zero.
            ratio = value / share if share > 0 else one
            power = number(share**focus)
            loss[i] = value * factor * power
            factor *= power * (one + number(focus) * (one - share) * ratio)
        else:
            loss[i] = value * factor
        sum_of_losses += loss[i]
        counted += 1
        factor *= slope[t]
        _write(z, factor * inverse, scale, plain, gradient, i)
        gradient[i, t] = -factor * share if plain else -factor * share * scale[t]
    return bad, sum_of_losses, counted
