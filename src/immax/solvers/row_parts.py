"""Products with a sparse matrix, a thread for each part of its rows."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["RowParts"]

Array = NDArray[Any]

ENTRIES_PER_THREAD = 250_000  # fewer are not worth a thread
MOST_THREADS = 8


class RowParts:
    """A CSR matrix cut into runs of rows that share its arrays.

    SciPy's products let go of the interpreter's lock, so the parts run side by side. The
    parts' results are added in their order: the same machine gives the same bits.
    """

    def __init__(self, X: Any) -> None:
        self._shape = X.shape
        count = max(1, min(_cores(), MOST_THREADS, X.nnz // ENTRIES_PER_THREAD))
        targets = np.linspace(0, X.nnz, count + 1)[1:-1]
        self._cuts = [0, *np.searchsorted(X.indptr, targets).tolist(), X.shape[0]]
        self._parts = [
            _rows_of(X, begin, end)
            for begin, end in zip(self._cuts[:-1], self._cuts[1:], strict=True)
        ]
        self._pool = ThreadPoolExecutor(count) if count > 1 else None

    def product(self, right: Array) -> Array:
        """``X @ right`` for ``right`` of shape (d, k)."""
        right = np.ascontiguousarray(right)
        if right.shape[1] == 1:
            right = right[:, 0]
        out = np.concatenate(self._map(lambda part, _: part @ right))
        return out.reshape(self._shape[0], -1)

    def transposed_product(self, right: Array) -> Array:
        """``X.T @ right`` for ``right`` of shape (n, k)."""
        right = np.ascontiguousarray(right)
        if right.shape[1] == 1:
            right = right[:, 0]
        out = sum(self._map(lambda part, rows: part.T @ right[rows]))
        return np.asarray(out).reshape(self._shape[1], -1)

    def _map(self, work: Any) -> list[Array]:
        rows = [slice(b, e) for b, e in zip(self._cuts[:-1], self._cuts[1:], strict=True)]
        if self._pool is None:
            return [work(part, r) for part, r in zip(self._parts, rows, strict=True)]
        return list(self._pool.map(work, self._parts, rows))


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _rows_of(X: Any, begin: int, end: int) -> Any:
    """Rows of a CSR matrix without a copy of its entries."""
    first, last = X.indptr[begin], X.indptr[end]
    arrays = X.data[first:last], X.indices[first:last], X.indptr[begin : end + 1] - first
    return type(X)(arrays, shape=(end - begin, X.shape[1]), copy=False)
