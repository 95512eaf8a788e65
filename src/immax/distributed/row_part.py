"""A part of the rows of the training data, in the memory of one process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from scipy import sparse

from immax.arrays import Array, Features
from immax.distributed.row_losses import RowLoss
from immax.losses.risks import SmoothRisk

__all__ = ["RowPart"]

MOST_SCORES = 2_000_000  # that are computed at a time, where they are not kept
CACHED_BYTES = 2**20  # of features, which stay in a core's cache between two products
MIN_ROWS = 1024  # below which calls of NumPy take longer than what they do


class RowPart:
    """Rows with a positive weight, and what is known of their scores.

    What a part remembers between calls is a convenience: after a loss of the process, or in
    another one, it is computed again from the parameters that come with every call.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n, d)
        Features in float32 or float64.
    y : ndarray of int, shape (n,)
        Class indices.
    weight : ndarray of shape (n,)
        Sample weights.
    places : ndarray of int, shape (n,)
        The positions of the rows among those of all parts that have a weight.
    folds : ndarray of int, shape (n,), optional
        The folds of a search in which the rows are held out.
    """

    def __init__(
        self, X: Features, y: Array, weight: Array, places: Array, folds: Array | None = None
    ) -> None:
        self.X, self.y, self.weight, self.places, self.folds = X, y, weight, places, folds
        self.known: dict[str, Array] = {}
        self._risks: dict[str, SmoothRisk] = {}
        self._kept_blocks: list[RowPart] = []

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "known": {}, "_risks": {}, "_kept_blocks": []}

    def __sizeof__(self) -> int:
        """Return the number of bytes, by which Dask manages the memory of its workers."""
        X = self.X
        size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if self.is_sparse else X.nbytes
        return int(size + self.y.nbytes + self.weight.nbytes + self.places.nbytes)

    @property
    def is_sparse(self) -> bool:
        """Whether the features are a sparse matrix."""
        return bool(sparse.issparse(self.X))

    def __len__(self) -> int:
        return int(self.y.size)

    def blocks(self, outputs: int) -> Iterator[RowPart]:
        """Cut the part into parts with a limited number of scores.

        Parameters
        ----------
        outputs : int
            The number of scores of a row.

        Returns
        -------
        iterator of RowPart
        """
        return self._cut(max(MIN_ROWS, MOST_SCORES // outputs))

    def kept_blocks(self) -> list[RowPart]:
        """Cut the part into parts that remember their scores; the same ones at every call.

        Dense rows are read from memory once for a loss and its gradient: a block stays in the
        cache of a core in between. Sparse rows, which would be copied, are one block.

        Returns
        -------
        list of RowPart
        """
        rows = max(MIN_ROWS, CACHED_BYTES // (self.X.shape[1] * self.X.dtype.itemsize))
        if self.is_sparse or rows >= len(self):
            return [self]
        if not self._kept_blocks:
            self._kept_blocks = list(self._cut(rows))
        return self._kept_blocks

    def _cut(self, rows: int) -> Iterator[RowPart]:
        for begin in range(0, len(self), rows):
            cut = slice(begin, begin + rows)
            folds = None if self.folds is None else self.folds[cut]
            own = self.X[cut], self.y[cut], self.weight[cut], self.places[cut]
            yield RowPart(*own, folds)

    def risk(self, loss: RowLoss, left_out: int | None = None, name: str | None = None) -> Any:
        """Return the risk of the rows.

        Parameters
        ----------
        loss : RowLoss
            The loss.
        left_out : int, optional
            The fold whose rows do not count.
        name : str, optional
            The name under which the risk is kept for the next call.

        Returns
        -------
        SmoothRisk
        """
        if name is not None and name in self._risks:
            return self._risks[name]
        weight = self.weight
        if left_out is not None:
            weight = np.where(self.folds == left_out, 0.0, weight)
        risk = loss.risk(self.y, weight, self.places, self.X.dtype)
        if name is not None:
            self._risks = {name: risk}
        return risk

    def products(self, W: Array) -> Array:
        """Return ``W X^T``.

        Parameters
        ----------
        W : ndarray of shape (m, d)
            Weights.

        Returns
        -------
        ndarray of shape (m, n)
        """
        W = W.astype(self.X.dtype, copy=False)
        if self.is_sparse:
            return np.asarray((self.X @ W.T).T)
        if len(W) == 1:
            return np.asarray(self.X @ W[0])[None]
        return np.asarray(W @ self.X.T)

    def transposed_products(self, residuals: Array) -> Array:
        """Return ``residuals X``.

        Parameters
        ----------
        residuals : ndarray of shape (m, n)
            The gradient in the scores.

        Returns
        -------
        ndarray of shape (m, d)
        """
        if self.is_sparse:
            return np.asarray((self.X.T @ residuals.T).T)
        if len(residuals) == 1:
            return np.asarray(self.X.T @ residuals[0])[None]
        return np.asarray(residuals @ self.X)

    def remember(self, scores: Mapping[str, Array]) -> None:
        """Keep these scores, and forget all others.

        Parameters
        ----------
        scores : mapping of str to ndarray
            Scores by the names of their parameters.
        """
        self.known = dict(scores)
