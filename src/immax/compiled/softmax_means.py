"""The mean IMMAX loss of a batch and its gradient, with as little work for a row as it takes.

The same formulas as ``immax.compiled.softmax`` for margins alone: no scale, offset, class weight,
focus or dropped classes, and every label must be a class.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache
from typing import Any

import numpy as np
from numba import carray, types

from immax.arrays import Array
from immax.compiled.compiler import c_function, jit
from immax.compiled.shared_memory import fetch_add, pointer
from immax.compiled.softmax import (
    LOWEST,
    REDUCTION,
    are_classes,
    buffer_size,
    excess_over_one,
    row_sum,
)
from immax.compiled.vector_math import (
    FAST,
    exp_of_negative,
    from_ordinal,
    log1p_of_positive,
    magnitude,
    ordinal,
)

__all__ = ["MeanJob", "mean_worker"]

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
        rows = max(1, ENTRIES_AT_ONCE // n_classes)
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
    rho: Array,
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
        slope = one / rho[t]
        top, valid = _largest(h, i)
        if not (valid and LOWEST < top < np.inf):
            total = np.nan
            excess[i] = 0
            for j in range(h.shape[1]):
                gradient[i, j] = np.nan
            continue
        own = (h[i, t] - top) * slope
        total -= own
        _adjust(h, i, top, slope, z)
        z[t] = LOWEST
        _exponentiate(z, exponentials)
        mine = exp_of_negative(own)
        others = row_sum(exponentials)
        excess[i] = excess_over_one(others, mine, one)
        factor = slope * share / (others + mine)
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
        z, exponentials = np.full(size, LOWEST, number), np.empty(size, number)
        excess = np.empty(rows, number)
        share = number(1 / n)
        if not are_classes(y, c):
            return
        while True:
            k = fetch_add(address + begun)
            if k >= n_parts:
                return
            own = slice(k * rows, min(n, (k + 1) * rows))
            logs = excess[: own.stop - own.start]
            parts[k] = _fill_rows(h[own], y[own], rho, share, gradient[own], z, exponentials, logs)
            parts[k] += _sum_of_logarithms(logs)
            if fetch_add(address + finished) == n_parts - 1:
                job.mean = parts.sum() / n

    return c_function(types.void(types.int64))(work)
