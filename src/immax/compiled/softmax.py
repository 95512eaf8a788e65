"""The softmax kernel of LossSpec: losses and gradients in a single pass over the scores.

The same formulas as ``immax.losses.softmax``, whose notes on precision hold here too. The
functions for a single row are shared by all kernels.
"""

from __future__ import annotations

import numpy as np

from immax.arrays import Array
from immax.compiled.compiler import jit
from immax.compiled.focal import focal_factor, focal_slope
from immax.compiled.vector_math import (
    FAST,
    exp_of_negative,
    exponentiate,
    from_ordinal,
    log1p_of_positive,
    magnitude,
    ordinal,
)

__all__ = ["are_classes", "softmax_rows"]


PAD = 8  # numbers of a vector; a remainder would run one by one
LOWEST = -1e38  # stands for minus infinity, whose differences would be NaN
REDUCTION = {"reassoc", "nsz", "nnan", "contract"}
# Functions of their own, because only reductions may be reassociated.


@jit()
def buffer_size(n_classes: int) -> int:
    """Return the length of a row's buffer, a multiple of what a vectorised loop takes."""
    return -(-n_classes // PAD) * PAD


@jit(fastmath=REDUCTION, owns_arrays=False)
def _adjust(
    h: Array, i: int, slope: float, scale: Array, offset: Array, plain: bool, z: Array
) -> tuple[float, bool]:
    """Fill ``z``; return its largest entry, and whether there is no NaN."""
    number = z.dtype.type
    top, size = ordinal(number(LOWEST)), magnitude(number(0))
    if plain:
        for j in range(h.shape[1]):
            new = number(number(h[i, j]) * slope)
            z[j] = new
            rank, length = ordinal(new), magnitude(new)
            top = rank if rank > top else top
            size = length if length > size else size
    else:
        for j in range(h.shape[1]):
            new = number(number(h[i, j]) * slope * scale[j] + offset[j])
            z[j] = new
            rank, length = ordinal(new), magnitude(new)
            top = rank if rank > top else top
            size = length if length > size else size
    for j in range(h.shape[1], z.size):
        z[j] = LOWEST
    return from_ordinal(top), size <= magnitude(number(np.inf))


@jit(fastmath=REDUCTION, owns_arrays=False)
def _largest(z: Array) -> float:
    top = ordinal(z[0])
    for j in range(z.size):
        rank = ordinal(z[j])
        top = rank if rank > top else top
    return from_ordinal(top)


@jit(fastmath=REDUCTION, owns_arrays=False)
def row_sum(z: Array) -> float:
    out = z.dtype.type(0)
    for j in range(z.size):
        out += z[j]
    return out


@jit(inline="always")
def adjust_row(
    h: Array,
    i: int,
    t: int,
    slope: Array,
    scale: Array,
    offset: Array,
    target_offset: Array,
    plain: bool,
    drop: Array,
    droppable: Array,
    z: Array,
) -> tuple[float, float, bool]:
    """Fill ``z`` with the adjusted scores of sample ``i`` of class ``t``.

    ``z_j = h_ij scale_j slope_t + offset_j - target_offset_t [j = t]``, where ``slope`` is the
    inverse temperature. Returns the target's, the largest, and whether there is no NaN. In ``z``
    the target, dropped classes and what lies beyond the last class are ``LOWEST``. ``plain`` says
    that ``scale`` is one and ``offset`` zero; ``drop`` is empty where nothing is dropped.
    """
    top, valid = _adjust(h, i, slope[t], scale, offset, plain, z)
    target = z[t] - target_offset[t]
    z[t] = LOWEST
    dropped = drop.size > 0 and drop[i]
    if dropped:
        for j in range(h.shape[1]):
            z[j] = LOWEST if droppable[j] else z[j]
    if dropped or target_offset[t] != 0:
        top = _largest(z)
    return target, top if top > target else target, valid


@jit(inline="always")
def excess_over_one(others: float, own: float, one: float) -> float:
    """Return the sum of all exponentials minus one: exactly ``others`` if the target is on top."""
    return others - (one - own)


@jit(inline="always")
def softmax_of_others(
    z: Array, t: int, target: float, top: float, in_order: bool
) -> tuple[float, float, float]:
    """Turn the adjusted scores of a row into the exponentials of the other classes.

    ``z`` becomes ``exp(z - top)``, and zero at the target ``t``. Returns the sum with the target,
    that sum minus one, and ``1 - p``, where p is the target's probability. ``in_order`` sums a
    row in the same order whatever its label, so that equal scores have equal probabilities to
    the bit.
    """
    one = z.dtype.type(1)
    exponentiate(z, top)
    own = exp_of_negative(target - top)
    if in_order:
        others = total = one - one
        for j in range(z.size):
            others += z[j]
            total += own if j == t else z[j]
    else:
        others = row_sum(z)
        total = others + own
    return total, excess_over_one(others, own, one), others / total


@jit(fastmath={"contract", "nsz"})
def negative_log(target: float, top: float, excess: float) -> float:
    """Return ``-log p`` of the target, where ``excess`` is the sum of exponentials minus one."""
    return (top - target) + log1p_of_positive(excess)


@jit(fastmath=FAST, owns_arrays=False)
def write_row(z: Array, factor: float, scale: Array, plain: bool, out: Array, i: int) -> None:
    """Fill row ``i`` of ``out`` with ``z * factor * scale``, or without ``scale`` if plain."""
    if plain:
        for j in range(out.shape[1]):
            out[i, j] = z[j] * factor
    else:
        for j in range(out.shape[1]):
            out[i, j] = z[j] * factor * scale[j]


@jit(fastmath={"contract", "nsz"})
def _complete(loss: Array, excess: Array, share: Array, begin: int) -> float:
    """Add the logarithms to the losses, many at a time, weight them, and return their sum."""
    for i in range(excess.size):
        loss[begin + i] = (loss[begin + i] + log1p_of_positive(excess[i])) * share[i]
    total = 0.0
    for i in range(excess.size):
        total += loss[begin + i]
    return total


@jit()
def are_classes(y: Array, n_classes: int) -> bool:
    """Return whether all labels are from 0 to ``n_classes - 1``.

    Parameters
    ----------
    y : ndarray of int, shape (n,)
    n_classes : int

    Returns
    -------
    bool
    """
    wrong = 0
    for i in range(y.size):
        wrong += y[i] < 0 or y[i] >= n_classes
    return wrong == 0


@jit(fastmath={"contract", "nsz"}, error_model="numpy", owns_arrays=False)
def _fill_rows(
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
    z: Array,
    excess: Array,
    share: Array,
) -> tuple[int, int]:
    """Fill the gradients, and what ``_complete`` makes losses of; see ``softmax_rows``.

    It creates no array, because counting references to them takes longer than a row does.
    """
    number = h.dtype.type
    zero = number(0)
    c = h.shape[1]
    bad, counted = -1, 0
    for i in range(begin, end):
        t = y[i]
        if t == ignored or t < 0 or t >= c:
            bad = bad if t == ignored else i
            loss[i] = zero
            for j in range(c):
                gradient[i, j] = zero
            continue
        target, top, valid = adjust_row(
            h, i, t, slope, scale, offset, target_offset, plain, drop, droppable, z
        )
        counted += 1
        if not (valid and LOWEST < top < np.inf):
            loss[i] = np.nan
            share[i - begin] = np.nan
            for j in range(c):
                gradient[i, j] = np.nan
            continue
        exponentials, excess[i - begin], rest = softmax_of_others(z, t, target, top, False)
        factor = weight[t]
        loss[i] = top - target
        share[i - begin] = factor
        if focus > 0:
            nll = negative_log(target, top, excess[i - begin])
            share[i - begin] = factor * number(focal_factor(rest, focus))
            factor *= number(focal_slope(nll, rest, focus))
        factor *= slope[t]
        write_row(z, factor / exponentials, scale, plain, gradient, i)
        own = -factor * rest
        gradient[i, t] = own if plain else own * scale[t]
    return bad, counted


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
    """Fill rows ``begin`` to ``end`` of the losses and of their gradients in the scores.

    Parameters
    ----------
    h : ndarray of shape (n, c)
        Scores.
    y : ndarray of int, shape (n,)
        Class indices.
    slope : ndarray of shape (c,)
        The inverse temperature.
    scale, offset, target_offset, weight : ndarrays of shape (c,)
        As in ``LossSpec``.
    plain : bool
        Whether ``scale`` is one and ``offset`` zero.
    focus : float
        The focal exponent.
    drop : ndarray of bool, shape (n,) or (0,)
        Samples without the droppable classes; empty if nothing is dropped.
    droppable : ndarray of bool, shape (c,) or (0,)
        As in ``LossSpec``.
    ignored : int
        Samples with this label have neither loss nor gradient.
    loss : ndarray of shape (n,)
        Receives the losses; NaN for samples with NaN or infinite scores.
    gradient : ndarray of shape (n, c)
        Receives the gradients; may be ``h`` itself.
    begin, end : int
        The range of rows.

    Returns
    -------
    bad : int
        The row of a sample whose label is not a class, or -1.
    total : float
        The sum of the losses.
    counted : int
        The number of samples that are not ignored.
    """
    z = np.empty(buffer_size(h.shape[1]), h.dtype)
    excess, share = np.zeros((2, end - begin), h.dtype)
    bad, counted = _fill_rows(
        h,
        y,
        slope,
        scale,
        offset,
        target_offset,
        weight,
        plain,
        focus,
        drop,
        droppable,
        ignored,
        loss,
        gradient,
        begin,
        end,
        z,
        excess,
        share,
    )
    return bad, _complete(loss, excess, share, begin), counted
