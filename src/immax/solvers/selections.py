"""Coefficients that a working set holds, in blocks that the penalty makes zero together."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from immax.arrays import Array
from immax.penalties import Blocks

__all__ = ["Selection", "most_violating", "select_blocks"]


@dataclass(frozen=True)
class Selection:
    """Coefficients in consecutive blocks, and their penalty.

    The penalty is ``sum_b threshold_b ||z_b|| + ridge ||z||^2``.

    Attributes
    ----------
    rows, cols : ndarrays of int, shape (p,)
        The places of the coefficients in the weights of shape (k, d).
    starts : ndarray of int, shape (n_blocks + 1,)
        Block b holds the coefficients from ``starts[b]`` to ``starts[b + 1]``.
    thresholds : ndarray of shape (n_blocks,)
        lam times the weights of the blocks.
    ridge : float
        lam times the ridge.
    """

    rows: Array
    cols: Array
    starts: Array
    thresholds: Array
    ridge: float

    @cached_property
    def columns(self) -> Array:
        """The features that the coefficients belong to, ascending."""
        return np.unique(self.cols)

    @cached_property
    def scalar(self) -> bool:
        """Whether every block is a single coefficient."""
        return self.thresholds.size == self.rows.size

    def take(self, W: Array) -> Array:
        """Return the selected entries of an array.

        Parameters
        ----------
        W : ndarray of shape (k, d)
            Weights, or their gradient.

        Returns
        -------
        ndarray of shape (p,)
            In double precision.
        """
        return W[self.rows, self.cols].astype(np.float64)

    def norms(self, z: Array) -> Array:
        """Return the Euclidean norm of every block.

        Parameters
        ----------
        z : ndarray of shape (p,)
            Coefficients.

        Returns
        -------
        ndarray of shape (n_blocks,)
        """
        if self.scalar:
            return np.abs(z)
        return np.sqrt(np.add.reduceat(z * z, self.starts[:-1]))

    def spread(self, values: Array) -> Array:
        """Repeat the value of every block for each of its coefficients.

        Parameters
        ----------
        values : ndarray of shape (n_blocks,)
            A value for each block.

        Returns
        -------
        ndarray of shape (p,)
        """
        return values if self.scalar else np.repeat(values, np.diff(self.starts))

    def penalty(self, z: Array) -> float:
        """Return the penalty of the selected coefficients.

        Parameters
        ----------
        z : ndarray of shape (p,)
            Coefficients.

        Returns
        -------
        float
        """
        return float(self.thresholds @ self.norms(z)) + self.ridge * float(z @ z)

    def slope(self, z: Array) -> Array:
        """Return the gradient of the penalty.

        Parameters
        ----------
        z : ndarray of shape (p,)
            Coefficients.

        Returns
        -------
        ndarray of shape (p,)
            Zero in blocks that are zero.
        """
        norms = self.norms(z)
        steep = np.divide(self.thresholds, norms, out=np.zeros_like(norms), where=norms > 0)
        return np.asarray((self.spread(steep) + 2 * self.ridge) * z)

    def violations(self, z: Array, gradient: Array) -> Array:
        """Return by how much every block violates the optimality conditions.

        Parameters
        ----------
        z : ndarray of shape (p,)
            Coefficients.
        gradient : ndarray of shape (p,)
            The gradient of the risk in them.

        Returns
        -------
        ndarray of shape (n_blocks,)
            As of ``Penalty.violations``.
        """
        norms = self.norms(z)
        at_zero = np.maximum(self.norms(gradient) - self.thresholds, 0)
        return np.where(norms == 0, at_zero, self.norms(gradient + self.slope(z)))


def select_blocks(blocks: Blocks, chosen: Array, shape: tuple[int, int], lam: float) -> Selection:
    """Return the coefficients of some blocks.

    Parameters
    ----------
    blocks : Blocks
        All blocks of the penalty.
    chosen : ndarray of bool, shape (n_blocks,)
        Which of them are selected.
    shape : tuple of int
        The shape (k, d) of the weights.
    lam : float
        The strength of the penalty.

    Returns
    -------
    Selection
    """
    ids = np.flatnonzero(chosen)
    thresholds, ridge = lam * blocks.weights[ids], lam * blocks.ridge
    k, d = shape
    if blocks.labels is None:
        rows, cols = np.divmod(ids, d)
        return Selection(rows, cols, np.arange(ids.size + 1), thresholds, ridge)
    columns = np.flatnonzero(chosen[blocks.labels])
    columns = columns[np.argsort(blocks.labels[columns], kind="stable")]
    sizes = k * np.bincount(blocks.labels, minlength=blocks.weights.size)[ids]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    return Selection(
        np.tile(np.arange(k), columns.size), np.repeat(columns, k), starts, thresholds, ridge
    )


def most_violating(violations: Array, live: Array, size: int) -> Array:
    """Return the blocks that are not zero, and of the others those that violate most.

    Parameters
    ----------
    violations : ndarray of shape (n_blocks,)
        By how much each block violates the optimality conditions.
    live : ndarray of bool, shape (n_blocks,)
        Which blocks are not zero.
    size : int
        How many are returned at most, unless more are not zero.

    Returns
    -------
    ndarray of bool, shape (n_blocks,)
    """
    chosen = live.copy()
    others = np.flatnonzero(~live & (violations > 0))
    room = max(size - int(live.sum()), 1)
    if others.size > room:
        others = others[np.argpartition(-violations[others], room - 1)[:room]]
    chosen[others] = True
    return chosen
