"""The mean IMMAX loss of a batch and its gradient, with as little work for a row as it takes.

The same formulas as ``immax.compiled.softmax`` for margins alone: no scale, offset, class weight,
focus or dropped classes, and every label is a class.
"""

from __future__ import annotations

import numpy as np

from immax.arrays import Array
from immax.compiled.compiler import jit
from immax.compiled.softmax import LOWEST, REDUCTION, buffer_size, excess_over_one, row_sum
from immax.compiled.vector_math import (
    FAST,
    exp_of_negative,
    from_ordinal,
    log1p_of_positive,
    magnitude,
    ordinal,
)

__all__ = ["mean_softmax"]


@jit(fastmath=REDUCTION, owns_arrays=False)
def _largest(h: Array, i: int) -> tuple[float, bool]:
    """Return the largest score of a row, and whether there is no NaN."""
    number = h.dtype.type
    top, size = ordinal(number(LOWEST)), magnitude(number(0))
    for j in range(h.shape[1]):
        rank, length = ordinal(h[i, j]), magnitude(h[i, j])
        top = rank if rank > top else top
        size = length if length > size else size
    return from_ordinal(top), size <= magnitude(number(np.inf))


@jit(fastmath=FAST, owns_arrays=False)
def _adjust(h: Array, i: int, top: float, slope: float, z: Array) -> None:
    """Set ``z = (h_i - top) slope``; what lies beyond the last class is not changed."""
    for j in range(h.shape[1]):
        z[j] = (h[i, j] - top) * slope


@jit(fastmath=FAST, owns_arrays=False)
def _exponentiate(z: Array, out: Array) -> None:
    for j in range(z.size):
        out[j] = exp_of_negative(z[j])


@jit(fastmath=FAST, owns_arrays=False)
def _write(z: Array, factor: float, out: Array, i: int) -> None:
    for j in range(out.shape[1]):
        out[i, j] = z[j] * factor


@jit(fastmath={"contract", "nsz"}, error_model="numpy", owns_arrays=False)
def _fill_rows(
    h: Array,
    y: Array,
    slope: Array,
    share: float,
    gradient: Array,
    z: Array,
    exponentials: Array,
    excess: Array,
) -> float:
    """Fill the gradients, and what the logarithms are of; return the sum of the other terms."""
    one = h.dtype.type(1)
    total = 0.0
    for i in range(h.shape[0]):
        t = y[i]
        top, valid = _largest(h, i)
        if not (valid and LOWEST < top < np.inf):
            total = np.nan
            excess[i] = 0
            for j in range(h.shape[1]):
                gradient[i, j] = np.nan
            continue
        own = (h[i, t] - top) * slope[t]
        total -= own
        _adjust(h, i, top, slope[t], z)
        z[t] = LOWEST
        _exponentiate(z, exponentials)
        mine = exp_of_negative(own)
        others = row_sum(exponentials)
        excess[i] = excess_over_one(others, mine, one)
        factor = slope[t] * share / (others + mine)
        _write(exponentials, factor, gradient, i)
        gradient[i, t] = -factor * others
    return total


@jit(fastmath={"contract", "nsz"})
def _sum_of_logarithms(excess: Array) -> float:
    for i in range(excess.size):
        excess[i] = log1p_of_positive(excess[i])
    total = 0.0
    for i in range(excess.size):
        total += excess[i]
    return total


@jit(fastmath={"contract", "nsz"}, error_model="numpy")
def mean_softmax(h: Array, y: Array, slope: Array, share: float, gradient: Array) -> float:
    """Return the weighted sum of the losses, and fill its gradient in the scores.

    Parameters
    ----------
    h : ndarray of shape (n, c)
        Scores.
    y : ndarray of int, shape (n,)
        Class indices, all of them valid.
    slope : ndarray of shape (c,)
        The inverse margins, in the precision of the scores.
    share : float
        The weight of each sample.
    gradient : ndarray of shape (n, c)
        Receives the gradient; NaN for samples with NaN or infinite scores.

    Returns
    -------
    float
        NaN if a score is, or is infinite.
    """
    size = buffer_size(h.shape[1])
    z, exponentials = np.full(size, LOWEST, h.dtype), np.empty(size, h.dtype)
    excess = np.empty(h.shape[0], h.dtype)
    total = _fill_rows(h, y, slope, h.dtype.type(share), gradient, z, exponentials, excess)
    return (total + _sum_of_logarithms(excess)) * share
