"""Probabilities of samples by models that were fitted without them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _check_method_params

from immax.arrays import Array, Features

__all__ = ["check_fold_classes", "fold_proba", "out_of_fold_proba"]


def out_of_fold_proba(
    predict: Callable[[Array, Array], Array],
    y: Array,
    splits: Iterable[tuple[Array, Array]],
    n_jobs: int | None = None,
) -> Array:
    """Return the probabilities of samples by models that were fitted without them.

    Models see the labels as they are, so that parameters by label mean the same in every fold.

    Parameters
    ----------
    predict : callable
        ``predict(train, test)`` returns the probabilities of the samples ``test`` by a model that
        is fitted to the samples ``train``; columns are in the order of the sorted labels.
    y : ndarray of shape (n,)
        Labels.
    splits : iterable of pairs of ndarray of int
        The training part and the test part of each fold.
    n_jobs : int, optional
        Folds that are fitted at once.

    Returns
    -------
    ndarray of shape (n, c)

    Raises
    ------
    ValueError
        If the folds do not test every sample once, or lack a class.
    """
    folds = list(splits)
    times = np.zeros(len(y), dtype=int)
    for train, test in folds:
        missing = np.setdiff1d(y, y[train])
        if missing.size:
            raise ValueError(
                f"the training part of a fold has no sample of {missing.tolist()}; use fewer "
                "folds in cv, or a splitter that keeps every class in every fold"
            )
        np.add.at(times, test, 1)
    if not (times == 1).all():
        raise ValueError("cv must test every sample once, as k-fold cross-validation does")
    parts = Parallel(n_jobs=n_jobs)(delayed(predict)(train, test) for train, test in folds)
    proba: Array = np.empty((len(y), len(np.unique(y))))
    for (_, test), part in zip(folds, parts, strict=True):
        proba[test] = part
    return proba


def fold_proba(
    estimator: Any, X: Features, y: Array, params: Mapping[str, Any], train: Array, test: Array
) -> Array:
    """Return the probabilities of a test part by a clone that is fitted to the training part.

    Parameters
    ----------
    estimator : classifier with ``predict_proba``
    X : {array-like, sparse matrix, data frame} of shape (n, d)
    y : ndarray of shape (n,)
        Labels.
    params : mapping of str to object
        For ``fit``; what has an entry for each sample is divided like the samples.
    train, test : ndarray of int

    Returns
    -------
    ndarray of shape (n_test, c)
        Columns are in the order of the sorted labels.
    """
    model = clone(estimator)
    own, labels = _safe_split(model, X, y, train)
    model.fit(own, labels, **_check_method_params(X, params=dict(params), indices=train))
    held_out, _ = _safe_split(model, X, y, test, train)
    return np.asarray(model.predict_proba(held_out))[:, np.argsort(model.classes_)]


def check_fold_classes(y: Array) -> None:
    """Raise an error unless there are two classes or more, of two samples or more each.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Labels.
    """
    classes, counts = np.unique(y, return_counts=True)
    if len(classes) < 2:
        raise ValueError(
            f"y must hold at least two classes; got one class, {classes.tolist()[0]!r}"
        )
    if counts.min() < 2:
        single = classes[counts < 2].tolist()
        raise ValueError(
            f"every class needs two samples or more for out-of-fold probabilities; the classes "
            f"{single} have one"
        )
