"""Kernel values, in blocks that fit the processor's cache."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import cache

import numpy as np
from scipy import sparse
from sklearn.utils.extmath import row_norms, safe_sparse_dot
from threadpoolctl import ThreadpoolController

from immax.arrays import Array, Features
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
        The points on one side; those on the other side are given in each call.
    gamma : float, default=1.0
        The coefficient of "poly", "rbf" and "sigmoid".
    degree : float, default=3
        The degree of "poly".
    coef0 : float, default=0.0
        The constant of "poly" and "sigmoid".
    """

    def __init__(
        self,
        name: str | Callable[[Features, Features], Features],
        points: Features,
        gamma: float = 1.0,
        degree: float = 3,
        coef0: float = 0.0,
    ) -> None:
        if not callable(name) and name not in KERNELS:
            raise ValueError(f"there is no kernel {name!r}; the kernels are {', '.join(KERNELS)}")
        self.name = name
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.size = points.shape[0]
        self._centre: Array | float = 0.0
        if name == "rbf" and not sparse.issparse(points) and self.size:
            # Distances do not change when all points move, and small numbers lose fewer digits.
            self._centre = points.mean(axis=0)
            points = points - self._centre
        self._points = points
        self._squares = row_norms(points, squared=True) if name == "rbf" else np.empty(0)

    def __call__(
        self,
        X: Features,
        out: Array | None = None,
        scratch: Array | None = None,
        expected_rows: int = 0,
    ) -> Array:
        """Return the values between each row of X and each point.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (m, d)
            Points.
        out : ndarray of shape (m, n), optional
            Where to write the values, in either precision; by default a new array.
        scratch : ndarray of float64, shape (m, n), optional
            Overwritten; by default a new array where one is needed.
        expected_rows : int, default=0
            The number of rows of all calls together, if it is larger than that of the points.

        Returns
        -------
        ndarray of shape (m, n)
        """
        if out is None:
            out = np.empty((X.shape[0], self.size))
        if callable(self.name):
            out[:] = self.name(X, self._points)
            return out
        if self.name == "rbf":
            return self._rbf(X, out, scratch, max(expected_rows, self.size))
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

    def _rbf(self, X: Features, out: Array, scratch: Array | None, expected_rows: int) -> Array:
        X = X if sparse.issparse(X) else X - self._centre
        products, squares = _dot(X, self._points, scratch), row_norms(X, squared=True)
        if worth_compiling(expected_rows * self.size):
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
        """Return the kernel value of each point with itself.

        Returns
        -------
        ndarray of shape (n,)
        """
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

    def combine(self, X: Features, coefficients: Array) -> Array:
        """Return ``sum_i coefficients[k, i] K(x, point_i)`` for every row x of X.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (m, d)
            Points.
        coefficients : ndarray of shape (k, n)
            Factors of the points.

        Returns
        -------
        ndarray of shape (m, k)
        """
        out = np.empty((X.shape[0], coefficients.shape[0]))
        if callable(self.name):
            out[:] = self(X) @ coefficients.T
            return out

        def work(parts: Iterator[slice], height: int) -> None:
            values, scratch = np.empty((2, height, self.size))
            for part in parts:
                rows = part.stop - part.start
                block = self(X[part], values[:rows], scratch[:rows], X.shape[0])
                np.matmul(block, coefficients.T, out=out[part])

        in_blocks(work, X.shape[0], self.size)
        return out


def in_blocks(work: Callable[[Iterator[slice], int], None], rows: int, columns: int) -> None:
    """Work on a matrix in blocks of rows, by threads if it is large.

    Parameters
    ----------
    work : callable
        Called with an iterator over slices of the rows, which the threads share, and the largest
        number of rows in a slice.
    rows, columns : int
        The size of the matrix.
    """
    height = min(rows, max(1, BLOCK // max(columns, 1)))
    if not rows:
        return
    starts = range(0, rows, height)
    parts = iter([slice(start, min(start + height, rows)) for start in starts])
    workers = min(available_cores(), len(starts)) if rows * columns >= WORTH_THREADS else 1
    with one_thread_each():
        in_threads(work, [(parts, height)] * workers)


def one_thread_each() -> AbstractContextManager[object]:
    """Return a context in which BLAS does not start threads, since its matrices are small here.

    Returns
    -------
    context manager
    """
    return _libraries().limit(limits=1, user_api="blas")


@cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()


def _dot(X: Features, points: Features, out: Array | None) -> Array:
    if out is not None and not sparse.issparse(X) and not sparse.issparse(points):
        return np.matmul(X, points.T, out=out)
    return np.asarray(safe_sparse_dot(X, points.T, dense_output=True), dtype=np.float64)


def _power(values: Array, degree: float) -> Array:
    """Return ``values**degree``, by multiplications where they are few."""
    if degree not in range(1, 9):
        return values**degree
    out = values.copy()
    for _ in range(int(degree) - 1):
        out *= values
    return out
