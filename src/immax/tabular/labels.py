"""A column of labels as an array that classifiers take."""

from __future__ import annotations

from typing import Any

import numpy as np

from immax.arrays import Array
from immax.datasets.optional import optional_import
from immax.errors import WrongCall

__all__ = ["as_labels"]


def as_labels(column: Any) -> Array:
    """Truth values and whole numbers as they are, all else as text; other numbers are refused.

    Examples
    --------
    >>> import pandas as pd
    >>> as_labels(pd.Series([0.0, 1.0, 1.0]))
    array([0, 1, 1])
    >>> as_labels(pd.Series(["no", "yes"]))
    array(['no', 'yes'], dtype=object)
    """
    pandas = optional_import("pandas", "tables need pandas: pip install immax[bench]")
    types = pandas.api.types
    values = pandas.Series(column)
    if types.is_bool_dtype(values):
        return np.asarray(values, dtype=bool)
    if types.is_numeric_dtype(values):
        numbers = np.asarray(values, dtype=np.float64)
        if not (numbers % 1 == 0).all():
            bad = numbers[numbers % 1 != 0][0]
            raise WrongCall(
                f"the target holds the number {bad:g}, which is no class: whole numbers, truth "
                "values and texts are"
            )
        return numbers.astype(np.int64)
    return np.asarray(values.astype(str), dtype=object)
