"""Folds for a search, checked."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold, check_cv

from immax.arrays import Array

__all__ = ["LOO", "Fold", "make_folds"]

Fold = tuple[Array, list[Array]]

LOO = "loo"
GROUPS = 10  # in which samples left out one by one are scored


def make_folds(cv: Any, X: Any, y: Any, weight: Array, random_state: Any) -> list[Fold]:
    """Indices of training samples and of test sets; every class is in every training part.

    A whole number is that many stratified, shuffled folds, or as many as the rarest class has
    samples. "loo" is a single fold, of all samples, tested in as many groups. Anything else is as
    in scikit-learn.
    """
    if isinstance(cv, str):
        if cv != LOO:
            raise ValueError(f"cv must be a number, a splitter, folds or 'loo'; got {cv!r}")
        splitter = _stratified(GROUPS, y, weight, random_state, warn=False)
        return [(np.arange(len(y)), [test for _, test in splitter.split(X, y)])]
    if isinstance(cv, (int, np.integer)) and not isinstance(cv, bool):
        cv = _stratified(int(cv), y, weight, random_state)
    folds = list(check_cv(cv, y, classifier=True).split(X, y))
    if not folds:
        raise ValueError("cv gives no folds")
    classes = np.unique(y)
    for number, (train, test) in enumerate(folds):
        missing = np.setdiff1d(classes, y[train][weight[train] > 0])
        if missing.size:
            raise ValueError(
                f"the training part of fold {number} has no sample of the classes "
                f"{missing.tolist()}; take stratified folds, or fewer of them"
            )
        if not len(test):
            raise ValueError(f"the test part of fold {number} is empty")
    return [(train, [test]) for train, test in folds]


def _stratified(
    n: int, y: Array, weight: Array, random_state: Any, warn: bool = True
) -> StratifiedKFold:
    if n < 2:
        raise ValueError(f"cv must be at least two folds; got {n}")
    labels, counts = np.unique(y[weight > 0], return_counts=True)
    rarest, name = int(counts.min()), labels.tolist()[int(counts.argmin())]
    if rarest < 2:
        raise ValueError(
            "every class needs two samples or more for cross-validation; the class "
            f"{name!r} has one"
        )
    if rarest < n and warn:
        warnings.warn(
            f"the class {name!r} has {rarest} samples: {rarest} folds are used instead of {n}",
            UserWarning,
            stacklevel=4,
        )
    seed = 0 if random_state is None else random_state
    return StratifiedKFold(min(n, rarest), shuffle=True, random_state=seed)
