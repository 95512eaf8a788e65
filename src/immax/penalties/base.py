"""The interface of a penalty."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from immax.arrays import Array

__all__ = ["Blocks", "Penalty", "soft_threshold"]


@dataclass(frozen=True)
class Blocks:
    """How a penalty divides the coefficients into blocks that are zero together.

    The penalty is ``sum_b weight_b ||W_b||_2 + ridge ||W||^2``. A block holds single coefficients,
    or whole columns of W.

    Attributes
    ----------
    labels : ndarray of int, shape (d,), or None
        The block of each column; None if every coefficient is a block, in the order of W's rows.
    weights : ndarray of shape (n_blocks,)
        Positive.
    ridge : float
        Not negative.
    """

    labels: Array | None
    weights: Array
    ridge: float

    @property
    def by_column(self) -> bool:
        """Whether the blocks hold whole columns."""
        return self.labels is not None

    def norms(self, W: Array) -> Array:
        """Return the Euclidean norm of every block.

        Parameters
        ----------
        W : ndarray of shape (k, d)
            Weights, or a gradient in them.

        Returns
        -------
        ndarray of shape (n_blocks,)
        """
        if self.labels is None:
            return np.abs(W).ravel()
        squares = np.einsum("ij,ij->j", W, W, dtype=np.float64)
        return np.sqrt(np.bincount(self.labels, squares, minlength=self.weights.size))


class Penalty(ABC):
    """A convex penalty of the weights of a linear model.

    The objective is ``lam Omega(W) + risk``. Subclasses are frozen dataclasses of their options.
    """

    name: ClassVar[str]

    @property
    def smooth(self) -> bool:
        """Whether the penalty has a gradient everywhere, so that no coefficient is zero for it."""
        return False

    @property
    def norm_part(self) -> tuple[float, Penalty]:
        """A factor and a norm, which is what remains of the penalty close to zero."""
        return 1.0, self

    @abstractmethod
    def blocks(self, shape: tuple[int, int]) -> Blocks:
        """Return the blocks of coefficients that are zero together.

        Parameters
        ----------
        shape : tuple of int
            The shape (k, d) of the weights.

        Returns
        -------
        Blocks
        """

    @abstractmethod
    def value(self, W: Array) -> float:
        """Return ``Omega(W)``.

        Parameters
        ----------
        W : ndarray of shape (k, d)
            Weights.

        Returns
        -------
        float
        """

    @abstractmethod
    def prox(self, W: Array, step: float) -> Array:
        """Return ``argmin_V ||V - W||^2 / 2 + step Omega(V)``, the proximal step.

        Parameters
        ----------
        W : ndarray of shape (k, d)
            Weights.
        step : float
            Not negative.

        Returns
        -------
        ndarray of shape (k, d)
        """

    @abstractmethod
    def dual_norm(self, G: Array) -> float:
        """Return the least lam at which zero is optimal where the risk has this gradient.

        Parameters
        ----------
        G : ndarray of shape (k, d)
            The gradient of the risk in the weights.

        Returns
        -------
        float
            Infinite, unless G is zero, for a penalty that is smooth at zero.
        """

    @abstractmethod
    def conjugate(self, G: Array, lam: float) -> float:
        """Return ``sup_W <G, W> - lam Omega(W)``, the penalty's term of the dual objective.

        Parameters
        ----------
        G : ndarray of shape (k, d)
            A gradient in the weights, of either sign.
        lam : float
            The strength of the penalty.

        Returns
        -------
        float
            Not negative; infinite for a norm whose dual norm at G exceeds lam.
        """

    @abstractmethod
    def violations(self, W: Array, G: Array, lam: float) -> Array:
        """Return by how much every block violates the optimality conditions.

        Parameters
        ----------
        W, G : ndarrays of shape (k, d)
            Weights, and the gradient of the risk there.
        lam : float
            The strength of the penalty.

        Returns
        -------
        ndarray of shape (n_blocks,)
            The distances of ``-G`` from the subdifferential of ``lam Omega`` at W.
        """

    @abstractmethod
    def screen(self, G: Array, lam: float, previous: float) -> Array:
        """Return which blocks are likely to be needed: the sequential strong rule.

        The gradient of a block is assumed to change by no more than lam does. Where that fails,
        the optimality conditions of the blocks that were left out show it.

        Parameters
        ----------
        G : ndarray of shape (k, d)
            The gradient of the risk at the solution for the previous, larger lam.
        lam, previous : float
            The strengths of the penalty, now and before.

        Returns
        -------
        ndarray of bool, shape (n_blocks,)
        """


def soft_threshold(W: Array, threshold: float) -> Array:
    """Return ``sign(W) max(|W| - threshold, 0)``.

    Parameters
    ----------
    W : ndarray
        Any numbers.
    threshold : float
        Not negative.

    Returns
    -------
    ndarray
        Of the same shape and data type.
    """
    shrunk = np.abs(W)
    shrunk -= W.dtype.type(threshold)
    np.maximum(shrunk, 0, out=shrunk)
    return np.asarray(np.sign(W) * shrunk + 0)  # + 0 turns -0 into 0
