"""Some columns of the features, copied for the passes of a working set."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.extmath import row_norms

from immax.arrays import Array, Features
from immax.compiled import has_numba
from immax.solvers.selections import Selection

__all__ = ["FeatureColumns", "copy_dtype", "take_columns"]

BLOCK_ENTRIES = 2**17
COMPILED_ENTRIES = 2**18  # of a sparse matrix whose columns are taken by compiled loops
GRAM_ROWS = 1024  # of a block whose products stay in the cache
ROUNDED_ENTRIES = 2**19  # copies with more are in single precision, if they hold
ROUNDED_SHARE = 0.25  # of the entries of the features, or more
CONSTANT = 1e-11  # share of the squares of a column that varies by rounding alone
LARGEST = 1e30  # number in them
SHORT_ROWS = 2**16  # of sparse features, whose numbers in such copies take 16 bits


@dataclass(frozen=True)
class FeatureColumns:
    """Columns of the features: an ndarray, or a CSC matrix.

    Attributes
    ----------
    X : ndarray or CSC matrix of shape (n, p)
        The columns. Large copies are in single precision, to take half of the memory of the
        features at most: that is enough for a model of the risk, whose minimiser is a step.
    numbers : ndarray of int, shape (p,)
        Which features they are, in any order.
    source : ndarray or CSR matrix of shape (n, d)
        All features.
    room : ndarray of shape (n, d), or None
        Where X has been copied to, in Fortran order, with room for all other columns. The system
        gives memory only to what has been written.
    """

    X: Features
    numbers: Array
    source: Features
    room: Array | None = None

    @property
    def is_sparse(self) -> bool:
        """Whether the columns are a sparse matrix."""
        return bool(sparse.issparse(self.X))

    @property
    def is_rounded(self) -> bool:
        """Whether the columns have a lower precision than the features."""
        return bool(self.X.dtype != self.source.dtype)

    @cached_property
    def flat(self) -> tuple[Array, Array, Array]:
        """The columns one after the other, as compiled passes take them.

        These are the arrays data, indices and indptr of a CSC matrix. A dense matrix, which must
        be in Fortran order, has no indices.
        """
        if self.is_sparse:
            return self.X.data, self.X.indices, self.X.indptr
        n, p = self.X.shape
        return self.X.T.reshape(-1), np.empty(0, np.int32), n * np.arange(p + 1)

    def places(self, features: Array) -> Array:
        """Return the places of features among the columns.

        Parameters
        ----------
        features : ndarray of int
            Numbers of features, all of which are among the columns.

        Returns
        -------
        ndarray of int, of the shape of ``features``
        """
        order = self._ascending
        return np.asarray(order[np.searchsorted(self.numbers, features, sorter=order)])

    @cached_property
    def _ascending(self) -> Array:
        return np.argsort(self.numbers)

    def covers(self, features: Array) -> bool:
        """Return whether all of these features are among the columns.

        Parameters
        ----------
        features : ndarray of int
            Numbers of features, without repetitions.

        Returns
        -------
        bool
        """
        return bool(np.isin(features, self.numbers, assume_unique=True).all())

    def weights(self, selection: Selection, z: Array, n_outputs: int) -> Array:
        """Return selected coefficients as an array of weights.

        Parameters
        ----------
        selection : Selection
            The places of the coefficients.
        z : ndarray of shape (n_selected,)
            The coefficients.
        n_outputs : int
            The number of scores of a sample.

        Returns
        -------
        ndarray of shape (n_outputs, p)
            Zero where no coefficient is selected.
        """
        W = np.zeros((n_outputs, self.numbers.size))
        W[selection.rows, self.places(selection.cols)] = z
        return W

    def scores(self, W: Array) -> Array:
        """Return the scores ``X W^T``, in the precision of the features.

        Parameters
        ----------
        W : ndarray of shape (k, p)
            Weights of the columns.

        Returns
        -------
        ndarray of shape (n, k)
            In Fortran order.
        """
        X = self.X
        if self.is_rounded:
            X, part = self.source, W
            W = np.zeros((W.shape[0], X.shape[1]))
            W[:, self.numbers] = part
        W = W.astype(X.dtype, copy=False)
        if W.shape[0] == 1:
            return np.asarray(X @ W[0])[:, None]
        if self.is_sparse:
            return np.asfortranarray(X @ W.T)
        return np.asarray((W @ X.T).T)

    def pull_back(self, residuals: Array) -> Array:
        """Return the gradient in W of ``sum_ij residuals_ij scores_ij``.

        Parameters
        ----------
        residuals : ndarray of shape (n, k)
            The gradient in the scores.

        Returns
        -------
        ndarray of shape (k, p)
        """
        X = self.source if self.is_rounded else self.X
        if residuals.shape[1] == 1:
            gradient = np.asarray(X.T @ np.ascontiguousarray(residuals[:, 0]))[None, :]
        elif self.is_sparse:
            gradient = np.asarray(X.T @ np.ascontiguousarray(residuals)).T
        else:
            gradient = np.asarray(residuals.T @ X)
        return gradient[:, self.numbers] if self.is_rounded else gradient

    @cached_property
    def squares(self) -> Array:
        """The sum of squares of every column, in double precision."""
        if self.is_sparse:
            rows = _compressed(sparse.csr_matrix, self.X.shape[::-1], *self.flat)
            return np.asarray(row_norms(rows, squared=True), dtype=np.float64)
        return np.einsum("ij,ij->j", self.X, self.X, dtype=np.float64)

    @cached_property
    def constant(self) -> Array:
        """Whether a column varies by nothing but rounding."""
        n = self.X.shape[0]
        sums = np.asarray(self.X.T @ np.ones(n))
        least = max(CONSTANT, 100 * float(np.finfo(self.X.dtype).eps))
        return np.asarray(self.squares - sums**2 / n <= least * self.squares)

    def weighted_gram(self, left: Array, right: Array, weight: Array) -> tuple[Array, Array, Array]:
        """Return ``X_left^T diag(weight) X_right`` and the weighted sums of the columns.

        Parameters
        ----------
        left, right : ndarrays of int
            Places of columns.
        weight : ndarray of shape (n,)
            The weights of the rows.

        Returns
        -------
        gram : ndarray of shape (n_left, n_right)
            In double precision, like the sums.
        sums_left, sums_right : ndarrays of shape (n_left,) and (n_right,)
        """
        if self.is_sparse:
            X = _widened(self.X)
            scaled = sparse.diags_array(weight.astype(np.float64)) @ X[:, right]
            gram = np.asarray((X[:, left].T @ scaled).toarray(), dtype=np.float64)
            sums = self.pull_back(weight[:, None])[0].astype(np.float64)
            return gram, sums[left], sums[right]
        gram = np.zeros((left.size, right.size))
        sums_left, sums_right = np.zeros(left.size), np.zeros(right.size)
        every = np.array_equal(left, np.arange(self.X.shape[1]))
        same = left is right and bool((weight >= 0).all())
        for first in range(0, self.X.shape[0], GRAM_ROWS):
            rows = slice(first, first + GRAM_ROWS)
            part = self.X[rows]
            one = part if every else part[:, left]
            if same:  # one product with its own transpose takes half the time
                root = np.sqrt(weight[rows])
                scaled = one * root[:, None]
                gram += scaled.T @ scaled
                sums_left += root @ scaled
            else:
                scaled = part[:, right] * weight[rows, None]
                gram += one.T @ scaled
                sums_left += weight[rows] @ one
                sums_right += scaled.sum(axis=0)
        return gram, sums_left, sums_left if same else sums_right


def take_columns(
    X: Features,
    numbers: Array,
    in_order: str,
    known: FeatureColumns | None = None,
    may_round: bool = True,
) -> FeatureColumns:
    """Return columns of the features that include some; all of them are not copied if X is dense.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d)
        The features.
    numbers : ndarray of int
        Which columns, ascending.
    in_order : {"F", "K"}
        The memory order of a dense copy; "K" takes any.
    known : FeatureColumns, optional
        Columns that have been taken from X before. Dense copies in Fortran order are extended by
        what they lack.
    may_round : bool, default=True
        Whether large copies may be in single precision.

    Returns
    -------
    FeatureColumns
    """
    every = numbers.size == X.shape[1]
    if not sparse.issparse(X):
        if in_order == "F" and X.flags.f_contiguous:
            return FeatureColumns(X, np.arange(X.shape[1]), X)
        if in_order != "F":
            return FeatureColumns(X if every else X[:, numbers], numbers, X)
    if sparse.issparse(X):
        return FeatureColumns(_csc_columns(X, numbers, may_round), numbers, X)
    dtype = copy_dtype(X, X.shape[0] * numbers.size) if may_round else X.dtype
    if known is None or known.room is None:
        room = np.empty(X.shape, dtype=dtype, order="F")
        known = FeatureColumns(room[:, :0], numbers[:0], X, room)
    return _extended(known, np.setdiff1d(numbers, known.numbers, assume_unique=True))


def copy_dtype(X: Features, n_entries: int) -> np.dtype[Any]:
    """Return the precision of a copy of some entries.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d)
        The features.
    n_entries : int
        How many of their entries are copied.

    Returns
    -------
    numpy.dtype
        That of X, or single precision for a good part of a large matrix.
    """
    entries = X.data if sparse.issparse(X) else X
    if n_entries < max(ROUNDED_ENTRIES, ROUNDED_SHARE * entries.size):
        return np.dtype(X.dtype)
    largest = max(float(entries.max()), -float(entries.min()))
    return np.dtype(np.float32 if largest < LARGEST else X.dtype)


def _extended(known: FeatureColumns, missing: Array) -> FeatureColumns:
    """Return columns in Fortran order together with others, which are copied beside them."""
    X, room = known.source, known.room
    if room is None:
        raise ValueError("only columns that were copied in Fortran order can be extended")
    first, last = known.numbers.size, known.numbers.size + missing.size
    size = max(BLOCK_ENTRIES // max(missing.size, 1), 1)  # rows of a block that fits into the cache
    for begin in range(0, X.shape[0], size):
        rows = slice(begin, begin + size)
        room[rows, first:last] = X[rows][:, missing]
    return FeatureColumns(room[:, :last], np.concatenate([known.numbers, missing]), X, room)


def _csc_columns(X: Features, numbers: Array, may_round: bool) -> Features:
    """Return columns of a CSR matrix in the CSC format, with no copy of all of them between."""
    if X.nnz < COMPILED_ENTRIES or not has_numba():
        taken = X[:, numbers].tocsc()
        return taken.astype(copy_dtype(X, taken.nnz) if may_round else X.dtype, copy=False)
    from immax.compiled.csc_columns import count_entries, fill_columns

    places = np.full(X.shape[1], -1, dtype=np.int32)
    places[numbers] = np.arange(numbers.size)
    indptr = np.zeros(numbers.size + 1, dtype=X.indptr.dtype)
    count_entries(X.indices, places, indptr[1:])
    np.cumsum(indptr, out=indptr)
    n_entries = int(indptr[-1])
    dtype = copy_dtype(X, n_entries) if may_round else X.dtype
    # SciPy's products convert short numbers; there are few of them with a rounded copy.
    short = dtype != X.dtype and X.shape[0] <= SHORT_ROWS
    data, rows = np.empty(n_entries, dtype), np.empty(n_entries, np.uint16 if short else np.int32)
    fill_columns(X.data, X.indices, X.indptr, places, indptr[:-1].copy(), data, rows)
    return _compressed(sparse.csc_matrix, (X.shape[0], numbers.size), data, rows, indptr)


def _compressed(
    kind: type[Features], shape: tuple[int, int], data: Array, indices: Array, indptr: Array
) -> Features:
    """Return a sparse matrix of these arrays; its constructor would convert short indices."""
    matrix = kind(shape, dtype=data.dtype)
    matrix.data, matrix.indices, matrix.indptr = data, indices, indptr
    return matrix


def _widened(X: Features) -> Features:
    """Return a sparse matrix with the indices of 32 bits that SciPy needs to take columns."""
    if X.indices.dtype.itemsize >= 4:
        return X
    return sparse.csc_array((X.data, X.indices.astype(np.int32), X.indptr), shape=X.shape)
