"""Checks that the estimators share."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight

from immax.arrays import Array

__all__ = [
    "Sample",
    "check_choice",
    "check_positive",
    "class_codes",
    "nearest",
    "training_sample",
]


def check_choice(name: str, value: Any, choices: tuple[str, ...]) -> None:
    """Refuse a parameter that is none of the choices."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}; got {value!r}")


def check_positive(name: str, value: Any) -> None:
    """Refuse a parameter that is not a positive, finite number."""
    if not (isinstance(value, (int, float, np.number)) and np.isfinite(value) and value > 0):
        raise ValueError(f"{name} must be a positive, finite number; got {value!r}")


def nearest(name: str, known: Iterable[str]) -> str:
    """The end of an error message: what may have been meant, or what there is."""
    names = sorted(known)
    close = get_close_matches(name, names, n=1, cutoff=0.5)
    if close:
        return f"; did you mean {close[0]!r}?"
    return f"; there are {', '.join(names[:20])}{', …' if len(names) > 20 else ''}"


def class_codes(y: Array) -> tuple[Array, Array]:
    """The sorted classes, two or more, and the index of each label's."""
    classes, codes = _small_range(y) or _sorted(y)
    if len(classes) < 2:
        raise ValueError(
            f"y must hold at least two classes; got one class, {classes.tolist()[0]!r}"
        )
    return classes, codes


def _small_range(y: Array) -> tuple[Array, Array] | None:
    """Whole numbers near to each other need no sorting."""
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
    return classes, np.searchsorted(classes, y)  # quicker than the inverse of np.unique


class Sample(NamedTuple):
    """Labels as an estimator works with them."""

    classes: Array  # (c,), sorted
    labels: Array  # (n,), indices of classes
    weight: Array  # (n,)
    counts: Array  # (c,), total weights


def training_sample(X: Any, y: Any, sample_weight: ArrayLike | None) -> Sample:
    """Two classes or more, each of them with some weight."""
    classes, labels = class_codes(y)
    weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    counts = np.bincount(labels, weights=weight, minlength=len(classes))
    if not counts.all():
        empty = classes[np.flatnonzero(counts == 0)].tolist()
        raise ValueError(
            f"every class needs a positive total sample_weight; the classes {empty} have none"
        )
    return Sample(classes, labels, weight, counts)
