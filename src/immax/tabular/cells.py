"""Cells of a column as a file or a data frame has them, before they are given a meaning."""

from __future__ import annotations

import datetime
import decimal
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from immax.optional import optional_import
from immax.tabular.number_formats import NEEDS_ARROW

if TYPE_CHECKING:
    from pandas import Series
    from pyarrow import Array as ArrowArray
    from pyarrow import ChunkedArray, DataType

__all__ = [
    "Cells",
    "MixedCells",
    "as_cells",
    "as_text",
    "is_text",
    "is_unsupported",
    "null_where",
    "one_array",
    "series_cells",
]


@dataclass(frozen=True, eq=False)
class MixedCells:
    """Cells of which some are strings, and others numbers or booleans, as JSON allows.

    Attributes
    ----------
    strings : pyarrow.Array of strings
        Null where the cell is something else.
    others : pyarrow.Array
        Null where the cell is a string.
    """

    strings: ArrowArray
    others: ArrowArray

    def __len__(self) -> int:
        return len(self.strings)


Cells: TypeAlias = "ArrowArray | ChunkedArray | MixedCells"


def is_text(kind: DataType) -> bool:
    """Return whether an Arrow type is one of strings.

    Parameters
    ----------
    kind : pyarrow.DataType

    Returns
    -------
    bool
    """
    return str(kind) in ("string", "large_string", "string_view")


def is_unsupported(kind: DataType) -> str:
    """Return why values of an Arrow type cannot be features, or an empty string if they can.

    Parameters
    ----------
    kind : pyarrow.DataType

    Returns
    -------
    str
    """
    types = optional_import("pyarrow", NEEDS_ARROW).types
    if types.is_nested(kind):
        return "lists and nested values are not supported"
    if types.is_dictionary(kind):
        return is_unsupported(kind.value_type)
    if "binary" in str(kind):
        return "binary values are not supported"
    known = (
        types.is_boolean(kind)
        or types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_decimal(kind)
        or types.is_temporal(kind)
        or types.is_null(kind)
        or is_text(kind)
    )
    return "" if known else f"values of the type {kind} are not supported"


def one_array(cells: ArrowArray | ChunkedArray) -> ArrowArray:
    """Return cells as one Arrow array, decoded and without extension types.

    Parameters
    ----------
    cells : pyarrow.Array or pyarrow.ChunkedArray

    Returns
    -------
    pyarrow.Array
    """
    arrow = optional_import("pyarrow", NEEDS_ARROW)
    if isinstance(cells, arrow.ChunkedArray):
        if cells.num_chunks == 1:
            cells = cells.chunk(0)
        else:
            cells = arrow.concat_arrays(cells.chunks) if cells.num_chunks else arrow.nulls(0)
    if isinstance(cells, arrow.ExtensionArray):
        cells = cells.storage
    if arrow.types.is_dictionary(cells.type):
        cells = cells.dictionary_decode()
    if str(cells.type) in ("large_string", "string_view"):
        cells = cells.cast(arrow.string())
    return cells


def null_where(array: ArrowArray, mask: ArrowArray) -> ArrowArray:
    """Return an array with null where a mask is true.

    By position, as ``if_else`` of pyarrow 19 and before spoils slices of arrays of strings.

    Parameters
    ----------
    array : pyarrow.Array
    mask : pyarrow.Array of bool
        Without nulls.

    Returns
    -------
    pyarrow.Array
    """
    arrow = optional_import("pyarrow", NEEDS_ARROW)
    return array.take(arrow.array(np.arange(len(array)), mask=np.asarray(mask)))


