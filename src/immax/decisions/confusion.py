"""Weighted confusion matrices, and what can be read from them.

All functions take matrices of shape (..., c, a), rows true classes and columns decisions, and work
on all of them at once: a sweep over a thousand thresholds is one call.
"""

from __future__ import annotations

import numpy as np

from immax.arrays import Array

__all__ = [
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


def _hits(confusion: Array) -> Array:
    return np.diagonal(confusion, axis1=-2, axis2=-1)


def recalls(confusion: Array) -> Array:
    """Return the recall of every class, NaN for classes without samples.

    Parameters
    ----------
    confusion : ndarray of shape (..., c, a)

    Returns
    -------
    ndarray of shape (..., c)
    """
    rows = confusion.sum(axis=-1)
    return np.where(rows > 0, _ratio(_hits(confusion), rows), np.nan)


def precisions(confusion: Array) -> Array:
    """Return the precision of every class, zero for classes that are never predicted.

    Parameters
    ----------
    confusion : ndarray of shape (..., c, a)

    Returns
    -------
    ndarray of shape (..., c)
    """
    c = confusion.shape[-2]
    return _ratio(_hits(confusion), confusion.sum(axis=-2)[..., :c])


def f_scores(confusion: Array, beta: float = 1.0) -> Array:
    """Return the F-score of every class.

    ``(1 + beta^2) hits / (beta^2 samples + predictions)``, zero where a class has neither.

    Parameters
    ----------
    confusion : ndarray of shape (..., c, a)
    beta : float, default=1.0

    Returns
    -------
    ndarray of shape (..., c)
    """
    c = confusion.shape[-2]
    samples, predictions = confusion.sum(axis=-1), confusion.sum(axis=-2)[..., :c]
    return _ratio((1 + beta**2) * _hits(confusion), beta**2 * samples + predictions)


def jaccard_scores(confusion: Array) -> Array:
    """Return the Jaccard index of every class: hits over samples or predictions of it.

    Parameters
    ----------
    confusion : ndarray of shape (..., c, a)

    Returns
    -------
    ndarray of shape (..., c)
    """
    c = confusion.shape[-2]
    hits = _hits(confusion)
    union = confusion.sum(axis=-1) + confusion.sum(axis=-2)[..., :c] - hits
    return _ratio(hits, union)


def mean_over_classes(scores: Array, confusion: Array) -> Array:
    """Return the mean score of the classes that have samples or predictions, as scikit-learn does.

    Parameters
    ----------
    scores : ndarray of shape (..., c)
    confusion : ndarray of shape (..., c, a)

    Returns
    -------
    ndarray of shape (...)
    """
    c = confusion.shape[-2]
    present = (confusion.sum(axis=-1) > 0) | (confusion.sum(axis=-2)[..., :c] > 0)
    return _ratio((scores * present).sum(axis=-1), present.sum(axis=-1))
