"""The class-imbalanced margin losses, in which the paper's bounds are written.

Labels are class numbers. Scores are of shape (n, c), or (n,) for two classes: then they are the
scores of class 1, as ``decision_function`` gives them, a score of zero predicts class 1, and
``rho`` is ``(rho_0, rho_1)``, the paper's ``(rho_-, rho_+)``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from immax.arrays import Array, Features
from immax.class_vectors import class_vector
from immax.links import highest_argmax
from immax.losses.surrogates import runner_up

__all__ = [
    "empirical_margin_loss",
    "label_numbers",
    "margin_loss",
    "margins_of",
    "phi",
    "predictions",
    "zero_one_loss",
]


def phi(u: ArrayLike, rho: ArrayLike) -> Array:
    """Return the rho-margin loss, ``min(1, max(0, 1 - u / rho))``.

    Parameters
    ----------
    u : array-like
        Margins of samples.
    rho : array-like
        Confidence margins, positive.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> phi([-1.0, 0.5, 2.0], 1.0)
    array([1. , 0.5, 0. ])
    """
    return np.clip(1 - np.asarray(u, float) / np.asarray(rho, float), 0, 1)


def check_sample(
    scores: ArrayLike, y: ArrayLike, n_classes: int | None = None
) -> tuple[Array, Array]:
    """Return scores and labels as arrays of matching shapes.

    Parameters
    ----------
    scores : array-like of shape (n,) or (n, c)
        Scores of class 1, or of all classes.
    y : array-like of int, shape (n,)
        Class numbers.
    n_classes : int, optional
        The number of classes that is expected.

    Returns
    -------
    scores : ndarray of shape (n,) or (n, c)
    y : ndarray of int, shape (n,)
    """
    h = np.asarray(scores, dtype=np.float64)
    labels = np.asarray(y)
    c = 2 if h.ndim == 1 else h.shape[1] if h.ndim == 2 else 0
    if h.ndim not in (1, 2) or labels.shape != h.shape[:1] or h.size == 0:
        raise ValueError(
            "scores must have shape (n,) or (n, c) and y shape (n,), n at least 1; "
            f"got {h.shape} and {labels.shape}"
        )
    if n_classes is not None and c != n_classes:
        raise ValueError(f"scores are those of {c} classes, rho is that of {n_classes}")
    if labels.dtype.kind not in "iu" or labels.min() < 0 or labels.max() >= c:
        raise ValueError(f"y must hold class numbers from 0 to {c - 1}")
    if not np.isfinite(h).all():
        raise ValueError("scores must be finite; got NaN or infinity")
    return h, labels


def label_numbers(model: Any, y: ArrayLike, size: int) -> Array:
    """Return the class numbers of a fitted model's labels, one for each of ``size`` samples.

    Parameters
    ----------
    model : fitted classifier
        With ``classes_``.
    y : array-like of shape (size,)
        Labels of the model.
    size : int
        The number of samples.

    Returns
    -------
    ndarray of int, shape (size,)
    """
    classes, given = np.asarray(model.classes_), np.asarray(y)
    labels = np.minimum(np.searchsorted(classes, given), classes.size - 1)
    if given.shape != (size,) or (classes[labels] != given).any():
        raise ValueError("y must hold a class of the model for each row of X")
    return np.asarray(labels)


def margins_of(scores: ArrayLike, y: ArrayLike) -> Array:
    """Return ``rho_h(x, y)``, the label's score less the best of the others.

    For one-dimensional scores it is the signed score, ``y h(x)``.

    Parameters
    ----------
    scores : array-like of shape (n,) or (n, c)
        Scores of class 1, or of all classes.
    y : array-like of int, shape (n,)
        Class numbers.

    Returns
    -------
    ndarray of shape (n,)
    """
    h, labels = check_sample(scores, y)
    if h.ndim == 1:
        return np.where(labels == 1, h, -h)
    return h[np.arange(labels.size), labels] - runner_up(h, labels)[1]


def predictions(scores: ArrayLike) -> Array:
    """Return the class of the highest score, the highest number on a tie; ``sign(0) = +1``.

    Parameters
    ----------
    scores : array-like of shape (n,) or (n, c)
        Scores of class 1, or of all classes.

    Returns
    -------
    ndarray of int, shape (n,)
    """
    h = np.asarray(scores, dtype=np.float64)
    return (h >= 0).astype(np.intp) if h.ndim == 1 else highest_argmax(h)


def zero_one_loss(scores: ArrayLike, y: ArrayLike) -> Array:
    """Return one for each sample whose prediction is not its label, else zero.

    Parameters
    ----------
    scores : array-like of shape (n,) or (n, c)
        Scores of class 1, or of all classes.
    y : array-like of int, shape (n,)
        Class numbers.

    Returns
    -------
    ndarray of shape (n,)
    """
    h, labels = check_sample(scores, y)
    return (predictions(h) != labels).astype(np.float64)


def margin_loss(scores: ArrayLike, y: ArrayLike, rho: ArrayLike, by: str = "label") -> Array:
    """Return the class-imbalanced margin loss, ``Phi_{rho_k}`` of the margin, per sample.

    Parameters
    ----------
    scores : array-like of shape (n,) or (n, c)
    y : array-like of int, shape (n,)
    rho : array-like of shape (c,)
    by : {"label", "prediction"}
        Whose margin k is: the label's, as it is defined, or that of the predicted class, as
        Lemmas margin-loss and margin-loss-multi rewrite it. The values are the same.

    Returns
    -------
    ndarray of shape (n,)

    Examples
    --------
    >>> margin_loss([0.3, -0.3], [1, 0], [0.6, 1.0])
    array([0.7, 0.5])
    """
    margins = class_vector(rho, "rho")
    h, labels = check_sample(scores, y, margins.size)
    if by not in ("label", "prediction"):
        raise ValueError(f"by must be 'label' or 'prediction'; got {by!r}")
    whose = labels if by == "label" else predictions(h)
    return phi(margins_of(h, labels), margins[whose])


def empirical_margin_loss(
    model: Any, X: Features, y: ArrayLike, rho: ArrayLike | None = None
) -> float:
    """Return the mean margin loss of a fitted classifier's scores.

    Parameters
    ----------
    model : fitted classifier with ``decision_function`` and ``classes_``
    X, y
        Data, with labels of the model.
    rho : array-like of shape (c,), optional
        The model's ``margins_`` by default.

    Returns
    -------
    float
    """
    check_is_fitted(model)
    if rho is None and not hasattr(model, "margins_"):
        raise ValueError("rho must be given: the model has no margins_ of its own")
    scores = np.asarray(model.decision_function(X))
    labels = label_numbers(model, y, len(scores))
    return float(margin_loss(scores, labels, model.margins_ if rho is None else rho).mean())
