"""Checks of parameters and labels that the estimators share."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from os import PathLike
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight

from immax.arrays import Array, Features, Vector

__all__ = [
    "Sample",
    "canonical_rows",
    "check_choice",
    "check_flags",
    "check_group_splitter",
    "check_no_path",
    "check_positive",
    "check_whole",
    "class_codes",
    "is_path",
    "nearest",
    "training_sample",
]


def check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Raise an error if a parameter is not one of the choices.

    Parameters
    ----------
    name : str
        The parameter's name in the message.
    value : object
        Its value.
    choices : tuple of str
        The values that are allowed.

    Raises
    ------
    ValueError
        If the value is none of them.
    """
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}; got {value!r}")


def check_positive(name: str, value: object) -> None:
    """Raise an error if a parameter is not a positive, finite number.

    Parameters
    ----------
    name : str
        The parameter's name in the message.
    value : object
        Its value.

    Raises
    ------
    ValueError
        If the value is not a positive, finite number.
    """
    if not (isinstance(value, (int, float, np.number)) and np.isfinite(value) and value > 0):
        raise ValueError(f"{name} must be a positive, finite number; got {value!r}")


def check_flags(**values: object) -> None:
    """Raise an error if a parameter is neither True nor False, such as the text "false".

    Parameters
    ----------
    **values
        The values by the names of their parameters; 1 and 0 are flags too.

    Raises
    ------
    ValueError
        If a value is not a flag.
    """
    for name, value in values.items():
        number = isinstance(value, (int, float, np.bool_, np.number))
        if not number or value not in (0, 1):
            raise ValueError(f"{name} must be True or False; got {value!r}")


def check_whole(name: str, value: object) -> None:
    """Raise an error if a parameter is not a positive whole number.

    Parameters
    ----------
    name : str
        The parameter's name in the message.
    value : object
        Its value.

    Raises
    ------
    ValueError
        If the value is not a positive whole number.
    """
    number = isinstance(value, (int, float, np.number)) and np.isfinite(value)
    if not number or value < 1 or value != int(value):  # type: ignore[operator, call-overload]
        raise ValueError(f"{name} must be a positive whole number; got {value!r}")


def is_path(X: object) -> bool:
    """Return whether features are the name of a file or folder.

    Parameters
    ----------
    X : object
        What was passed as features.

    Returns
    -------
    bool
    """
    return isinstance(X, (str, PathLike))


def check_no_path(X: object) -> None:
    """Raise an error if features are the name of a file or folder.

    Parameters
    ----------
    X : object
        What was passed as features.

    Raises
    ------
    TypeError
        If it is a string or a path.
    """
    if is_path(X):
        raise TypeError(
            f"X must be an array or a data frame; got the path {str(X)!r}. "
            "IMMAXClassifier and IMMAXClassifierCV can be fitted to Parquet files and folders; "
            "predictions need their rows, for example from pandas.read_parquet"
        )


def canonical_rows(X: Features) -> Features:
    """Return rows with a single entry for each place, whatever their sparse matrix holds.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n, d)
        Rows; an entry of a sparse matrix may be the sum of several.

    Returns
    -------
    ndarray or sparse matrix
        X itself where nothing is to be done. The indices of sparse matrices have 32 bits where
        these suffice, for libraries that take no others.
    """
    if not sparse.issparse(X):
        return X
    rows = X
    if not X.has_canonical_format:
        rows = X.copy()
        rows.sum_duplicates()
    largest = max(*rows.shape, rows.nnz)
    narrow = np.dtype(np.int32 if largest <= np.iinfo(np.int32).max else np.int64)
    if rows.indices.dtype == rows.indptr.dtype == narrow:
        return rows
    parts = rows.data, rows.indices.astype(narrow), rows.indptr.astype(narrow)
    return type(rows)(parts, shape=rows.shape)


def nearest(name: str, known: Iterable[str]) -> str:
    """Return the end of an error message: the most similar name, or the names that exist.

    Parameters
    ----------
    name : str
        The unknown name.
    known : iterable of str
        The names that exist.

    Returns
    -------
    str

    Examples
    --------
    >>> nearest("focl", ["focal", "ldam"])
    "; did you mean 'focal'?"
    """
    names = sorted(known)
    close = get_close_matches(name, names, n=1, cutoff=0.5)
    if close:
        return f"; did you mean {close[0]!r}?"
    return f"; there are {', '.join(names[:20])}{', …' if len(names) > 20 else ''}"


def class_codes(y: Array) -> tuple[Array, Array]:
    """Return the sorted classes, and the index of each label's class.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Labels of two classes or more.

    Returns
    -------
    classes : ndarray of shape (c,)
    codes : ndarray of int, shape (n,)

    Raises
    ------
    ValueError
        If there is one class only, or the labels are not those of a classification.
    """
    classes, codes = _small_range(y) or _sorted(y)
    if len(classes) < 2:
        raise ValueError(
            f"y must hold at least two classes; got one class, {classes.tolist()[0]!r}"
        )
    return classes, codes


def _small_range(y: Array) -> tuple[Array, Array] | None:
    """Return classes and codes of integers within a small range, which need no sorting."""
    if y.ndim != 1 or not y.size or not np.can_cast(y.dtype, np.intp):
        return None
    low = int(y.min())
    if int(y.max()) - low > y.size:
        return None
    above = y.astype(np.intp) - low
    present = np.bincount(above) > 0
    classes = (np.flatnonzero(present) + low).astype(y.dtype)
    return classes, (np.cumsum(present) - 1)[above]


def _sorted(y: Array) -> tuple[Array, Array]:
    check_classification_targets(y)
    classes = np.unique(y)
    return classes, np.searchsorted(classes, y)  # faster than the inverse of np.unique


class Sample(NamedTuple):
    """Labels and weights of a training sample."""

    classes: Array  # (c,), sorted
    labels: Array  # (n,), indices of classes
    weight: Vector  # (n,)
    counts: Vector  # (c,), total weights


def training_sample(X: Features, y: ArrayLike, sample_weight: ArrayLike | None) -> Sample:
    """Return the labels and weights of a training sample, checked.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n, d)
        Features; only their number matters.
    y : array-like of shape (n,)
        Labels.
    sample_weight : array-like of shape (n,) or None
        Non-negative weights; by default one for every sample.

    Returns
    -------
    Sample

    Raises
    ------
    ValueError
        If there is one class only, or a class without weight.
    """
    classes, labels = class_codes(np.asarray(y))
    weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    counts = np.bincount(labels, weights=weight, minlength=len(classes)).astype(np.float64)
    if not counts.all():
        empty = classes[np.flatnonzero(counts == 0)].tolist()
        raise ValueError(
            f"every class needs a positive total sample_weight; the classes {empty} have none"
        )
    return Sample(classes, labels, weight, counts)


def check_group_splitter(cv: object, groups: ArrayLike | None) -> None:
    """Raise an error if there are groups and folds are only counted, which ignores them.

    Parameters
    ----------
    cv : int, splitter, iterable or None
        How samples are split; None stands for five folds.
    groups : array-like of shape (n,) or None
        Groups of samples.
    """
    counted = cv is None or (isinstance(cv, (int, np.integer)) and not isinstance(cv, bool))
    if groups is not None and counted:
        raise ValueError(
            f"groups need a splitter that keeps them together, such as "
            f"cv=StratifiedGroupKFold({5 if cv is None else cv}); got cv={cv!r}"
        )
