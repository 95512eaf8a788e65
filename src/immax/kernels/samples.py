"""The samples of a kernel machine: points and a kernel, or a matrix of kernel values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypedDict

import numpy as np

from immax.arrays import Array, Features
from immax.kernels.gram import Kernel
from immax.kernels.parameters import KernelLike, resolve_gamma
from immax.kernels.rows import KernelRows, MatrixRows, Rows

__all__ = ["Data", "Matrix", "Points", "build_samples", "kernel_norms"]

TILE = 1024  # rows and columns of a matrix that are compared at once


class LibsvmKernel(TypedDict, total=False):
    """The parameters of scikit-learn's SVC that describe the kernel."""

    kernel: str
    gamma: float
    degree: float
    coef0: float


class Data(Protocol):
    """m samples and the kernel values among them."""

    @property
    def libsvm(self) -> tuple[LibsvmKernel, Features]:
        """The kernel parameters of scikit-learn's SVC, and its X."""

    def subset(self, indices: Array) -> Data:
        """Return some of the samples.

        Parameters
        ----------
        indices : ndarray of int
            The positions of the samples.

        Returns
        -------
        Data
        """

    def diagonal(self) -> Array:
        """Return the kernel value of each sample with itself.

        Returns
        -------
        ndarray of shape (m,)
        """

    def combine(self, coefficients: Array) -> Array:
        """Return the product ``coefficients @ K`` with the kernel matrix K.

        Parameters
        ----------
        coefficients : ndarray of shape (k, m)
            A row for each combination.

        Returns
        -------
        ndarray of shape (k, m)
            In double precision.
        """

    def scores(self, samples: Array, members: Array, coefficients: Array) -> Array:
        """Return the product ``K[samples, members] @ coefficients.T`` with the kernel matrix K.

        Parameters
        ----------
        samples : ndarray of int, shape (n,)
            The samples to score.
        members : ndarray of int, shape (s,)
            The samples that are combined.
        coefficients : ndarray of shape (k, s)
            A row for each score.

        Returns
        -------
        ndarray of shape (n, k)
            In double precision.
        """

    def rows(self, cache_size: float) -> Rows:
        """Return access to the rows of the kernel matrix.

        Parameters
        ----------
        cache_size : float
            Megabytes of rows to keep.

        Returns
        -------
        Rows
        """


@dataclass(frozen=True)
class Points(Data):
    """Points in the rows of X, and a kernel by name."""

    X: Features
    name: str
    gamma: float
    degree: float
    coef0: float

    def _kernel(self, points: Features) -> Kernel:
        return Kernel(self.name, points, self.gamma, self.degree, self.coef0)

    @property
    def libsvm(self) -> tuple[LibsvmKernel, Features]:
        """The kernel parameters of scikit-learn's SVC, and the points."""
        return LibsvmKernel(
            kernel=self.name, gamma=self.gamma, degree=int(self.degree), coef0=self.coef0
        ), self.X

    def subset(self, indices: Array) -> Points:
        return Points(self.X[indices], self.name, self.gamma, self.degree, self.coef0)

    def diagonal(self) -> Array:
        return self._kernel(self.X).diagonal()

    def combine(self, coefficients: Array) -> Array:
        support = np.flatnonzero(coefficients.any(axis=0))
        return self._kernel(self.X[support]).combine(self.X, coefficients[:, support]).T

    def scores(self, samples: Array, members: Array, coefficients: Array) -> Array:
        support = np.flatnonzero(coefficients.any(axis=0))
        kernel = self._kernel(self.X[members[support]])
        return kernel.combine(self.X[samples], coefficients[:, support])

    def matrix(self) -> Matrix:
        """Return the matrix of all kernel values.

        Returns
        -------
        Matrix
        """
        return Matrix(self._kernel(self.X)(self.X))

    def rows(self, cache_size: float) -> Rows:
        return KernelRows(self._kernel(self.X), self.X, cache_size)