def as_cells(values: Sequence[object]) -> Cells:
    """Return Python objects as cells.

    Parameters
    ----------
    values : sequence of object
        Strings, numbers, booleans, dates, and None or NaN where a value is missing.

    Returns
    -------
    pyarrow.Array or MixedCells
        Of a nested type if there is anything else.
    """
    arrow = optional_import("pyarrow", NEEDS_ARROW)
    plain = [None if _is_missing(value) else value for value in values]
    kinds = {_kind_of(value) for value in plain if value is not None}
    if not kinds <= {"text", "number", "boolean", "date"}:
        # What the cells are does not matter: a column with one such cell is left out.
        kind = arrow.binary() if kinds == {"binary"} else arrow.list_(arrow.null())
        return arrow.nulls(len(plain), kind)
    if kinds <= {"number"}:
        return arrow.array([None if v is None else _as_float(v) for v in plain], arrow.float64())
    if len(kinds) == 1:
        if kinds == {"date"}:
            plain = [None if v is None else _naive(v) for v in plain]
            return arrow.array(plain, arrow.timestamp("us"))
        return arrow.array(plain, arrow.string() if kinds == {"text"} else arrow.bool_())
    strings = [value if isinstance(value, str) else None for value in plain]
    others = [None if isinstance(value, str) else value for value in plain]
    if "date" in kinds or kinds == {"number", "boolean"}:
        texts = [None if v is None else v if isinstance(v, str) else _text_of(v) for v in plain]
        return arrow.array(texts, arrow.string())
    rest = as_cells(others)
    if isinstance(rest, MixedCells) or is_text(rest.type):  # three kinds
        return arrow.array([None if v is None else _text_of(v) for v in plain], arrow.string())
    return MixedCells(arrow.array(strings, arrow.string()), rest)


def series_cells(series: Series) -> Cells:
    """Return a column of a data frame as cells.

    Parameters
    ----------
    series : Series

    Returns
    -------
    pyarrow.Array or MixedCells
    """
    arrow = optional_import("pyarrow", NEEDS_ARROW)
    if series.dtype == object:
        return as_cells(series.tolist())
    try:
        return arrow.array(series, from_pandas=True)
    except (arrow.ArrowException, TypeError, ValueError, OverflowError):
        return as_cells(series.tolist())


def as_text(cells: Cells) -> ArrowArray:
    """Return cells as strings: whole numbers without a point, booleans as True and False.

    Parameters
    ----------
    cells : pyarrow.Array, pyarrow.ChunkedArray or MixedCells

    Returns
    -------
    pyarrow.Array of strings
    """
    arrow = optional_import("pyarrow", NEEDS_ARROW)
    compute = optional_import("pyarrow.compute", NEEDS_ARROW)
    if isinstance(cells, MixedCells):
        return compute.coalesce(cells.strings, as_text(cells.others))
    array = one_array(cells)
    if is_text(array.type):
        return array
    encoded = array.dictionary_encode() if len(array) else array.cast(arrow.string())
    if not len(array):
        return encoded
    texts = [None if v is None else _text_of(v) for v in encoded.dictionary.to_pylist()]
    return arrow.array(texts, arrow.string()).take(encoded.indices)


def _is_missing(value: object) -> bool:
    if value is None:
        return True
    if isinstance(value, float):
        return math.isnan(value)
    return type(value).__name__ in ("NAType", "NaTType")


def _kind_of(value: object) -> str:
    if isinstance(value, str):
        return "text"
    if isinstance(value, bool | np.bool_):
        return "boolean"
    if isinstance(value, int | float | decimal.Decimal | np.integer | np.floating):
        return "number"
    if isinstance(value, datetime.date | np.datetime64):  # a datetime is a date
        return "date"
    return "binary" if isinstance(value, bytes | bytearray | memoryview) else "nested"


def _as_float(value: object) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except OverflowError:
        return math.inf


def _naive(value: object) -> object:
    """Return a date without time zone, in UTC."""
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        value = value.astimezone(datetime.UTC).replace(tzinfo=None)
    return np.datetime64(value, "us")  # type: ignore[call-overload]


def _text_of(value: object) -> str:
    """Return a value as it is written as a category."""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    if isinstance(value, decimal.Decimal):
        return format(value.normalize(), "f") if value.is_finite() else str(value)
    return str(value)
