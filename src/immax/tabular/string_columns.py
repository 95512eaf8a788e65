"""Columns of strings: numbers, dates and booleans among them, categories, texts, identifiers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from immax.optional import optional_import
from immax.tabular.columns import MISSING_WORDS, Column, SchemaError
from immax.tabular.date_formats import date_share, infer_date_format, parse_dates
from immax.tabular.number_columns import FEW_ROWS, ID_NAME, describe_numbers, unless_constant
from immax.tabular.number_formats import (
    LEADING_ZERO,
    NEEDS_ARROW,
    AmbiguousFormat,
    NumberFormat,
    infer_number_format,
    number_share,
)
from immax.tabular.reading_options import ReadingOptions

if TYPE_CHECKING:
    from pyarrow import Array as ArrowArray

__all__ = ["describe_strings"]

LONG_TEXT = 40  # mean number of characters from which strings are texts
MOST_STORED = 1000  # categories that a schema lists
MARKS_OF_MISSING = ("?", "-", "--", ".", "*", "n.a.", "n.a", "N.A.", "unknown", "missing", "none")
BOOLEAN_WORDS = (("true", "false"), ("t", "f"))


def describe_strings(
    name: str, array: ArrowArray, options: ReadingOptions, *, declared: bool
) -> Column:
    """Infer what a column of strings holds from its distinct values.

    Parameters
    ----------
    name : str
        The name of the column.
    array : pyarrow.Array of strings
        All of its cells.
    options : ReadingOptions
        What is known of the columns.
    declared : bool
        Whether strings have been declared to be strings, so that digits in them are categories.

    Returns
    -------
    Column

    Raises
    ------
    SchemaError
        If the cells can be read in more than one way, or are numbers or dates in most rows but not
        in all.
    """
    arrow = optional_import("pyarrow", NEEDS_ARROW)
    compute = optional_import("pyarrow.compute", NEEDS_ARROW)
    distinct = array.drop_null().unique()
    trimmed = compute.utf8_trim_whitespace(distinct)
    words = compute.is_in(trimmed, arrow.array(MISSING_WORDS, arrow.string()))
    values = distinct.filter(compute.invert(words))
    if not len(values):
        return Column(name, "constant", "no values")
    wanted = options.kinds.get(name)
    try:
        if wanted == "number":
            return _asked_for_numbers(name, values, options)
        if wanted == "date" or (wanted is None and options.date_format is not None):
            column = _describe_dates(name, values, options)
            if column is not None:
                return column
            if wanted == "date":
                raise AmbiguousFormat(
                    f"cells such as {values[0].as_py()[:40]!r} are not dates of one known format: "
                    "give it (--date-format)"
                )
        if wanted is None:
            column = _recognise(name, array, values, options, declared)
            if column is not None:
                return column
    except AmbiguousFormat as error:
        raise SchemaError(f"the column {name!r} is unclear: {error}") from None
    return _describe_categories(name, array, distinct, values, asked=wanted == "category")


def _recognise(
    name: str, array: ArrowArray, values: ArrowArray, options: ReadingOptions, declared: bool
) -> Column | None:
    """Return a column of booleans, numbers or dates, or None if it is one of strings."""
    arrow = optional_import("pyarrow", NEEDS_ARROW)
    compute = optional_import("pyarrow.compute", NEEDS_ARROW)
    lower = compute.utf8_lower(compute.utf8_trim_whitespace(values)).unique().to_pylist()
    for words in BOOLEAN_WORDS:
        if len(lower) == 2 and set(lower) == set(words):
            return Column(name, "boolean", words=words)
    marks = compute.is_in(compute.utf8_trim_whitespace(values), arrow.array(MARKS_OF_MISSING))
    rest = values.filter(compute.invert(marks))
    missing = (*MISSING_WORDS, *values.filter(marks).to_pylist())
    if not len(rest):
        return None
    form = infer_number_format(rest, options.decimal)
    if form is not None and not (declared and form.is_plain and _few_differ(array, values)):
        column = Column(name, "number", number_format=form, missing=missing)
        return describe_numbers(column, array)
    return _describe_dates(name, rest, options, missing)


def _describe_dates(
    name: str,
    values: ArrowArray,
    options: ReadingOptions,
    missing: tuple[str, ...] = MISSING_WORDS,
) -> Column | None:
    form = options.date_format
    if form is not None and not np.isnat(parse_dates(values, form)).any():
        return Column(name, "date", date_format=form, missing=missing)
    form = infer_date_format(values)
    if form is None:
        return None
    return unless_constant(Column(name, "date", date_format=form, missing=missing), values)


def _asked_for_numbers(name: str, values: ArrowArray, options: ReadingOptions) -> Column:
    """Return a column of numbers in which all other cells are missing."""
    compute = optional_import("pyarrow.compute", NEEDS_ARROW)
    digits = values.filter(compute.match_substring_regex(values, "[0-9]"))
    form = infer_number_format(digits, options.decimal) if len(digits) else None
    form = form or NumberFormat(options.decimal or ".")
    other = values.filter(form.parse(values).is_null()).to_pylist()
    if len(other) == len(values):
        raise SchemaError(f"the column {name!r} holds no numbers, but {other[0][:40]!r}")
    missing = (*MISSING_WORDS, *(text.strip() for text in other))
    return Column(name, "number", number_format=form, missing=missing)


def _describe_categories(
    name: str, array: ArrowArray, distinct: ArrowArray, values: ArrowArray, *, asked: bool
) -> Column:
    compute = optional_import("pyarrow.compute", NEEDS_ARROW)
    categories = distinct.filter(compute.not_equal(distinct, ""))
    if len(categories) < 2:
        return Column(name, "constant", "one value in all rows")
    stored = tuple(sorted(categories.to_pylist())) if len(categories) <= MOST_STORED else ()
    column = Column(name, "category", missing=("",), categories=stored)
    if asked:
        return column
    n_rows = len(array) - array.null_count
    share = len(values) / n_rows if n_rows >= FEW_ROWS else 0.0
    lengths = compute.utf8_length(values)
    zeros = compute.all(compute.match_substring_regex(values, LEADING_ZERO)).as_py()
    if share > 0.9 and (ID_NAME.search(name) or len(lengths.unique()) == 1):
        column = Column(name, "id", "a different value in nearly every row")
    elif compute.mean(compute.utf8_length(array)).as_py() > LONG_TEXT or share > 0.5:
        column = Column(name, "text", "long texts, or a different one in most rows")
    if not column.used and not zeros:
        _refuse_mostly_numbers(name, array)
    return column


def _refuse_mostly_numbers(name: str, array: ArrowArray) -> None:
    """Raise an error if cells that would be dropped as texts are numbers or dates in most rows."""
    for share, what in ((number_share(array), "number"), (date_share(array), "date")):
        if share > 0.5:
            bad = next((cell for cell in array.to_pylist() if cell and not _looks(cell, what)), "")
            bad = bad or array.drop_null()[0].as_py()
            raise SchemaError(
                f"the column {name!r} holds {what}s in {share:.0%} of its rows, but not of one "
                f"format: there is {bad[:40]!r}; correct it, or choose "
                f"--kind {name}=number, {name}=category or {name}=drop"
            )


def _looks(cell: str, what: str) -> bool:
    arrow = optional_import("pyarrow", NEEDS_ARROW)
    share = number_share if what == "number" else date_share
    return share(arrow.array([cell])) > 0


def _few_differ(array: ArrowArray, values: ArrowArray) -> bool:
    """Whether strings are categories rather than texts by their number."""
    n_rows = len(array) - array.null_count
    return n_rows < FEW_ROWS or len(values) / n_rows <= 0.5
