"""Weighted confusion matrices, and what can be read from them.

All functions take matrices of shape (..., c, a), rows true classes and columns decisions, and work
on all of them at once: a sweep over a thousand thresholds is one call. Most metrics need no more of
a matrix than its ``Totals``, which the functions take in its place.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from immax.arrays import Array

__all__ = [
    "Totals",
    "confusion_matrix",
    "f_scores",
    "jaccard_scores",
    "mean_over_classes",
    "precisions",
    "recalls",
]


def confusion_matrix(
    y: Array, decisions: Array, n_classes: int, n_decisions: int, weight: Array | None = None
) -> Array:
    """Return the total weight of every pair of a true class and a decision.

    Parameters
    ----------
    y, decisions : ndarray of int, shape (n,)
        Codes of the true classes and of the decisions.
    n_classes, n_decisions : int
        The shape of the matrix.
    weight : ndarray of shape (n,), optional
        One by default.

    Returns
    -------
    ndarray of shape (n_classes, n_decisions)

    Examples
    --------
    >>> confusion_matrix(np.array([0, 0, 1]), np.array([0, 1, 1]), 2, 2)
    array([[1., 1.],
           [0., 1.]])
    """
    cells = y * n_decisions + decisions
    ones = np.ones(len(y)) if weight is None else weight
    flat = np.bincount(cells, weights=ones, minlength=n_classes * n_decisions)
    return flat.reshape(n_classes, n_decisions)


def _ratio(numerator: Array, denominator: Array) -> Array:
    """Divide, with zero where there is nothing to divide by."""
    shape = np.broadcast(numerator, denominator).shape
    return np.divide(numerator, denominator, out=np.zeros(shape), where=denominator > 0)


class Totals(NamedTuple):
    """What most metrics need of confusion matrices: the diagonal and the sums of rows and columns.

    Attributes
    ----------
    hits : ndarray of shape (..., c)
        The weight of the right decisions for each class.
    samples : ndarray of shape (..., c)
        The weight of the samples of each class.
    predictions : ndarray of shape (..., a)
        The weight of each decision.
    """

    hits: Array
    samples: Array
    predictions: Array

    @classmethod
    def of(cls, confusion: Array | Totals) -> Totals:
        """Return the totals of confusion matrices, and totals as they are.

        Parameters
        ----------
        confusion : ndarray of shape (..., c, a) or Totals

        Returns
        -------
        Totals

        Examples
        --------
        >>> Totals.of(np.array([[8.0, 2.0], [1.0, 4.0]])).predictions
        array([9., 6.])
        """
        if isinstance(confusion, Totals):
            return confusion
        hits = np.diagonal(confusion, axis1=-2, axis2=-1)
        return cls(hits, confusion.sum(axis=-1), confusion.sum(axis=-2))

    @property
    def of_classes(self) -> Array:
        """The weight of the decisions for each class: abstentions are left out."""
        return self.predictions[..., : self.hits.shape[-1]]


def recalls(confusion: Array | Totals) -> Array:
    """Return the recall of every class, NaN for classes without samples.

    Parameters
    ----------
    confusion : ndarray of shape (..., c, a) or Totals

    Returns
    -------
    ndarray of shape (..., c)
    """
    own = Totals.of(confusion)
    return np.where(own.samples > 0, _ratio(own.hits, own.samples), np.nan)


def precisions(confusion: Array | Totals) -> Array:
    """Return the precision of every class, zero for classes that are never predicted.

    Parameters
    ----------
    confusion : ndarray of shape (..., c, a) or Totals

    Returns
    -------
    ndarray of shape (..., c)
    """
    own = Totals.of(confusion)
    return _ratio(own.hits, own.of_classes)


def f_scores(confusion: Array | Totals, beta: float = 1.0) -> Array:
    """Return the F-score of every class.

    ``(1 + beta^2) hits / (beta^2 samples + predictions)``, zero where a class has neither.

    Parameters
    ----------
    confusion : ndarray of shape (..., c, a) or Totals
    beta : float, default=1.0

    Returns
    -------
    ndarray of shape (..., c)
    """
    own = Totals.of(confusion)
    return _ratio((1 + beta**2) * own.hits, beta**2 * own.samples + own.of_classes)


def jaccard_scores(confusion: Array | Totals) -> Array:
    """Return the Jaccard index of every class: hits over samples or predictions of it.

    Parameters
    ----------
    confusion : ndarray of shape (..., c, a) or Totals

    Returns
    -------
    ndarray of shape (..., c)
    """
    own = Totals.of(confusion)
    return _ratio(own.hits, own.samples + own.of_classes - own.hits)


def mean_over_classes(scores: Array, confusion: Array | Totals) -> Array:
    """Return the mean score of the classes that have samples or predictions, as scikit-learn does.

    Parameters
    ----------
    scores : ndarray of shape (..., c)
    confusion : ndarray of shape (..., c, a) or Totals

    Returns
    -------
    ndarray of shape (...)
    """
    own = Totals.of(confusion)
    present = (own.samples > 0) | (own.of_classes > 0)
    return _ratio((scores * present).sum(axis=-1), present.sum(axis=-1))
