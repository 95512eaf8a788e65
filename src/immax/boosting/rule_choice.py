"""The rule that serves an aim: in closed form, or fitted to out-of-fold probabilities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing

from immax.arrays import Array, Features
from immax.decisions.aims import Aim, Budget
from immax.decisions.fitting import fit_rule
from immax.decisions.rules import Rule

__all__ = ["closed_form_rule", "most_probable_rule", "out_of_fold_proba"]


def closed_form_rule(aim: Aim, classes: Array, prior: Array) -> Rule | None:
    """Return the rule of an aim that needs no data, such as costs or balanced accuracy.

    Parameters
    ----------
    aim : Aim
    classes : ndarray of shape (c,)
    prior : ndarray of shape (c,)
        The share of each class.

    Returns
    -------
    Rule or None
        None if the rule has to be fitted to probabilities of held-out samples.

    Examples
    --------
    >>> from immax.decisions import BalancedAccuracy, FBeta
    >>> rule = closed_form_rule(BalancedAccuracy(), np.array(["no", "yes"]), np.array([0.9, 0.1]))
    >>> round(rule.threshold, 3)
    0.1
    >>> closed_form_rule(FBeta(), np.array(["no", "yes"]), np.array([0.9, 0.1])) is None
    True
    """
    counted = isinstance(aim, Budget) and aim.count is not None
    if not counted and aim.gains(classes, prior) is None:
        return None
    c = len(classes)  # one sample of each class, as heavy as its share
    return fit_rule(np.full((c, c), 1 / c), classes, aim, classes=classes, sample_weight=prior)


def most_probable_rule(classes: Array, prior: Array) -> Rule:
    """Return the rule that decides for the most probable class.

    Parameters
    ----------
    classes : ndarray of shape (c,)
    prior : ndarray of shape (c,)
        The share of each class.

    Returns
    -------
    Rule
    """
    return Rule(classes, np.eye(len(classes)), prior, "accuracy")


def out_of_fold_proba(
    fit: Callable[[Features, Array, Array | None], Any],
    X: Features,
    y: Array,
    weight: Array | None,
    cv: Any,
) -> Array:
    """Return the probabilities of samples by models that were fitted without them.

    Parameters
    ----------
    fit : callable
        ``fit(X, y, weight)`` returns a model that is fitted to these samples.
    X : {array-like, sparse matrix, data frame} of shape (n, d)
    y : ndarray of shape (n,)
        Labels.
    weight : ndarray of shape (n,), optional
        Sample weights.
    cv : int, splitter or iterable
        As in scikit-learn.

    Returns
    -------
    ndarray of shape (n, c)

    Raises
    ------
    ValueError
        If the folds do not contain every sample once, or lack a class.
    """
    proba: Array = np.empty((len(y), len(np.unique(y))))
    times = np.zeros(len(y), dtype=int)
    for train, test in check_cv(cv, y, classifier=True).split(X, y):
        missing = np.setdiff1d(y, y[train])
        if missing.size:
            raise ValueError(
                f"the training part of a fold has no sample of {missing.tolist()}; take fewer "
                "folds in cv, or a splitter that keeps every class in every fold"
            )
        own = None if weight is None else weight[train]
        model = fit(_safe_indexing(X, train), y[train], own)
        proba[test] = model.predict_proba(_safe_indexing(X, test))
        times[test] += 1
    if not (times == 1).all():
        raise ValueError("cv must test every sample once, as k-fold cross-validation does")
    return proba
