"""Columns of numbers: identifiers and constants among them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from immax.tabular.columns import Column
from immax.tabular.conversion import convert_column

if TYPE_CHECKING:
    from pyarrow import Array as ArrowArray

__all__ = ["FEW_ROWS", "ID_NAME", "describe_numbers", "unless_constant"]

FEW_ROWS = 20
"""In shorter columns, values that all differ say nothing."""

ID_NAME = re.compile(r"(?i:(^|[_\W])(id|uuid|guid|key)$)|[a-z]I[dD]$")
"""Names of identifiers."""


def unless_constant(column: Column, array: ArrowArray) -> Column:
    """Return the column, or a constant if it has fewer than two values.

    Parameters
    ----------
    column : Column
    array : pyarrow.Array
        Its cells.

    Returns
    -------
    Column
    """
    n_distinct = len(array.drop_null().unique())
    if n_distinct > 1:
        return column
    return Column(column.name, "constant", "one value in all rows" if n_distinct else "no values")


def describe_numbers(column: Column, array: ArrowArray) -> Column:
    """Tell identifiers and constants from numbers that are features.

    Parameters
    ----------
    column : Column
        A column of numbers.
    array : pyarrow.Array
        Its cells.

    Returns
    -------
    Column
    """
    values = convert_column(array, column)
    present = values[~np.isnan(values)]
    distinct = np.unique(present)
    if distinct.size < 2:
        why = "one value in all rows" if distinct.size else "no values"
        return Column(column.name, "constant", why)
    all_differ = distinct.size == present.size >= FEW_ROWS
    if all_differ and (present % 1 == 0).all():
        running = distinct[-1] - distinct[0] == distinct.size - 1
        if running or ID_NAME.search(column.name):
            return replace(column, kind="id", why="a different whole number in every row")
    return column