@dataclass(frozen=True)
class Matrix(Data):
    """The matrix of kernel values."""

    values: Array

    @property
    def libsvm(self) -> tuple[LibsvmKernel, Features]:
        """The kernel parameters of scikit-learn's SVC for a precomputed kernel, and the matrix."""
        return LibsvmKernel(kernel="precomputed"), self.values

    def subset(self, indices: Array) -> Matrix:
        return Matrix(np.ascontiguousarray(self.values[np.ix_(indices, indices)]))

    def diagonal(self) -> Array:
        return np.diagonal(self.values)

    def combine(self, coefficients: Array) -> Array:
        support = np.flatnonzero(coefficients.any(axis=0))
        return np.asarray(coefficients[:, support] @ self.values[support])

    def scores(self, samples: Array, members: Array, coefficients: Array) -> Array:
        support = np.flatnonzero(coefficients.any(axis=0))
        part = self.values[np.ix_(samples, members[support])]
        return np.asarray(part @ coefficients[:, support].T)

    def rows(self, cache_size: float) -> Rows:  # noqa: ARG002 - they are all there
        return MatrixRows(self.values)


def build_samples(
    X: Features,
    kernel: KernelLike,
    weight: Array,
    *,
    gamma: str | float = "scale",
    degree: float = 3,
    coef0: float = 0.0,
) -> tuple[Data, float]:
    """Return the samples that have weight as a kernel machine takes them, and the kernel's gamma.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n, d)
        Points, or for "precomputed" the kernel matrix, (n, n).
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"} or callable
        As in scikit-learn's SVC.
    weight : ndarray of shape (n,)
        Samples of weight zero are left out.
    gamma, degree, coef0
        As in scikit-learn's SVC.

    Returns
    -------
    data : Data
    gamma : float
        One where the kernel has no use for it.

    Raises
    ------
    ValueError
        If a kernel matrix is not square, finite and symmetric.
    """
    weighted = np.flatnonzero(weight)
    few = weighted.size < X.shape[0]
    if not callable(kernel) and kernel == "precomputed":
        _check_kernel_matrix(X, X.shape[0], "X")
        matrix = Matrix(X)
        return (matrix.subset(weighted) if few else matrix), 1.0
    if few:
        X = X[weighted]
    if callable(kernel):
        values = np.ascontiguousarray(kernel(X, X), dtype=np.float64)
        _check_kernel_matrix(values, X.shape[0], "the kernel's matrix")
        return Matrix(values), 1.0
    number = resolve_gamma(gamma, X, weight[weighted] if few else weight)
    return Points(X, kernel, number, degree, coef0), number


def kernel_norms(data: Data) -> Array:
    """Return the norms of the samples in the kernel's space.

    Parameters
    ----------
    data : Data

    Returns
    -------
    ndarray of shape (n,)

    Raises
    ------
    ValueError
        If the kernel is not positive definite.
    """
    squares = data.diagonal()
    if (squares < 0).any():
        raise ValueError("use_radii needs a positive definite kernel: this one has no norms")
    return np.asarray(np.sqrt(squares))


def _check_kernel_matrix(K: Array, n: int, name: str) -> None:
    if K.shape != (n, n):
        raise ValueError(
            f"{name} must be square, with a row and a column for each of {n} samples; "
            f"got shape {K.shape}"
        )
    largest = 0.0
    furthest = 0.0
    for i in range(0, n, TILE):
        for j in range(0, i + 1, TILE):
            below, above = K[i : i + TILE, j : j + TILE], K[j : j + TILE, i : i + TILE]
            if not (np.isfinite(below).all() and np.isfinite(above).all()):
                raise ValueError(f"{name} holds values that are not finite")
            largest = max(largest, float(np.abs(below).max()))
            furthest = max(furthest, float(np.abs(below - above.T).max()))
    if furthest > 1e-6 * largest:
        raise ValueError(
            f"{name} must be symmetric; entries differ from those across by up to {furthest:.3g}"
        )
