"""Rows of a kernel matrix, computed on demand and cached."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from immax.arrays import Array, Features
from immax.kernels.gram import Kernel, in_blocks

__all__ = ["KernelRows", "MatrixRows", "Rows"]


class Rows(Protocol):
    """Rows of a kernel matrix, (m, m)."""

    store: Array  # (any number, m)
    capacity: int  # rows that are available at once

    def slots(self, samples: Array) -> Array:
        """Return the positions of samples' rows in ``store``; missing rows are computed.

        Parameters
        ----------
        samples : ndarray of int
            The samples, at most ``capacity`` and none of them twice.

        Returns
        -------
        ndarray of int, of the shape of ``samples``
            They are valid until the next call.
        """


class MatrixRows(Rows):
    """Rows of a matrix that is in memory."""

    def __init__(self, matrix: Array) -> None:
        self.store = matrix
        self.capacity = matrix.shape[0]

    def slots(self, samples: Array) -> Array:
        return samples


class KernelRows(Rows):
    """Rows of the kernel matrix of X; the least recently used are replaced first.

    Parameters
    ----------
    kernel : Kernel
        The kernel, whose points are the rows of X.
    X : {ndarray, sparse matrix} of shape (m, d)
        The samples.
    cache_size : float
        Megabytes of rows to keep. They are kept in double precision if all of them fit, else in
        single precision.
    """

    def __init__(self, kernel: Kernel, X: Features, cache_size: float) -> None:
        m = X.shape[0]
        room = cache_size * 2**20
        dtype = np.float64 if room >= 8 * m**2 else np.float32
        self.capacity = min(m, max(2, int(room / (np.dtype(dtype).itemsize * m))))
        self.store = np.empty((self.capacity, m), dtype)
        self._kernel, self._X = kernel, X
        self._slot = np.full(m, -1)  # of each sample
        self._owner = np.full(self.capacity, -1)  # of each slot
        self._used = np.zeros(self.capacity, dtype=np.int64)
        self._clock = 0

    def slots(self, samples: Array) -> Array:
        self._clock += 1
        known = self._slot[samples]
        self._used[known[known >= 0]] = self._clock
        missing = samples[known < 0]
        if missing.size:
            free = np.argpartition(self._used, missing.size - 1)[: missing.size]
            owners = self._owner[free]
            self._slot[owners[owners >= 0]] = -1
            self._owner[free] = missing
            self._slot[missing] = free
            self._used[free] = self._clock
            self._compute(missing, free)
        return np.asarray(self._slot[samples])

    def _compute(self, samples: Array, slots: Array) -> None:
        m = self._slot.size

        def work(parts: Iterator[slice], height: int) -> None:
            values, scratch = np.empty((height, m), self.store.dtype), np.empty((height, m))
            for part in parts:
                n = part.stop - part.start
                block = self._kernel(self._X[samples[part]], values[:n], scratch[:n])
                self.store[slots[part]] = block

        in_blocks(work, samples.size, m)
