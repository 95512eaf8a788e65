"""Folds for a search, with every class in every training part."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import StratifiedKFold, check_cv

from immax.arrays import Array, Features
from immax.validation import check_group_splitter

__all__ = ["LOO", "CrossValidation", "Fold", "RandomState", "Splitter", "make_folds"]

LOO = "loo"
GROUPS = 10  # in which samples left out one by one are scored

RandomState: TypeAlias = int | np.random.RandomState | None


class Splitter(Protocol):
    """A cross-validation splitter, as scikit-learn has them."""

    def split(
        self, X: Features, y: Array, groups: ArrayLike | None = None
    ) -> Iterator[tuple[Array, Array]]:
        """Yield the indices of training and test samples.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n, d)
            Features.
        y : ndarray of shape (n,)
            Labels.
        groups : array-like of shape (n,), optional
            The group of each sample.

        Yields
        ------
        train, test : ndarrays of int
        """


CrossValidation: TypeAlias = int | str | Splitter | Iterable[tuple[Array, Array]]
"""A number of folds, "loo", a splitter, or pairs of training and test indices."""


class Fold(NamedTuple):
    """Indices of training samples, and of one or several sets of test samples."""

    train: Array
    tests: list[Array]


def make_folds(
    cv: CrossValidation,
    X: Features,
    y: Array,
    weight: Array,
    random_state: RandomState,
    groups: ArrayLike | None = None,
    **metadata: Any,
) -> list[Fold]:
    """Return the folds of a search; every class is in every training part.

    Parameters
    ----------
    cv : int, "loo", splitter or iterable of (train, test)
        A number is that many stratified, shuffled folds, or as many as the rarest class has
        samples, with a warning. "loo" is a single fold of all samples, tested in up to ten
        groups. Anything else is as in scikit-learn.
    X : {ndarray, sparse matrix} of shape (n, d)
        Features, for splitters that look at them.
    y : ndarray of shape (n,)
        Labels.
    weight : ndarray of shape (n,)
        Sample weights; samples without weight do not represent their class.
    random_state : int, RandomState instance or None
        Seeds the shuffling. None is a fixed seed.
    groups : array-like of shape (n,), optional
        Groups of samples, for splitters that keep them together.
    **metadata
        What else the splitter asks for.

    Returns
    -------
    list of Fold
        At least one.

    Raises
    ------
    ValueError
        If there are no folds, if a class is missing from a training part, if a test part is empty,
        or if a part is not made of indices, or of a mask, of the samples.
    """
    if isinstance(cv, str):
        if cv != LOO:
            raise ValueError(
                f"cv must be a number of folds, a splitter, a list of folds or 'loo'; got {cv!r}"
            )
        if groups is not None:
            raise ValueError("cv='loo' leaves out samples, not groups: use a splitter of groups")
        parts = _stratified(GROUPS, y, weight, random_state, warn=False).split(X, y)
        return [Fold(np.arange(len(y)), [test for _, test in parts])]
    check_group_splitter(cv, groups)
    if isinstance(cv, (int, np.integer)) and not isinstance(cv, bool):
        cv = _stratified(int(cv), y, weight, random_state)
    parts = check_cv(cv, y, classifier=True).split(X, y, groups, **metadata)
    folds = [Fold(_rows(train, len(y)), [_rows(test, len(y))]) for train, test in parts]
    if not folds:
        raise ValueError("cv gives no folds")
    classes = np.unique(y)
    for number, (train, (test,)) in enumerate(folds):
        missing = np.setdiff1d(classes, y[train][weight[train] > 0])
        if missing.size:
            raise ValueError(
                f"the training part of fold {number} has no sample of the classes "
                f"{missing.tolist()}; use stratified folds, or fewer of them"
            )
        if not len(test):
            raise ValueError(f"the test part of fold {number} is empty")
    return folds


def _rows(part: ArrayLike, n: int) -> Array:
    """Return the indices of samples, which a splitter may give as a list or a mask too."""
    rows = np.asarray(part)
    if rows.shape == (n,) and rows.dtype == bool:
        return np.flatnonzero(rows)
    if rows.ndim != 1 or (rows.size and rows.dtype.kind not in "iu"):
        raise ValueError(
            f"cv must give indices of samples, or masks of shape ({n},); got shape {rows.shape} "
            f"and dtype {rows.dtype}"
        )
    rows = rows.astype(np.intp)
    outside = rows[(rows < -n) | (rows >= n)]
    if outside.size:
        raise ValueError(f"cv gives the index {outside[0]}, and there are {n} samples")
    return rows % n


def _stratified(
    n: int, y: Array, weight: Array, random_state: RandomState, warn: bool = True
) -> StratifiedKFold:
    if n < 2:
        raise ValueError(f"cv must be at least two folds; got {n}")
    labels, counts = np.unique(y[weight > 0], return_counts=True)
    smallest, name = int(counts.min()), labels.tolist()[int(counts.argmin())]
    if smallest < 2:
        raise ValueError(
            "every class needs two samples or more for cross-validation; the class "
            f"{name!r} has one"
        )
    if smallest < n and warn:
        warnings.warn(
            f"the class {name!r} has {smallest} samples: {smallest} folds are used instead of {n}",
            UserWarning,
            stacklevel=5,
        )
    seed = 0 if random_state is None else random_state
    return StratifiedKFold(min(n, smallest), shuffle=True, random_state=seed)
