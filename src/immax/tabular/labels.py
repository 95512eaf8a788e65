"""A column of labels as an array for classifiers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from immax.arrays import Array
from immax.errors import WrongCall
from immax.optional import optional_import
from immax.tabular.cells import Cells, MixedCells, as_text, is_text, is_unsupported, one_array
from immax.tabular.columns import MISSING_WORDS, Column, SchemaError
from immax.tabular.conversion import convert_column
from immax.tabular.number_formats import NEEDS_ARROW, infer_number_format

if TYPE_CHECKING:
    from pandas import Series
    from pyarrow import Array as ArrowArray

__all__ = ["as_labels", "describe_labels", "read_labels"]

EXACT = 2.0**53  # up to which floats hold all whole numbers


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
    pandas = optional_import("pandas", NEEDS_ARROW)
    types = pandas.api.types
    values = pandas.Series(column)
    if types.is_bool_dtype(values):
        return np.asarray(values, dtype=bool)
    if types.is_signed_integer_dtype(values) and not values.hasnans:
        return values.to_numpy(dtype=np.int64)
    if types.is_numeric_dtype(values):
        numbers = np.asarray(values, dtype=np.float64)
        whole = (numbers % 1 == 0) & (np.abs(numbers) <= EXACT)
        if not whole.all():
            raise WrongCall(
                f"the target holds the number {numbers[~whole][0]:g}, which is not a class: labels "
                "must be whole numbers of up to 2^53, booleans or strings"
            )
        return numbers.astype(np.int64)
    return np.asarray(values.astype(str), dtype=object)


def describe_labels(name: str, cells: Cells, *, declared: bool = True) -> Column:
    """Infer how a column of labels is read, from all of its rows.

    Parameters
    ----------
    name : str
        The name of the column.
    cells : cells
        All rows.
    declared : bool, default=True
        Whether strings have been declared to be strings; in CSV files they have not, so that
        whole numbers and the words true and false may be labels too.

    Returns
    -------
    Column
        Of kind "number", "boolean" or "category"; strings are kept as they are written.

    Raises
    ------
    SchemaError
        If values of this type cannot be labels.
    """
    arrow = optional_import("pyarrow", NEEDS_ARROW)
    compute = optional_import("pyarrow.compute", NEEDS_ARROW)
    strings = Column(name, "category", missing=("",))
    if isinstance(cells, MixedCells):
        return strings
    problem = is_unsupported(cells.type)
    if problem:
        raise SchemaError(f"the column {name!r} cannot hold labels: {problem}")
    array = one_array(cells)
    types = arrow.types
    if types.is_boolean(array.type):
        return Column(name, "boolean")
    if (
        types.is_integer(array.type)
        or types.is_floating(array.type)
        or types.is_decimal(array.type)
    ):
        return strings if _is_inexact(array.drop_null().unique()) else Column(name, "number")
    if declared or not is_text(array.type):
        return strings
    values = array.drop_null().unique()
    missing = compute.is_in(values, arrow.array(MISSING_WORDS, arrow.string()))
    values = values.filter(compute.invert(missing))
    words = {text.strip().lower() for text in values[:3].to_pylist()}
    if len(values) == 2 and words == {"true", "false"}:
        return Column(name, "boolean")
    form = infer_number_format(values, ".") if len(values) else None
    numbers = form is not None and form.is_plain and not _is_inexact(values)
    return Column(name, "number") if numbers else strings


def _is_inexact(values: ArrowArray) -> bool:
    """Return whether numbers, or texts of numbers, are too large for floats to tell apart."""
    return any(abs(float(value)) > EXACT for value in values.to_pylist())


def read_labels(cells: Cells, column: Column) -> Series:
    """Convert a column of labels.

    Parameters
    ----------
    cells : cells
    column : Column
        What ``describe_labels`` returned.

    Returns
    -------
    Series
        Of whole numbers, booleans or strings.

    Raises
    ------
    ValueError
        If a label is missing.
    """
    pandas = optional_import("pandas", NEEDS_ARROW)
    values = convert_column(cells, column)
    series = pandas.Series(
        values, name=column.name, dtype=object if values.dtype == object else None
    )
    missing = int(series.isna().sum())
    if missing:
        words = sorted(set(as_text(cells).to_pylist()) & set(column.missing) - {""})
        how = f" ({', '.join(map(repr, words))})" if words else ""
        raise ValueError(f"the column {column.name!r} has {missing} missing labels{how}")
    if column.kind == "boolean":
        return series.astype(bool)
    if column.kind == "number":
        return pandas.Series(as_labels(series), name=column.name)
    return series
