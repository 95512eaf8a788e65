"""Losses and gradients of weighted samples along a ray of scores, for line searches."""

from __future__ import annotations

import numpy as np

from immax.arrays import Array
from immax.compiled.compiler import jit
from immax.compiled.softmax import (
    LOWEST,
    REDUCTION,
    adjust_row,
    buffer_size,
    negative_log,
    softmax_of_others,
    write_row,
)
from immax.compiled.vector_math import FAST

__all__ = ["weighted_softmax_rows"]


@jit(fastmath=FAST, owns_arrays=False)
def _move(h: Array, i: int, step: float, ray: Array, moved: Array) -> None:
    for j in range(h.shape[1]):
        moved[i, j] = h[i, j] + step * ray[i, j]


@jit(fastmath=REDUCTION, owns_arrays=False)
def _product(a: Array, b: Array, i: int) -> float:
    out = a.dtype.type(0)
    for j in range(a.shape[1]):
        out += a[i, j] * b[i, j]
    return out


@jit(fastmath={"contract", "nsz"}, error_model="numpy")
def weighted_softmax_rows(
    h: Array,
    y: Array,
    slope: Array,
    scale: Array,
    offset: Array,
    target_offset: Array,
    plain: bool,
    weight: Array,
    step: float,
    ray: Array,
    moved: Array,
    gradient: Array,
    begin: int,
    end: int,
) -> tuple[float, float]:
    """Fill rows ``begin`` to ``end`` of the gradients of weighted losses along a ray of scores.

    Parameters
    ----------
    h : ndarray of shape (n, c)
        Scores where the ray begins.
    y : ndarray of int, shape (n,)
        Class indices, all of them valid.
    slope, scale, offset, target_offset, plain
        As in ``softmax_rows``. There is no focus, and no class is dropped.
    weight : ndarray of shape (n,)
        The weight of each sample, that of its class included. Samples without one are skipped.
    step : float
        The position on the ray, in the precision of the scores.
    ray : ndarray of shape (n, c) or (0, 0)
        Its direction; empty for the losses at ``h`` itself.
    moved : ndarray of shape (n, c)
        Receives ``h + step * ray``; is ``h`` if there is no ray.
    gradient : ndarray of shape (n, c)
        Receives the gradients there.
    begin, end : int
        The range of rows.

    Returns
    -------
    value : float
        The weighted sum of the losses; NaN if a score is, or is infinite.
    derivative : float
        Its derivative along the ray.
    """
    nothing = np.zeros(0, np.bool_)
    z = np.empty(buffer_size(h.shape[1]), h.dtype)
    value = derivative = 0.0
    for i in range(begin, end):
        if ray.size:
            _move(h, i, step, ray, moved)
        if weight[i] == 0:
            gradient[i] = 0
            continue
        t = y[i]
        target, top, valid = adjust_row(
            moved, i, t, slope, scale, offset, target_offset, plain, nothing, nothing, z
        )
        if not (valid and LOWEST < top < np.inf):
            value += np.nan
            gradient[i] = np.nan
            continue
        exponentials, excess, rest = softmax_of_others(z, t, target, top, False)
        value += weight[i] * negative_log(target, top, excess)
        factor = weight[i] * slope[t]
        write_row(z, factor / exponentials, scale, plain, gradient, i)
        own = -factor * rest
        gradient[i, t] = own if plain else own * scale[t]
        if ray.size:
            derivative += _product(gradient, ray, i)
    return value, derivative
