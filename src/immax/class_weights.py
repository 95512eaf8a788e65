"""Class weights from class counts.

Weights multiply the losses of the samples of a class. Their scale does not matter to a linear
model, which divides by their mean over the samples. The links divide them out again, so that
probabilities refer to the original class shares.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from immax.arrays import Array, Vector
from immax.class_labels import by_label
from immax.class_vectors import class_vector, in_class_order

__all__ = ["divide_out", "power_weights", "resolve_weights", "weighted_shares"]


def power_weights(counts: ArrayLike, power: float) -> Vector:
    """Return weights ``w_k = (m / m_k)^power``.

    Parameters
    ----------
    counts : array-like of shape (n_classes,)
        Number (or total weight) of training samples per class, ``m_k``.
    power : float
        0 for equal weights, 1 for weights that make all classes count the same.

    Returns
    -------
    ndarray of shape (n_classes,)

    Examples
    --------
    >>> power_weights([90, 10], 1.0)
    array([ 1.11111111, 10.        ])
    """
    m = class_vector(counts, "counts")
    if not np.isfinite(power):
        raise ValueError(f"power must be a finite number; got {power!r}")
    return np.asarray((m.sum() / m) ** float(power))


def resolve_weights(
    weights: str | ArrayLike | Mapping[Any, float], classes: Array, counts: ArrayLike
) -> Vector:
    """Return the class weights that an estimator's ``weights`` argument stands for.

    Parameters
    ----------
    weights : "equal", "balanced", array-like of shape (n_classes,), dict or Series by class label
        "balanced" is ``m / m_k``.
    classes : ndarray of shape (n_classes,)
        The labels, in order.
    counts : array-like of shape (n_classes,)
        Number (or total weight) of training samples per class.

    Returns
    -------
    ndarray of shape (n_classes,)

    Raises
    ------
    ValueError
        If there is not one positive weight for each class.

    Examples
    --------
    >>> resolve_weights("balanced", np.array(["ham", "spam"]), [80, 20])
    array([1.25, 5.  ])
    >>> resolve_weights({"ham": 1.0, "spam": 3.0}, np.array(["ham", "spam"]), [80, 20])
    array([1., 3.])
    """
    if isinstance(weights, str):
        if weights not in ("equal", "balanced"):
            raise ValueError(
                "weights must be 'equal', 'balanced', an array with one weight per class, or a "
                f"dict from class label to weight; got {weights!r}"
            )
        return power_weights(counts, float(weights == "balanced"))
    given = by_label(weights)
    if isinstance(given, Mapping):
        given = in_class_order(given, classes, "weights", "weight")
    return class_vector(given, "weights", len(classes)).copy()


def divide_out(proba: Array, weights: Array) -> Array:
    """Return probabilities for the original class shares from those of a weighted loss.

    ``P_k ∝ p_k / w_k``: a loss with class weights w is minimised by the scores that an unweighted
    one has for the probabilities ``w_k P_k``.

    Parameters
    ----------
    proba : ndarray of shape (n, c)
        Probabilities of the weighted classes.
    weights : ndarray of shape (c,)
        The class weights.

    Returns
    -------
    ndarray of shape (n, c)

    Examples
    --------
    >>> divide_out(np.array([[0.5, 0.5]]), np.array([1.0, 9.0]))
    array([[0.9, 0.1]])
    """
    if np.ptp(weights) == 0:
        return proba
    odds = proba * (weights.min() / weights).astype(proba.dtype)
    return np.asarray(odds / odds.sum(axis=1, keepdims=True))


def weighted_shares(share: Array, y: Array, weights: Array) -> Array:
    """Return the weight of each sample times that of its class; the sum stays what it was.

    Parameters
    ----------
    share : ndarray of shape (n,)
        Sample weights.
    y : ndarray of int, shape (n,)
        Class indices.
    weights : ndarray of shape (c,)
        The class weights.

    Returns
    -------
    ndarray of shape (n,)
        With the dtype of ``share``.

    Examples
    --------
    >>> weighted_shares(np.full(4, 0.25), np.array([0, 0, 0, 1]), np.array([1.0, 3.0])).round(3)
    array([0.167, 0.167, 0.167, 0.5  ])
    """
    if np.ptp(weights) == 0:
        return share
    weighted = share * weights[y]
    return np.asarray(weighted * (share.sum() / weighted.sum()), dtype=share.dtype)
