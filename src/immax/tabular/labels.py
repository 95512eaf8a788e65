"""A column of labels as an array for classifiers."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from immax.arrays import Array
from immax.datasets.optional import optional_import
from immax.errors import WrongCall
from immax.tabular.columns import NEEDS_PANDAS

__all__ = ["as_labels"]


def as_labels(column: ArrayLike) -> Array:
    """Convert a column of labels to an array.

    Booleans and whole numbers keep their type; everything else becomes strings.

    Parameters
    ----------
    column : Series or array-like of shape (n,)
        The labels.

    Returns
    -------
    ndarray of shape (n,)
        Of bool, int64 or object (strings).

    Raises
    ------
    ValueError
        If the labels are numbers that are not whole.

    Examples
    --------
    >>> import pandas as pd
    >>> as_labels(pd.Series([0.0, 1.0, 1.0]))
    array([0, 1, 1])
    >>> as_labels(pd.Series(["no", "yes"]))
    array(['no', 'yes'], dtype=object)
    """
    pandas = optional_import("pandas", NEEDS_PANDAS)
    types = pandas.api.types
    values = pandas.Series(column)
    if types.is_bool_dtype(values):
        return np.asarray(values, dtype=bool)
    if types.is_numeric_dtype(values):
        numbers = np.asarray(values, dtype=np.float64)
        if not (numbers % 1 == 0).all():
            bad = numbers[numbers % 1 != 0][0]
            raise WrongCall(
                f"the target holds the number {bad:g}, which is not a class: labels must be whole "
                "numbers, booleans or strings"
            )
        return numbers.astype(np.int64)
    return np.asarray(values.astype(str), dtype=object)
