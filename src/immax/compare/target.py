"""The target of a comparison: its classes, and the class of each row."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from immax.arrays import Array
from immax.errors import WrongCall
from immax.tabular import as_labels

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from pandas import Series

__all__ = ["FEWEST_ROWS", "MOST_CLASSES", "Target", "check_classes", "encode_target"]

FEWEST_ROWS = 3
"""Each class needs this many rows, so that every training part has two of them."""

MOST_CLASSES = 100
"""A target with more different values is probably a number rather than a class."""


class Target(NamedTuple):
    """The sorted classes, and the index of each row's class."""

    classes: Array
    codes: Array


def encode_target(y: Series | ArrayLike) -> Target:
    """Return the classes of a column of labels and the class of each row.

    Parameters
    ----------
    y : Series or array-like
        Labels of any type.

    Returns
    -------
    Target

    Raises
    ------
    WrongCall
        If there are fewer than two classes or more than ``MOST_CLASSES``, or if a class has fewer
        than ``FEWEST_ROWS`` rows.

    Examples
    --------
    >>> encode_target(["no", "yes", "no", "yes", "no", "yes"]).codes
    array([0, 1, 0, 1, 0, 1])
    """
    classes, codes, counts = np.unique(as_labels(y), return_inverse=True, return_counts=True)
    check_classes(classes, counts)
    return Target(classes, codes)


def check_classes(classes: Array, counts: Array) -> None:
    """Check that a target is one of classes, each of them with enough rows.

    Parameters
    ----------
    classes, counts : ndarray of shape (c,)
        The labels, and the number of rows of each of them.

    Raises
    ------
    WrongCall
        As ``encode_target``.
    """
    if len(classes) < 2:
        raise WrongCall(
            f"the target has only one class, {str(classes[0])!r}: there is nothing to predict"
        )
    if len(classes) > MOST_CLASSES:
        raise WrongCall(
            f"the target has {len(classes)} different values, more than {MOST_CLASSES}: "
            "is it a number rather than a class?"
        )
    if counts.min() < FEWEST_ROWS:
        rare = [str(name) for name in classes[counts < FEWEST_ROWS]]
        raise WrongCall(
            f"every class needs at least {FEWEST_ROWS} rows; {', '.join(map(repr, rare[:5]))} "
            f"{'has' if len(rare) == 1 else 'have'} fewer: remove these classes or merge them "
            "with others"
        )
