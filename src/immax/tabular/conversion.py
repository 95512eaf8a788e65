"""Cells converted by a schema: each cell by itself, whatever the others are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from immax.arrays import Array
from immax.optional import optional_import
from immax.tabular.cells import (
    Cells,
    MixedCells,
    as_text,
    is_text,
    is_unsupported,
    null_where,
    one_array,
    series_cells,
)
from immax.tabular.columns import MISSING_WORDS, MIXED_DATES, Column, Schema, SchemaError
from immax.tabular.date_formats import ISO, parse_dates
from immax.tabular.frames import as_data_frame
from immax.tabular.number_formats import NEEDS_ARROW, NumberFormat

if TYPE_CHECKING:
    from pandas import DataFrame
    from pyarrow import Array as ArrowArray

__all__ = ["LARGEST", "Remarks", "convert_cells", "convert_column", "convert_frame"]

LARGEST = 1e100
"""Numbers beyond this are treated as missing: their squares do not fit into a float."""


@dataclass
class Remarks:
    """What was noticed while cells were converted.

    Attributes
    ----------
    extreme, unseen : Counter
        By column, the number of infinite or absurdly large numbers, which are treated as missing,
        and of values that are not among the categories.
    """

    extreme: Counter[str] = field(default_factory=Counter)
    unseen: Counter[str] = field(default_factory=Counter)

    def notices(self) -> list[str]:
        """Return the remarks as sentences.

        Returns
        -------
        list of str
        """
        return [
            *(
                f"the column {name!r} holds {count:,} infinite or absurdly large values (beyond "
                f"{LARGEST:g}), which are treated as missing"
                for name, count in self.extreme.items()
            ),
            *(
                f"the column {name!r} holds {count:,} values that are not among the categories of "
                "the model; they count as rare ones"
                for name, count in self.unseen.items()
            ),
        ]


def convert_frame(
    frame: DataFrame, columns: Iterable[Column], remarks: Remarks | None = None
) -> DataFrame:
    """Convert columns of a data frame; others are left out.

    Parameters
    ----------
    frame : pandas.DataFrame, polars.DataFrame or pyarrow.Table
        The names of its columns are compared as strings.
    columns : iterable of Column
        The columns to convert.
    remarks : Remarks, optional
        Where to note what is unusual.

    Returns
    -------
    DataFrame
        Of floats, dates, and objects (strings, booleans and None).

    Raises
    ------
    SchemaError
        If a column is missing, or a cell is not what the schema says.
    """
    frame, columns = as_data_frame(frame), tuple(columns)
    Schema(columns).check_names(map(str, frame.columns))
    places = {str(name): place for place, name in enumerate(frame.columns)}
    cells = {column.name: series_cells(frame.iloc[:, places[column.name]]) for column in columns}
    return convert_cells(cells, columns, remarks).set_index(frame.index)


def convert_cells(
    cells: Mapping[str, Cells], columns: Iterable[Column], remarks: Remarks | None = None
) -> DataFrame:
    """Convert the cells of a table.

    Parameters
    ----------
    cells : mapping of str to cells
    columns : iterable of Column
        The columns to convert, which must be there.
    remarks : Remarks, optional
        Where to note what is unusual.

    Returns
    -------
    DataFrame

    Raises
    ------
    SchemaError
        If a cell is not what the schema says.
    """
    pandas = optional_import("pandas", NEEDS_ARROW)
    converted = {
        column.name: pandas.Series(
            convert_column(cells[column.name], column, remarks),
            dtype=object if column.kind in ("category", "boolean") else None,
        )
        for column in columns
    }
    return pandas.DataFrame(converted)


def convert_column(cells: Cells, column: Column, remarks: Remarks | None = None) -> Array:
    """Convert the cells of a column, each by itself.

    Parameters
    ----------
    cells : pyarrow.Array, pyarrow.ChunkedArray or MixedCells
    column : Column
    remarks : Remarks, optional
        Where to note what is unusual.

    Returns
    -------
    ndarray of shape (n,)
        Floats for numbers, datetime64 for dates, booleans or None for booleans, otherwise strings
        or None.

    Raises
    ------
    SchemaError
        If a cell is not what the schema says.
    """
    remarks = Remarks() if remarks is None else remarks
    if isinstance(cells, MixedCells) and column.kind in ("number", "date", "boolean"):
        strings = convert_column(cells.strings, column, remarks)
        others = convert_column(cells.others, column, remarks)
        return np.where(np.asarray(cells.strings.is_valid()), strings, others)
    if not isinstance(cells, MixedCells):
        cells = one_array(cells)
        if cells.null_count == len(cells):
            cells = optional_import("pyarrow", NEEDS_ARROW).nulls(len(cells))
        problem = is_unsupported(cells.type)
        if problem:
            raise SchemaError(f"the column {column.name!r} cannot be read: {problem}")
    if column.kind == "number":
        return _numbers(cells, column, remarks)
    if column.kind == "date":
        return _dates(cells, column)
    if column.kind == "boolean":
        return _booleans(cells, column)
    if column.kind == "category":
        return _categories(cells, column, remarks)
    return _unused_values(cells)


def _numbers(array: ArrowArray, column: Column, remarks: Remarks) -> Array:
    arrow = optional_import("pyarrow", NEEDS_ARROW)
    types = arrow.types
    if is_text(array.type):
        present = _without_missing(array, column)
        parsed = column.number_format.parse(present)
        _check_all_read(present, np.asarray(parsed.is_null()), column, "numbers")
        numbers = parsed
    elif types.is_timestamp(array.type) or types.is_date(array.type):
        raise SchemaError(f"the column {column.name!r} must hold numbers; got dates")
    elif types.is_time(array.type) or types.is_duration(array.type):
        unit = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}[str(array.type.unit)]
        width = arrow.int32() if types.is_time32(array.type) else arrow.int64()
        numbers = arrow.compute.divide(array.cast(width).cast(arrow.float64()), unit)
    else:
        numbers = array.cast(arrow.float64(), safe=False)
    values = numbers.to_numpy(zero_copy_only=False).astype(np.float64)
    extreme = np.abs(values) > LARGEST
    if extreme.any():
        remarks.extreme[column.name] += int(extreme.sum())
        values = np.where(extreme, np.nan, values)
    return values


def _dates(array: ArrowArray, column: Column) -> Array:
    arrow = optional_import("pyarrow", NEEDS_ARROW)
    types = arrow.types
    if types.is_timestamp(array.type) or types.is_date(array.type):
        stamps = array.cast(arrow.timestamp("us", getattr(array.type, "tz", None)), safe=False)
        return (
            stamps.cast(arrow.int64())
            .fill_null(np.iinfo(np.int64).min)
            .to_numpy(zero_copy_only=False)
            .astype("datetime64[us]")
        )
    if types.is_null(array.type):
        return np.full(len(array), np.datetime64("NaT", "us"))
    if types.is_integer(array.type) and column.date_format not in (MIXED_DATES, ISO):
        array = as_text(array)  # such as 20240131
    if not is_text(array.type):
        raise SchemaError(
            f"the column {column.name!r} must hold dates; got {_first_value(array)!r}"
        )
    present = _without_missing(array, column)
    if column.date_format == MIXED_DATES:
        return _mixed_dates(present)
    dates = parse_dates(present, column.date_format)
    expected = f"dates of the format {column.date_format}"
    _check_all_read(present, np.isnat(dates), column, expected)
    return dates


def _mixed_dates(array: ArrowArray) -> Array:
    """Read dates as version 0.1 did: the format of each cell by itself."""
    pandas = optional_import("pandas", NEEDS_ARROW)
    texts = pandas.Series(array.to_numpy(zero_copy_only=False), dtype=object)
    dates = pandas.to_datetime(texts, errors="coerce", format="mixed", utc=True)
    return dates.dt.tz_localize(None).to_numpy("datetime64[us]")


def _booleans(array: ArrowArray, column: Column) -> Array:
    arrow = optional_import("pyarrow", NEEDS_ARROW)
    compute = optional_import("pyarrow.compute", NEEDS_ARROW)
    if arrow.types.is_boolean(array.type) or arrow.types.is_null(array.type):
        return array.cast(arrow.bool_()).to_numpy(zero_copy_only=False).astype(object)
    present = _without_missing(as_text(array), column)
    words = compute.utf8_lower(compute.utf8_trim_whitespace(present))
    true = compute.is_in(words, arrow.array([column.words[0], "1"]))
    false = compute.is_in(words, arrow.array([column.words[1], "0"]))
    unknown = compute.and_(present.is_valid(), compute.invert(compute.or_(true, false)))
    expected = " or ".join(column.words)
    _check_all_read(present, np.asarray(unknown), column, expected)
    values = np.asarray(true).astype(object)
    values[np.asarray(present.is_null())] = None
    return values


def _categories(cells: Cells, column: Column, remarks: Remarks) -> Array:
    arrow = optional_import("pyarrow", NEEDS_ARROW)
    compute = optional_import("pyarrow.compute", NEEDS_ARROW)
    if not isinstance(cells, MixedCells):
        _check_numbers_can_be_categories(cells, column)
    texts = _without_missing(as_text(cells), column)
    if column.categories:
        known = compute.is_in(texts, arrow.array(column.categories, arrow.string()))
        unseen = len(texts) - texts.null_count - (compute.sum(known).as_py() or 0)
        if unseen:
            remarks.unseen[column.name] += unseen
    return texts.to_numpy(zero_copy_only=False).astype(object)


def _check_numbers_can_be_categories(array: ArrowArray, column: Column) -> None:
    """Refuse numbers and booleans where they cannot be told from each other as categories."""
    types = optional_import("pyarrow", NEEDS_ARROW).types
    if not column.categories or is_text(array.type):
        return
    if types.is_boolean(array.type):
        if not {"True", "False"} & set(column.categories):
            raise SchemaError(
                f"the column {column.name!r} must hold categories such as "
                f"{column.categories[0]!r}; got booleans"
            )
    elif types.is_integer(array.type) or types.is_floating(array.type):
        for category in column.categories:
            if _is_changed_by_numbers(category):
                raise SchemaError(
                    f"the column {column.name!r} must hold strings such as {category!r}; got "
                    f"numbers such as {_first_value(array)!r}, which may have lost zeros"
                )


def _is_changed_by_numbers(category: str) -> bool:
    """Whether a category is a number that would be written differently."""
    try:
        value = float(category)
    except ValueError:
        return False
    return category != (str(int(value)) if value.is_integer() else repr(value))


def _unused_values(cells: Cells) -> Array:
    """Return the values of a column that is not used, as numbers if all of them are."""
    arrow = optional_import("pyarrow", NEEDS_ARROW)
    texts = as_text(cells)
    words = arrow.array(MISSING_WORDS, arrow.string())
    present = null_where(texts, arrow.compute.is_in(texts, words))
    numbers = NumberFormat().parse(present)
    values = texts if numbers.null_count > present.null_count else numbers
    return values.to_numpy(zero_copy_only=False)


def _without_missing(array: ArrowArray, column: Column) -> ArrowArray:
    """Return strings with null where they stand for a missing value."""
    arrow = optional_import("pyarrow", NEEDS_ARROW)
    compute = optional_import("pyarrow.compute", NEEDS_ARROW)
    cells = array if column.kind == "category" else compute.utf8_trim_whitespace(array)
    words = arrow.array(column.missing, arrow.string())
    return null_where(array, compute.is_in(cells, words))


def _check_all_read(array: ArrowArray, unread: Array, column: Column, expected: str) -> None:
    """Raise an error that names the first cell that is present and could not be read."""
    bad = np.flatnonzero(unread & np.asarray(array.is_valid()))
    if bad.size:
        value = array[int(bad[0])].as_py()
        form = column.number_format
        how = "" if form.is_plain or column.kind != "number" else f" ({form.describe()})"
        raise SchemaError(
            f"the column {column.name!r} must hold {expected}{how}; got {value[:40]!r}"
        )


def _first_value(array: ArrowArray) -> object:
    return next((value for value in array.to_pylist() if value is not None), None)
