"""What the columns of a table are, found by looking at them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from immax.datasets.optional import optional_import
from immax.errors import WrongCall
from immax.validation import nearest

__all__ = ["Column", "Schema", "SchemaError", "describe_columns"]

USED = ("number", "boolean", "category", "date")
LOOK_AT = 1000  # values of a column, to tell dates and texts
LONG = 40  # characters of a text, on average
ID_NAME = re.compile(r"(^|[_\W])(id|uuid|guid|key)$|[a-z]I[dD]$", re.IGNORECASE)


class SchemaError(WrongCall):
    """A table that is not what a model was fitted to, and how."""


@dataclass(frozen=True)
class Column:
    """A column's name, its kind, and why it is left out if it is."""

    name: str
    kind: str  # number, boolean, category, date; or text, id, constant
    why: str = ""

    @property
    def used(self) -> bool:
        return self.kind in USED


@dataclass(frozen=True)
class Schema:
    """The columns of a table, in order."""

    columns: tuple[Column, ...]

    def named(self, *kinds: str) -> list[str]:
        """Columns of these kinds; all that are used if none is given."""
        return [column.name for column in self.columns if column.kind in (kinds or USED)]

    def left_out(self) -> list[Column]:
        return [column for column in self.columns if not column.used]

    def check(self, frame: Any) -> list[str]:
        """Refuse a table that lacks a column or has one of another type; what it has besides."""
        present = [str(name) for name in frame.columns]
        missing = [name for name in self.named() if name not in present]
        if missing:
            hints = [f"{name!r}{nearest(name, present)}" for name in missing[:3]]
            raise SchemaError(f"columns are missing: {'; '.join(hints)}")
        for column in self.columns:
            if column.kind == "number" and not _numeric(frame[column.name]):
                values = frame[column.name].dropna()
                bad = next(value for value in values if not _is_number(value))
                raise SchemaError(
                    f"the column {column.name!r} must hold numbers; got {str(bad)[:40]!r}"
                )
        known = {column.name for column in self.columns}
        return [name for name in present if name not in known]

    def to_list(self) -> list[dict[str, str]]:
        """For JSON."""
        return [asdict(column) for column in self.columns]

    @classmethod
    def from_list(cls, content: Iterable[dict[str, str]]) -> Schema:
        return cls(tuple(Column(**column) for column in content))


def describe_columns(frame: Any) -> Schema:
    """The kind of every column of a data frame.

    Numbers, booleans, dates and categories are used; texts (long, or different in most rows),
    identifiers and constants are not, and say why.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [31, 45, 27], "city": ["Aix", "Bonn", "Aix"]})
    >>> [column.kind for column in describe_columns(frame).columns]
    ['number', 'category']
    """
    return Schema(tuple(_describe(str(name), frame[name]) for name in frame.columns))


def _describe(name: str, values: Any) -> Column:
    pandas = optional_import("pandas", "tables need pandas: pip install immax[bench]")
    types = pandas.api.types
    present = values.dropna()
    distinct = present.nunique()
    if distinct < 2:
        return Column(name, "constant", "one value in all rows" if distinct else "no values")
    if types.is_bool_dtype(present):
        return Column(name, "boolean")
    if types.is_datetime64_any_dtype(present):
        return Column(name, "date")
    if _numeric(present):
        whole = types.is_integer_dtype(present) or bool((present % 1 == 0).all())
        unique = distinct == len(present) and len(present) >= 20 and whole
        if unique and (ID_NAME.search(name) or _counts_up(present)):
            return Column(name, "id", "a different whole number in every row")
        return Column(name, "number")
    text = present.astype(str)
    sample = text.iloc[:: max(1, len(text) // LOOK_AT)]
    if _dates(pandas, sample):
        return Column(name, "date")
    share = distinct / len(text)
    if (
        len(text) >= 20
        and share > 0.9
        and (ID_NAME.search(name) or sample.str.len().nunique() == 1)
    ):
        return Column(name, "id", "a different value in nearly every row")
    if sample.str.len().mean() > LONG or (len(text) >= 20 and share > 0.5):
        return Column(name, "text", "texts, or nearly all values different")
    return Column(name, "category")


def _numeric(values: Any) -> bool:
    pandas = optional_import("pandas", "tables need pandas: pip install immax[bench]")
    return bool(pandas.api.types.is_numeric_dtype(values))


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _counts_up(values: Any) -> bool:
    step = values.diff().dropna()
    return bool((step == 1).all())


def _dates(pandas: Any, sample: Any) -> bool:
    """Whether nearly all look like dates: digits with dashes, slashes or dots."""
    shaped = sample.str.match(r"^\s*\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}").mean() > 0.95
    if not shaped:
        return False
    parsed = pandas.to_datetime(sample, errors="coerce", format="mixed")
    return bool(parsed.notna().mean() > 0.95)
