"""Products with a sparse matrix, with a thread for each part of its rows."""

from __future__ import annotations

from itertools import pairwise
from typing import TypeAlias

import numpy as np
from scipy import sparse

from immax.arrays import Array, Features
from immax.threads import available_cores, in_threads

__all__ = ["RowParts"]

ENTRIES_PER_THREAD = 250_000  # fewer are not worth a thread

MatrixType: TypeAlias = type[sparse.csr_matrix] | type[sparse.csc_matrix]


class RowParts:
    """A CSR matrix cut into consecutive blocks of rows that share its arrays.

    SciPy's products release the GIL, so the blocks are multiplied in parallel. Their results are
    added in a fixed order: the same machine gives the same bits.

    Parameters
    ----------
    X : CSR matrix of shape (n, d)
        The features.
    """

    def __init__(self, X: Features) -> None:
        self._shape = X.shape
        count = max(1, min(available_cores(), X.nnz // ENTRIES_PER_THREAD))
        targets = np.linspace(0, X.nnz, count + 1)[1:-1]
        cuts = [0, *np.searchsorted(X.indptr, targets).tolist(), X.shape[0]]
        self._rows = [slice(begin, end) for begin, end in pairwise(cuts)]
        self._parts = [_view(X, rows, sparse.csr_matrix) for rows in self._rows]
        self._transposed = [_view(X, rows, sparse.csc_matrix) for rows in self._rows]

    def product(self, right: Array) -> Array:
        """Return ``X @ right``.

        Parameters
        ----------
        right : ndarray of shape (d, k)
            The other factor.

        Returns
        -------
        ndarray of shape (n, k)
        """
        vector = _contiguous(right)
        parts = in_threads(lambda part: part @ vector, [(part,) for part in self._parts])
        return np.concatenate(parts).reshape(self._shape[0], -1)

    def transposed_product(self, right: Array) -> Array:
        """Return ``X.T @ right``.

        Parameters
        ----------
        right : ndarray of shape (n, k)
            The other factor.

        Returns
        -------
        ndarray of shape (d, k)
        """
        vector = _contiguous(right)
        pairs = list(zip(self._transposed, self._rows, strict=True))
        total, *others = in_threads(lambda part, rows: part @ vector[rows], pairs)
        for part in others:
            total += part
        return np.asarray(total).reshape(self._shape[1], -1)


def _contiguous(right: Array) -> Array:
    return np.ascontiguousarray(right[:, 0] if right.shape[1] == 1 else right)


def _view(X: Features, rows: slice, kind: MatrixType) -> Features:
    """Return rows of a CSR matrix, or their transpose as CSC, without copying the entries."""
    first, last = X.indptr[rows.start], X.indptr[rows.stop]
    shape = rows.stop - rows.start, X.shape[1]
    view = kind(shape if kind is sparse.csr_matrix else shape[::-1], dtype=X.dtype)
    # Set one by one: the constructor would copy a slice of a larger array.
    view.data, view.indices = X.data[first:last], X.indices[first:last]
    view.indptr = X.indptr[rows.start : rows.stop + 1] - first
    return view
