"""Hessians of a sample's losses in its scores, as solvers ask for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from immax.arrays import Array

__all__ = ["Curvature", "DiagonalCurvature"]


class Curvature(Protocol):
    """Hessians of a sample's weighted losses in its scores, one k×k matrix per sample."""

    def block(self, a: int, b: int) -> Array:
        """Return one entry of every sample's Hessian.

        Parameters
        ----------
        a, b : int
            The row and the column of the entry.

        Returns
        -------
        ndarray of shape (n,)
        """

    def diagonal(self) -> Array:
        """Return the diagonal of every sample's Hessian.

        Returns
        -------
        ndarray of shape (n, k)
        """

    def product(self, vectors: Array) -> Array:
        """Multiply every sample's Hessian by a vector.

        Parameters
        ----------
        vectors : ndarray of shape (n, k)
            A vector for each sample.

        Returns
        -------
        ndarray of shape (n, k)
        """

    def total(self) -> Array:
        """Return the sum of the samples' Hessians.

        Returns
        -------
        ndarray of shape (k, k)
            The Hessian in the biases.
        """


@dataclass
class DiagonalCurvature(Curvature):
    """The curvature of a single score, or of scores that do not interact: (n, k)."""

    entries: Array

    def block(self, a: int, b: int) -> Array:
        return self.entries[:, a] if a == b else np.zeros_like(self.entries[:, a])

    def diagonal(self) -> Array:
        return self.entries

    def product(self, vectors: Array) -> Array:
        return np.asarray(self.entries * vectors)

    def total(self) -> Array:
        return np.diag(self.entries.sum(axis=0))
