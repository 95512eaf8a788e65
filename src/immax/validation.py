"""Checks that the estimators share."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight

__all__ = ["Sample", "check_choice", "check_positive", "nearest", "training_sample"]

Array = NDArray[Any]


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


class Sample(NamedTuple):
    """Labels as an estimator works with them."""

    classes: Array  # (c,), sorted
    labels: Array  # (n,), indices of classes
    weight: Array  # (n,)
    counts: Array  # (c,), total weights


def training_sample(X: Any, y: Any, sample_weight: ArrayLike | None) -> Sample:
    """Two classes or more, each of them with some weight."""
    check_classification_targets(y)
    classes = np.unique(y)
    labels = np.searchsorted(classes, y)  # quicker than the inverse of np.unique
    if len(classes) < 2:
        raise ValueError(
            f"y must hold at least two classes; got one class, {classes.tolist()[0]!r}"
        )
    weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    counts = np.bincount(labels, weights=weight, minlength=len(classes))
    if not counts.all():
        empty = classes[np.flatnonzero(counts == 0)].tolist()
        raise ValueError(
            f"every class needs a positive total sample_weight; the classes {empty} have none"
        )
    return Sample(classes, labels, weight, counts)
