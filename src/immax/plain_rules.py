"""Rules that turn scores or probabilities into class indices; ties go to the highest index."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from immax.arrays import Array
from immax.class_labels import check_unlabelled

__all__ = ["by_score", "check_cost_values", "check_costs", "decide", "highest_argmax"]


def highest_argmax(values: Array) -> NDArray[np.intp]:
    """Return the index of each row's largest entry, the highest one on a tie, as in the paper.

    Parameters
    ----------
    values : ndarray of shape (n, c)
        Any numbers.

    Returns
    -------
    ndarray of int, shape (n,)
    """
    return np.asarray(values.shape[1] - 1 - np.argmax(values[:, ::-1], axis=1))


def by_score(scores: ArrayLike) -> NDArray[np.intp]:
    """Return class indices by the highest score, or by the sign of class 1's.

    Parameters
    ----------
    scores : array-like of shape (n, c), or (n,) for two classes
        As ``decision_function`` returns them.

    Returns
    -------
    ndarray of int, shape (n,)
        The highest index on a tie.
    """
    h = np.asarray(scores)
    return (h >= 0).astype(np.intp) if h.ndim == 1 else highest_argmax(h)


def check_cost_values(costs: ArrayLike) -> Array:
    """Return costs as an array, whatever the number of classes is.

    Parameters
    ----------
    costs : array-like
        Finite, not negative, and not all zero.

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        If they are not such numbers.
    TypeError
        If they are a Series or a data frame with labels.
    """
    check_unlabelled(costs, "costs")
    try:
        values = np.asarray(costs, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"costs must be numbers; got {costs!r}") from error
    if not (np.isfinite(values) & (values >= 0)).all():
        hint = "" if values.ndim < 2 else " (a constant added to a row changes no decision)"
        raise ValueError(f"costs must be finite and not negative{hint}; got {values.tolist()}")
    if not values.any():
        raise ValueError("costs are all zero: no decision is better than another")
    return values


def check_costs(costs: ArrayLike, n_classes: int) -> Array:
    """Return costs as a matrix whose entry (k, j) is the cost of predicting j when k is true.

    Parameters
    ----------
    costs : array-like of shape (c,) or (c, c)
        The cost of an error on each class, or of each pair of true and predicted class.
    n_classes : int
        The number of classes.

    Returns
    -------
    ndarray of shape (c, c)

    Raises
    ------
    ValueError
        If the shape is wrong, a cost is negative or not finite, or all are zero.
    """
    matrix = check_cost_values(costs)
    if matrix.shape == (n_classes,):
        matrix = np.where(np.eye(n_classes, dtype=bool), 0.0, matrix[:, None])
    if matrix.shape != (n_classes, n_classes):
        raise ValueError(
            f"costs must have shape ({n_classes},) or ({n_classes}, {n_classes}); "
            f"got {np.shape(costs)}"
        )
    return np.asarray(matrix)


def decide(proba: ArrayLike, costs: ArrayLike | None = None) -> NDArray[np.intp]:
    """Return the decisions of the "bayes" rule: the most probable class, or the least costly.

    Parameters
    ----------
    proba : array-like of shape (n, c)
        Class probabilities.
    costs : array-like of shape (c,) or (c, c), optional
        The cost of an error on each class, or at (k, j) the cost of predicting j when k is true;
        not negative. The class of least expected cost is chosen.

    Returns
    -------
    ndarray of int, shape (n,)
        The highest index on a tie.

    Examples
    --------
    >>> decide([[0.8, 0.2]])
    array([0])
    >>> decide([[0.8, 0.2]], costs=[1.0, 10.0])
    array([1])
    """
    p = np.asarray(proba)
    if p.ndim != 2 or np.isnan(p).any():
        got = f"shape {p.shape}" if p.ndim != 2 else "NaN"
        raise ValueError(f"proba must be probabilities of shape (n, c); got {got}")
    if costs is None:
        return highest_argmax(p)
    return highest_argmax(-(p @ check_costs(costs, p.shape[1])))
