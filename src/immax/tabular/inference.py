"""The kind of each column of a table, inferred once from all of its rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from immax.errors import WrongCall
from immax.optional import optional_import
from immax.tabular.cells import (
    Cells,
    MixedCells,
    as_text,
    is_text,
    is_unsupported,
    one_array,
    series_cells,
)
from immax.tabular.columns import Column, Schema, SchemaError
from immax.tabular.date_formats import ISO
from immax.tabular.frames import as_data_frame
from immax.tabular.number_columns import describe_numbers, unless_constant
from immax.tabular.number_formats import NEEDS_ARROW, NumberFormat
from immax.tabular.reading_options import ReadingOptions
from immax.tabular.string_columns import describe_strings
from immax.validation import nearest

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["describe_cells", "describe_columns"]


def describe_columns(
    frame: DataFrame,
    *,
    date_format: str | None = None,
    decimal: str | None = None,
    kinds: Mapping[str, str] | None = None,
) -> Schema:
    """Infer the kind of every column of a data frame, and how its cells are read.

    Numbers, booleans, dates and categories are used as features. Texts (long strings, or strings
    that differ in most rows), identifiers, constants, and nested or binary values are not, and
    their ``why`` gives the reason. Strings may hold formatted numbers (decimal commas, separators
    of thousands, currency signs, per cent) and dates of one format.

    Parameters
    ----------
    frame : pandas.DataFrame, polars.DataFrame or pyarrow.Table
        The table.
    date_format : str, optional
        The format of dates in strings, as for ``strptime``.
    decimal : {".", ","}, optional
        The decimal mark of numbers in strings.
    kinds : mapping of str to {"number", "category", "date", "drop"}, optional
        The kinds of some columns.

    Returns
    -------
    Schema

    Raises
    ------
    SchemaError
        If a column can be read in more than one way, or holds numbers or dates in most rows but
        not in all.
    WrongCall
        If it is not a table.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [31, 45, 27], "city": ["Aix", "Bonn", "Aix"]})
    >>> [column.kind for column in describe_columns(frame).columns]
    ['number', 'category']
    """
    frame = as_data_frame(frame)
    names = [str(name) for name in frame.columns]
    double = next((name for name in names if names.count(name) > 1), None)
    if double is not None:
        raise SchemaError(f"the name {double!r} is that of more than one column")
    options = ReadingOptions(date_format, decimal, kinds or {})
    cells = {name: series_cells(frame.iloc[:, place]) for place, name in enumerate(names)}
    return describe_cells(cells, options)


def describe_cells(
    cells: Mapping[str, Cells], options: ReadingOptions | None = None, *, declared: bool = True
) -> Schema:
    """Infer the kind of every column of a table, and how its cells are read.

    Parameters
    ----------
    cells : mapping of str to cells
        All rows of the table.
    options : ReadingOptions, optional
        What is known of the columns.
    declared : bool, default=True
        Whether strings have been declared to be strings, so that digits in them are categories; in
        CSV files they have not.

    Returns
    -------
    Schema

    Raises
    ------
    SchemaError
        If a column can be read in more than one way, or holds numbers or dates in most rows but
        not in all; or if there is no column with a name of the options.
    """
    options = options or ReadingOptions()
    for name in options.kinds:
        if name not in cells:
            raise SchemaError(f"there is no column {name!r}{nearest(name, cells)}")
    columns = [_describe(name, own, options, declared) for name, own in cells.items()]
    commas = any(column.number_format.decimal == "," for column in columns)
    if commas and options.decimal is None:
        for column in columns:
            _refuse_unclear_points(cells[column.name], column)
    if options.date_format is not None and not any(
        column.date_format == options.date_format for column in columns
    ):
        raise WrongCall(f"no column holds dates of the format {options.date_format!r}")
    return Schema(tuple(columns))


def _describe(name: str, cells: Cells, options: ReadingOptions, declared: bool) -> Column:
    wanted = options.kinds.get(name)
    if wanted == "drop":
        return Column(name, "dropped", "left out on request")
    if isinstance(cells, MixedCells):
        return describe_strings(name, as_text(cells), options, declared=False)
    kind = cells.type
    problem = is_unsupported(kind)
    if problem:
        return Column(name, "unsupported", problem)
    types = optional_import("pyarrow", NEEDS_ARROW).types
    array = one_array(cells)
    if is_text(array.type):
        is_category = types.is_dictionary(kind) and declared
        if is_category and wanted is None:
            options = ReadingOptions(kinds={name: "category"})
        return describe_strings(name, array, options, declared=declared)
    if types.is_dictionary(kind) or wanted == "category":
        known = ReadingOptions(kinds={name: "category"})
        return describe_strings(name, as_text(array), known, declared=True)
    if types.is_integer(array.type) and wanted == "date":
        return describe_strings(name, as_text(array), options, declared=declared)
    if types.is_boolean(array.type):
        return unless_constant(Column(name, "boolean"), array)
    if types.is_timestamp(array.type) or types.is_date(array.type):
        return unless_constant(Column(name, "date", date_format=ISO), array)
    return describe_numbers(Column(name, "number"), array)


def _refuse_unclear_points(cells: Cells, column: Column) -> None:
    """Refuse points that may separate thousands, in a table that has decimal commas."""
    if column.kind != "number" or not column.number_format.is_plain:
        return
    if isinstance(cells, MixedCells) or not is_text(one_array(cells).type):
        return
    compute = optional_import("pyarrow.compute", NEEDS_ARROW)
    values = one_array(cells).drop_null().unique()
    points = values.filter(compute.match_substring(values, "."))
    words = compute.is_in(points, optional_import("pyarrow", NEEDS_ARROW).array(column.missing))
    points = points.filter(compute.invert(words))
    if len(points) and NumberFormat(",", ".").parse(points).null_count == 0:
        raise SchemaError(
            f"the column {column.name!r} is unclear: the points of cells such as "
            f"{points[0].as_py()!r} may separate thousands, because other columns have decimal "
            'commas: give the decimal mark (--decimal "," or --decimal ".")'
        )
