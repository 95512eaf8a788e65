"""Products with a sparse matrix, a thread for each part of its rows."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from immax.arrays import Array
from immax.threads import available_cores, in_threads

__all__ = ["RowParts"]

ENTRIES_PER_THREAD = 250_000  # fewer are not worth a thread


class RowParts:
    """A CSR matrix cut into runs of rows that share its arrays.

    SciPy's products let go of the interpreter's lock, so the parts run side by side. The
    parts' results are added in their order: the same machine gives the same bits.
    """

    def __init__(self, X: Any) -> None:
        self._shape = X.shape
        count = max(1, min(available_cores(), X.nnz // ENTRIES_PER_THREAD))
        targets = np.linspace(0, X.nnz, count + 1)[1:-1]
        cuts = [0, *np.searchsorted(X.indptr, targets).tolist(), X.shape[0]]
        self._rows = [slice(begin, end) for begin, end in pairwise(cuts)]
        self._parts = [_view(X, rows, sparse.csr_matrix) for rows in self._rows]
        self._transposed = [_view(X, rows, sparse.csc_matrix) for rows in self._rows]

    def product(self, right: Array) -> Array:
        """``X @ right`` for ``right`` of shape (d, k)."""
        vector = _contiguous(right)
        parts = in_threads(lambda part: part @ vector, [(part,) for part in self._parts])
        return np.concatenate(parts).reshape(self._shape[0], -1)

    def transposed_product(self, right: Array) -> Array:
        """``X.T @ right`` for ``right`` of shape (n, k)."""
        vector = _contiguous(right)
        pairs = list(zip(self._transposed, self._rows, strict=True))
        parts = in_threads(lambda part, rows: part @ vector[rows], pairs)
        return np.asarray(sum(parts)).reshape(self._shape[1], -1)


def _contiguous(right: Array) -> Array:
    return np.ascontiguousarray(right[:, 0] if right.shape[1] == 1 else right)


def _view(X: Any, rows: slice, kind: Any) -> Any:
    """Rows of a CSR matrix, or as CSC their transpose, without a copy of the entries."""
    first, last = X.indptr[rows.start], X.indptr[rows.stop]
    shape = rows.stop - rows.start, X.shape[1]
    view = kind(shape if kind is sparse.csr_matrix else shape[::-1], dtype=X.dtype)
    # Set one by one: the constructor would copy a slice of a larger array.
    view.data, view.indices = X.data[first:last], X.indices[first:last]
    view.indptr = X.indptr[rows.start : rows.stop + 1] - first
    return view
