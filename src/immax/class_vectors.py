"""Vectors with a number for each class, as arguments: arrays in class order, or dicts by label."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from immax.arrays import Array, Vector
from immax.class_labels import check_class_order

__all__ = ["class_vector", "in_class_order", "positive_number"]


def class_vector(values: ArrayLike, name: str, n_classes: int | None = None) -> Vector:
    """Return one positive, finite float per class.

    Parameters
    ----------
    values : array-like of shape (n_classes,)
        The numbers to check.
    name : str
        The argument's name in error messages.
    n_classes : int, optional
        The expected length; by default any length of two or more.

    Returns
    -------
    ndarray of shape (n_classes,)

    Raises
    ------
    ValueError
        If the shape is wrong, or an entry is not positive and finite.
    TypeError
        If it is a pandas Series whose labels are not sorted, as those of ``y.value_counts()``.
    """
    check_class_order(values, name)
    try:
        vector = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} must be one number per class, such as [500, 20]; got {values!r}"
        ) from error
    if vector.ndim != 1:
        raise ValueError(
            f"{name} must be one number per class, a 1-D array; got shape {vector.shape}"
        )
    if n_classes is None and vector.size < 2:
        raise ValueError(
            f"{name} must have an entry for each of two or more classes; got {vector.tolist()}"
        )
    if n_classes is not None and vector.size != n_classes:
        raise ValueError(
            f"{name} must have an entry for each of the {n_classes} classes; got {vector.size}"
        )
    bad = np.flatnonzero(~(np.isfinite(vector) & (vector > 0)))
    if bad.size:
        k = int(bad[0])
        raise ValueError(
            f"{name} of class {k} is {vector[k]:g}; it must be a positive, finite number"
        )
    return vector


def positive_number(value: float, name: str) -> float:
    """Return a positive, finite float.

    Parameters
    ----------
    value : float
        The number to check.
    name : str
        The argument's name in error messages.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If the number is not positive and finite.
    """
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if not (np.isfinite(number) and number > 0):
        raise ValueError(f"{name} must be a positive, finite number; got {value!r}")
    return number


def in_class_order(values: Mapping[Any, Any], classes: Array, name: str, noun: str) -> list[Any]:
    """Return the values of a mapping from class labels, in the order of the classes.

    Parameters
    ----------
    values : mapping from class label to value
        With one entry for each class.
    classes : ndarray of shape (n_classes,)
        The labels, in order.
    name, noun : str
        The name of the argument, and what one of its values is called, for the error message.

    Returns
    -------
    list

    Raises
    ------
    ValueError
        If the labels are not those of the classes.

    Examples
    --------
    >>> in_class_order({"spam": 1.0, "ham": 2.0}, np.array(["ham", "spam"]), "costs", "cost")
    [2.0, 1.0]
    """
    labels = classes.tolist()
    unknown = [label for label in values if label not in labels]
    missing = [label for label in labels if label not in values]
    if unknown or missing:
        raise ValueError(
            f"{name} must have one entry for each of the classes {labels}; unknown labels: "
            f"{unknown}, classes without a {noun}: {missing}"
        )
    return [values[label] for label in labels]
