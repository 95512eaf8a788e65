"""Columns of a CSR matrix in the CSC format, for ``solvers.feature_columns``."""

from __future__ import annotations

from immax.arrays import Array
from immax.compiled.compiler import jit

__all__ = ["count_entries", "fill_columns"]


@jit(owns_arrays=False)
def count_entries(indices: Array, places: Array, counts: Array) -> None:
    """Count the entries of the columns that are taken.

    Parameters
    ----------
    indices : ndarray of int, shape (n_entries,)
        The column of each entry.
    places : ndarray of int, shape (d,)
        The place of each column among those that are taken, or -1.
    counts : ndarray of int, shape (p,)
        Zeros; changed in place.
    """
    for e in range(indices.size):
        place = places[indices[e]]
        if place >= 0:
            counts[place] += 1


@jit(owns_arrays=False)
def fill_columns(
    data: Array,
    indices: Array,
    indptr: Array,
    places: Array,
    begins: Array,
    to_data: Array,
    to_rows: Array,
) -> None:
    """Write the entries of the columns that are taken, and their rows, column by column.

    Parameters
    ----------
    data, indices, indptr : ndarrays
        The CSR matrix.
    places : ndarray of int, shape (d,)
        The place of each column among those that are taken, or -1.
    begins : ndarray of int, shape (p,)
        Where each column begins; changed in place, to where it ends.
    to_data, to_rows : ndarrays
        Receive the entries and their rows, ascending within a column.
    """
    for i in range(indptr.size - 1):
        for e in range(indptr[i], indptr[i + 1]):
            place = places[indices[e]]
            if place >= 0:
                to_data[begins[place]] = data[e]
                to_rows[begins[place]] = i
                begins[place] += 1
