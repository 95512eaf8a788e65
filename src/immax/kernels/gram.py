"""Kernel values, in blocks that fit the processor's cache."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.extmath import row_norms, safe_sparse_dot
from threadpoolctl import ThreadpoolController

from immax.arrays import Array
from immax.compiled import worth_compiling
from immax.threads import available_cores, in_threads

__all__ = ["KERNELS", "Kernel", "in_blocks", "one_thread_each"]

KERNELS = ("linear", "poly", "rbf", "sigmoid")
BLOCK = 1 << 18  # kernel values at a time
WORTH_THREADS = 1 << 21  # kernel values


class Kernel:
    """The values of a kernel, named as in scikit-learn's SVC, between any points and given ones.

    Parameters
    ----------
    name : {"linear", "poly", "rbf", "sigmoid"} or callable
        A callable takes two matrices of points to the matrix of their kernel values.
    points : {ndarray, sparse matrix} of shape (n, d)
    gamma, degree, coef0 : float
    """

    def __init__(
        self,
        name: str | Callable[[Any, Any], Any],
        points: Any,
        gamma: float = 1.0,
        degree: float = 3,
        coef0: float = 0.0,
    ) -> None:
        if not callable(name) and name not in KERNELS:
            raise ValueError(f"there is no kernel {name!r}; there are {', '.join(KERNELS)}")
        self.name = name
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.size = points.shape[0]
        self._centre: Any = 0.0
        if name == "rbf" and not sparse.issparse(points) and self.size:
            # Distances stay when all points move, and small numbers lose fewer digits.
            self._centre = points.mean(axis=0)
            points = points - self._centre
        self._points = points
        self._squares = row_norms(points, squared=True) if name == "rbf" else np.empty(0)

    def __call__(self, X: Any, out: Array | None = None, scratch: Array | None = None) -> Array:
        """Values between each row of X and each point, shape (len(X), n).

        Into ``out``, of either precision, and by way of ``scratch``, float64, both of that shape
        and by default new ones.
        """
        if out is None:
            out = np.empty((X.shape[0], self.size))
        if callable(self.name):
            out[:] = self.name(X, self._points)
            return out
        if self.name == "rbf":
            return self._rbf(X, out, scratch)
        values = _dot(X, self._points, scratch)
        if self.name != "linear":
            values *= self.gamma
            values += self.coef0
        if self.name == "poly":
            out[:] = _power(values, self.degree)
        elif self.name == "sigmoid":
            np.tanh(values, out=out, casting="same_kind")
        else:
            out[:] = values
        return out

    def _rbf(self, X: Any, out: Array, scratch: Array | None) -> Array:
        X = X if sparse.issparse(X) else X - self._centre
        products, squares = _dot(X, self._points, scratch), row_norms(X, squared=True)
        if worth_compiling(products.size * self.size):
            from immax.compiled.gaussian_kernel import gaussian

            gaussian(products, squares, self._squares, float(self.gamma), out)
            return out
        products *= 2
        products -= squares[:, None]
        products -= self._squares
        np.minimum(products, 0, out=products)
        products *= self.gamma
        return np.exp(products, out=out, casting="same_kind")

    def diagonal(self) -> Array:
        """The value of each point with itself."""
        if self.name == "rbf":
            return np.ones(self.size)
        if callable(self.name):
            rows = (self._points[[i]] for i in range(self.size))
            return np.array([float(np.asarray(self.name(row, row))[0, 0]) for row in rows])
        values = row_norms(self._points, squared=True)
        if self.name == "linear":
            return values
        values = self.gamma * values + self.coef0
        return _power(values, self.degree) if self.name == "poly" else np.tanh(values)

    def combine(self, X: Any, coefficients: Array) -> Array:
        """``sum_i coefficients[k, i] K(x, point_i)`` for every row x of X, shape (len(X), k)."""
        out = np.empty((X.shape[0], coefficients.shape[0]))
        if callable(self.name):
            out[:] = self(X) @ coefficients.T
            return out

        def work(parts: Iterator[slice], height: int) -> None:
            values, scratch = np.empty((2, height, self.size))
            for part in parts:
                rows = part.stop - part.start
                block = self(X[part], values[:rows], scratch[:rows])
                np.matmul(block, coefficients.T, out=out[part])

        in_blocks(work, X.shape[0], self.size)
        return out


def in_blocks(work: Callable[[Iterator[slice], int], None], rows: int, columns: int) -> None:
    """Let threads work on a matrix, block by block.

    ``work`` gets an iterator over slices of the rows, which the threads share, and how many rows
    these have at the most.
    """
    height = min(rows, max(1, BLOCK // max(columns, 1)))
    if not rows:
        return
    starts = range(0, rows, height)
    parts = iter([slice(start, min(start + height, rows)) for start in starts])
    workers = min(available_cores(), len(starts)) if rows * columns >= WORTH_THREADS else 1
    with one_thread_each():
        in_threads(work, [(parts, height)] * workers)


def one_thread_each() -> Any:
    """A context in which BLAS does not start threads: its matrices are small here."""
    return _libraries().limit(limits=1, user_api="blas")


@cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()


def _dot(X: Any, points: Any, out: Array | None) -> Array:
    if out is not None and not sparse.issparse(X) and not sparse.issparse(points):
        return np.matmul(X, points.T, out=out)
    return np.asarray(safe_sparse_dot(X, points.T, dense_output=True), dtype=np.float64)


def _power(values: Array, degree: float) -> Array:
    """As ``values**degree``, by multiplications where they are few."""
    if degree not in range(1, 9):
        return values**degree
    out = values.copy()
    for _ in range(int(degree) - 1):
        out *= values
    return out
