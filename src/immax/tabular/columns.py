"""The kinds of a table's columns, inferred from their values."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from immax.datasets.optional import optional_import
from immax.errors import WrongCall
from immax.validation import nearest

if TYPE_CHECKING:
    from pandas import DataFrame, Series

__all__ = ["Column", "Schema", "SchemaError", "describe_columns"]

USED = ("number", "boolean", "category", "date")
NEEDS_PANDAS = "tables need pandas: pip install immax[bench]"
SAMPLE_SIZE = 1000  # values of a column that are inspected to recognise dates and texts
LONG_TEXT = 40  # mean number of characters from which strings are texts
FEW_ROWS = 20  # in shorter columns, values that all differ say nothing
ID_NAME = re.compile(r"(^|[_\W])(id|uuid|guid|key)$|[a-z]I[dD]$", re.IGNORECASE)
DATE = r"^\s*\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}"


class SchemaError(WrongCall):
    """Raised when the columns of a table are not those that a model was fitted to."""


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Parameters
    ----------
    name : str
        The name of the column.
    kind : {"number", "boolean", "category", "date", "text", "id", "constant"}
        What it holds. Texts, identifiers and constants are not used as features.
    why : str, default=""
        Why the column is not used; empty if it is.
    """

    name: str
    kind: str
    why: str = ""

    @property
    def used(self) -> bool:
        """Whether the column is used as a feature."""
        return self.kind in USED


@dataclass(frozen=True)
class Schema:
    """The columns of a table.

    Parameters
    ----------
    columns : tuple of Column
        In the order of the table.
    """

    columns: tuple[Column, ...]

    def named(self, *kinds: str) -> list[str]:
        """Return the names of the columns of some kinds.

        Parameters
        ----------
        *kinds : str
            Kinds of columns; by default all that are used as features.

        Returns
        -------
        list of str
        """
        return [column.name for column in self.columns if column.kind in (kinds or USED)]

    def left_out(self) -> list[Column]:
        """Return the columns that are not used as features.

        Returns
        -------
        list of Column
        """
        return [column for column in self.columns if not column.used]

    def check(self, frame: DataFrame) -> list[str]:
        """Check that a table has the columns that a model was fitted to.

        Parameters
        ----------
        frame : DataFrame
            The table to check.

        Returns
        -------
        list of str
            Names of columns that the schema does not know.

        Raises
        ------
        SchemaError
            If a column is missing, or one of numbers holds something else.
        """
        present = [str(name) for name in frame.columns]
        missing = [name for name in self.named() if name not in present]
        if missing:
            hints = [f"{name!r}{nearest(name, present)}" for name in missing[:3]]
            raise SchemaError(f"columns are missing: {'; '.join(hints)}")
        for column in self.columns:
            if column.kind == "number" and not _is_numeric(frame[column.name]):
                values = frame[column.name].dropna()
                bad = next(value for value in values if not _is_number(value))
                raise SchemaError(
                    f"the column {column.name!r} must hold numbers; got {str(bad)[:40]!r}"
                )
        known = {column.name for column in self.columns}
        return [name for name in present if name not in known]

    def to_list(self) -> list[dict[str, str]]:
        """Return the columns as dictionaries that can be written as JSON.

        Returns
        -------
        list of dict
        """
        return [asdict(column) for column in self.columns]

    @classmethod
    def from_list(cls, content: Iterable[dict[str, str]]) -> Schema:
        """Create a schema from what ``to_list`` returned.

        Parameters
        ----------
        content : iterable of dict
            One dictionary for each column.

        Returns
        -------
        Schema
        """
        return cls(tuple(Column(**column) for column in content))


def describe_columns(frame: DataFrame) -> Schema:
    """Infer the kind of every column of a data frame.

    Numbers, booleans, dates and categories are used as features. Texts (long strings, or strings
    that differ in most rows), identifiers and constants are not, and their ``why`` gives the
    reason.

    Parameters
    ----------
    frame : DataFrame
        The table.

    Returns
    -------
    Schema

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [31, 45, 27], "city": ["Aix", "Bonn", "Aix"]})
    >>> [column.kind for column in describe_columns(frame).columns]
    ['number', 'category']
    """
    return Schema(tuple(_describe(str(name), frame[name]) for name in frame.columns))


def _describe(name: str, values: Series) -> Column:
    types = optional_import("pandas", NEEDS_PANDAS).api.types
    present = values.dropna()
    n_distinct = present.nunique()
    if n_distinct < 2:
        return Column(name, "constant", "one value in all rows" if n_distinct else "no values")
    if types.is_bool_dtype(present):
        return Column(name, "boolean")
    if types.is_datetime64_any_dtype(present):
        return Column(name, "date")
    if _is_numeric(present):
        return _describe_numbers(name, present, n_distinct)
    return _describe_strings(name, present.astype(str), n_distinct)


def _describe_numbers(name: str, values: Series, n_distinct: int) -> Column:
    types = optional_import("pandas", NEEDS_PANDAS).api.types
    whole = types.is_integer_dtype(values) or bool((values % 1 == 0).all())
    all_differ = n_distinct == len(values) and len(values) >= FEW_ROWS
    if all_differ and whole and (ID_NAME.search(name) or _counts_up(values)):
        return Column(name, "id", "a different whole number in every row")
    return Column(name, "number")


def _describe_strings(name: str, text: Series, n_distinct: int) -> Column:
    sample = text.iloc[:: max(1, len(text) // SAMPLE_SIZE)]
    if _are_dates(sample):
        return Column(name, "date")
    share = n_distinct / len(text) if len(text) >= FEW_ROWS else 0.0
    if share > 0.9 and (ID_NAME.search(name) or sample.str.len().nunique() == 1):
        return Column(name, "id", "a different value in nearly every row")
    if sample.str.len().mean() > LONG_TEXT or share > 0.5:
        return Column(name, "text", "long texts, or a different one in most rows")
    return Column(name, "category")


def _is_numeric(values: Series) -> bool:
    return bool(optional_import("pandas", NEEDS_PANDAS).api.types.is_numeric_dtype(values))


def _is_number(value: str | float) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _counts_up(values: Series) -> bool:
    return bool((values.diff().dropna() == 1).all())


def _are_dates(sample: Series) -> bool:
    """Whether nearly all strings are dates: digits separated by dashes, slashes or dots."""
    if sample.str.match(DATE).mean() <= 0.95:
        return False
    pandas = optional_import("pandas", NEEDS_PANDAS)
    parsed = pandas.to_datetime(sample, errors="coerce", format="mixed")
    return bool(parsed.notna().mean() > 0.95)
