"""Training data as a kernel machine sees it: points and a kernel, or the kernel's matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from immax.arrays import Array
from immax.kernels.gram import Kernel
from immax.kernels.rows import KernelRows, MatrixRows, Rows

__all__ = ["Data", "Matrix", "Points"]


class Data(Protocol):
    """m samples and the kernel values among them."""

    @property
    def libsvm(self) -> tuple[dict[str, Any], Any]:
        """What scikit-learn's SVC is to be told and given."""

    def subset(self, indices: Array) -> Data:
        """Some of the samples."""

    def diagonal(self) -> Array:
        """The value of each sample with itself."""

    def combine(self, coefficients: Array) -> Array:
        """``coefficients @ kernel matrix``, shape (k, m), in double precision."""

    def scores(self, samples: Array, members: Array, coefficients: Array) -> Array:
        """``K[samples, members] @ coefficients.T``, in double precision."""

    def rows(self, cache_size: float) -> Rows:
        """Rows of the kernel matrix, with so many megabytes to keep them."""


@dataclass(frozen=True)
class Points:
    """Points in the rows of X, and a kernel by name."""

    X: Any
    name: str
    gamma: float
    degree: float
    coef0: float

    def _kernel(self, points: Any) -> Kernel:
        return Kernel(self.name, points, self.gamma, self.degree, self.coef0)

    @property
    def libsvm(self) -> tuple[dict[str, Any], Any]:
        options = {"kernel": self.name, "gamma": self.gamma}
        return options | {"degree": self.degree, "coef0": self.coef0}, self.X

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
        """The same with all kernel values computed."""
        return Matrix(self._kernel(self.X)(self.X))

    def rows(self, cache_size: float) -> Rows:
        return KernelRows(self._kernel(self.X), self.X, cache_size)


@dataclass(frozen=True)
class Matrix:
    """The matrix of kernel values."""

    values: Array

    @property
    def libsvm(self) -> tuple[dict[str, Any], Any]:
        return {"kernel": "precomputed"}, self.values

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
