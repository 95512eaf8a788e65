"""The mean IMMAX loss of a batch and its gradient, with as little work for a row as it takes.

The same formulas as ``immax.compiled.softmax`` for margins alone: no scale, offset, class weight,
focus or dropped classes, and every label must be a class.
"""

from __future__ import annotations

import ctypes
import math
from functools import lru_cache
from typing import Any

import numpy as np
from numba import carray, types

from immax.arrays import Array
from immax.compiled.compiler import c_function, jit
from immax.compiled.shared_memory import fetch_add, pointer
from immax.compiled.softmax import (
    LOWEST,
    PAD,
    REDUCTION,
    are_classes,
    buffer_size,
    excess_over_one,
)
from immax.compiled.vector_math import (
    FAST,
    exp2_of_negative,
    exp_of_negative,
    from_ordinal,
    log1p_of_positive,
    magnitude,
    ordinal,
)

__all__ = ["MeanJob", "mean_worker"]

LOG2_E = 1 / math.log(2)  # e^x = 2^(x log2 e)
ENTRIES_AT_ONCE = 2**12  # scores that a thread takes at a time: a few microseconds of work


class MeanJob(ctypes.Structure):
    """The mean loss of a batch, as the threads that compute it share it.

    Parameters
    ----------
    n, n_classes : int
        The shape of the scores.
    scores, labels, margins : int
        Addresses of contiguous arrays: scores of shape (n, n_classes), class indices of type
        int64, and margins, in the precision of the scores.
    gradient : int
        The address of an array for the gradient of the mean in the scores; NaN for samples with
        NaN or infinite scores.

    Attributes
    ----------
    mean : float
        The result, once all threads have returned; NaN if a score is NaN or infinite.
    n_parts, finished : int
        The number of parts of the work, and of those that are done. Nothing is done if a label
        is not a class.
    """

    _fields_ = (
        *((name, ctypes.c_int64) for name in ("n", "n_classes")),
        *((name, ctypes.c_int64) for name in ("scores", "labels", "margins", "gradient")),
        *((name, ctypes.c_int64) for name in ("rows", "n_parts", "parts", "begun", "finished")),
        ("mean", ctypes.c_double),
    )
    mean: float
    n_parts: int
    finished: int

    def __init__(
        self, n: int, n_classes: int, scores: int, labels: int, margins: int, gradient: int
    ) -> None:
        rows = max(1, ENTRIES_AT_ONCE // (n_classes + PAD))
        n_parts = -(-n // rows)
        self._sums = (ctypes.c_double * n_parts)()
        sums = ctypes.addressof(self._sums)
        super().__init__(
            n, n_classes, scores, labels, margins, gradient, rows, n_parts, sums, 0, 0, np.nan
        )


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
    """Set row i of ``z`` to ``(h_i - top) slope``; what is beyond the last class stays."""
    for j in range(h.shape[1]):
        z[i, j] = (h[i, j] - top) * slope


@jit(fastmath=FAST, owns_arrays=False)
def _exponentiate(z: Array, out: Array) -> None:
    for j in range(z.size):
        out[j] = exp2_of_negative(z[j])


@jit(fastmath=REDUCTION, owns_arrays=False)
def _row_sum(z: Array, i: int) -> float:
    out = z.dtype.type(0)
    for j in range(z.shape[1]):
        out += z[i, j]
    return out


@jit(fastmath=FAST, owns_arrays=False)
def _write(z: Array, factor: float, out: Array, i: int) -> None:
    for j in range(out.shape[1]):
        out[i, j] = z[i, j] * factor


@jit(fastmath={"contract", "nsz", "nnan"}, error_model="numpy", owns_arrays=False)
def _finish(n: int, own: Array, others: Array, slope: Array, share: float, factor: Array) -> float:
    """Fill the factors of the gradients of n rows, and return the sum of their losses."""
    one = own.dtype.type(1)
    for i in range(n):
        mine = exp_of_negative(own[i])
        factor[i] = slope[i] * share / (others[i] + mine)
        own[i] = log1p_of_positive(excess_over_one(others[i], mine, one)) - own[i]
    total = 0.0
    for i in range(n):
        total += own[i]
    return total


@jit(fastmath={"contract", "nsz"}, error_model="numpy", owns_arrays=False)
def _fill_rows(
    h: Array,
    y: Array,
    rho: Array,
    share: float,
    gradient: Array,
    exponents: Array,
    exponentials: Array,
    by_row: Array,
) -> float:
    """Fill the gradients of some rows, and return the sum of their losses.

    Each step is taken for all rows before the next one, since that of a single row would wait for
    the one before. ``exponents`` and ``exponentials`` are for rows of ``buffer_size`` numbers, the
    former with LOWEST beyond the last class; ``by_row`` has four numbers for each row.
    """
    number = h.dtype.type
    shape = h.shape[0], buffer_size(h.shape[1])
    z, p = exponents.reshape(shape), exponentials.reshape(shape)
    own, others, slope, factor = by_row[0], by_row[1], by_row[2], by_row[3]  # contiguous
    n_wrong = 0
    for i in range(h.shape[0]):
        t = y[i]
        top, valid = _largest(h, i)
        if not (valid and LOWEST < top < np.inf):
            n_wrong += 1
            own[i], slope[i] = 0, 0  # no gradient for now
            z[i, :] = LOWEST
            continue
        slope[i] = number(1) / rho[t]
        own[i] = (h[i, t] - top) * slope[i]
        _adjust(h, i, top, slope[i] * number(LOG2_E), z)
        z[i, t] = LOWEST
    _exponentiate(exponents, exponentials)
    for i in range(h.shape[0]):
        others[i] = _row_sum(p, i)
    total = _finish(h.shape[0], own, others, slope, share, factor)
    for i in range(h.shape[0]):
        _write(p, factor[i], gradient, i)
        gradient[i, y[i]] = -factor[i] * others[i]
    if n_wrong > 0:
        total = np.nan
        for i in range(h.shape[0]):
            if slope[i] == 0:
                gradient[i, :] = np.nan
    return total


@lru_cache
def mean_worker(double: bool) -> Any:
    """Return the C function that threads call with the address of a MeanJob.

    A thread takes some rows at a time until none are left, so that one thread computes the mean
    as well as many; the last to finish adds up the sums of all parts. They are the same, and are
    added in the same order, for any number of threads.

    Parameters
    ----------
    double : bool
        Whether the scores are in double precision; otherwise they are in single precision.

    Returns
    -------
    object
        See ``c_function``.
    """
    number: Any = np.float64 if double else np.float32
    fields: Any = np.dtype(MeanJob)
    begun, finished = (fields.fields[name][1] for name in ("begun", "finished"))

    def work(address: int) -> None:
        job = carray(pointer(address), 1, fields)[0]
        n, c, rows, n_parts = job.n, job.n_classes, job.rows, job.n_parts
        h = carray(pointer(job.scores), (n, c), number)
        y = carray(pointer(job.labels), n, np.int64)
        rho = carray(pointer(job.margins), c, number)
        gradient = carray(pointer(job.gradient), (n, c), number)
        parts = carray(pointer(job.parts), n_parts, np.float64)
        size = buffer_size(c)
        exponents = np.full(rows * size, LOWEST, number)
        exponentials, by_row = np.empty_like(exponents), np.empty((4, rows), number)
        share = number(1 / n)
        if not are_classes(y, c):
            return
        while True:
            k = fetch_add(address + begun)
            if k >= n_parts:
                return
            own = slice(k * rows, min(n, (k + 1) * rows))
            used = (own.stop - own.start) * size
            parts[k] = _fill_rows(
                h[own],
                y[own],
                rho,
                share,
                gradient[own],
                exponents[:used],
                exponentials[:used],
                by_row,
            )
            if fetch_add(address + finished) == n_parts - 1:
                job.mean = parts.sum() / n

    return c_function(types.void(types.int64))(work)
