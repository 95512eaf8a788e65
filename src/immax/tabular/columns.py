"""The columns of a table: what each holds, and how its cells are read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from immax.errors import WrongCall
from immax.tabular.date_formats import check_date_format
from immax.tabular.number_formats import NumberFormat
from immax.validation import nearest

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["Column", "Schema", "SchemaError"]

USED = ("number", "boolean", "category", "date")
KINDS = (*USED, "text", "id", "constant", "unsupported", "dropped")
MIXED_DATES = "mixed"  # of models of earlier versions: a format for each cell
MISSING_WORDS = (
    "",
    "#N/A",
    "#N/A N/A",
    "#NA",
    "-1.#IND",
    "-1.#QNAN",
    "-NaN",
    "-nan",
    "1.#IND",
    "1.#QNAN",
    "<NA>",
    "N/A",
    "NA",
    "NULL",
    "NaN",
    "None",
    "n/a",
    "nan",
    "null",
)
"""What stands for a missing value in columns of numbers, dates and booleans."""


class SchemaError(WrongCall):
    """Raised when a column cannot be read, or is not what a model was fitted to."""


@dataclass(frozen=True)
class Column:
    """A column of a table, and how its cells are read.

    Parameters
    ----------
    name : str
        The name of the column.
    kind : {"number", "boolean", "category", "date", "text", "id", "constant", "unsupported", \
"dropped"}
        What it holds. The first four are used as features.
    why : str, default=""
        Why the column is not used; empty if it is.
    number_format : NumberFormat, default=NumberFormat()
        How strings are read as numbers.
    date_format : str, default="mixed"
        How strings are read as dates, as for ``strptime``; "mixed" for models of versions that
        recognised the format of each cell.
    words : tuple of two str, default=("true", "false")
        What stands for true and for false, in lower case.
    missing : tuple of str
        The strings that stand for a missing value.
    categories : tuple of str, default=()
        The categories, as they are written; empty if they are not known.

    Examples
    --------
    >>> Column("age", "number").used
    True
    """

    name: str
    kind: str
    why: str = ""
    number_format: NumberFormat = field(default_factory=NumberFormat)
    date_format: str = MIXED_DATES
    words: tuple[str, str] = ("true", "false")
    missing: tuple[str, ...] = MISSING_WORDS
    categories: tuple[str, ...] = ()

    @property
    def used(self) -> bool:
        """Whether the column is used as a feature."""
        return self.kind in USED

    def to_dict(self) -> dict[str, Any]:
        """Return the column as JSON holds it.

        Returns
        -------
        dict
            Without what has no meaning for the column's kind.
        """
        content: dict[str, Any] = {"name": self.name, "kind": self.kind, "why": self.why}
        content["missing"] = list(self.missing)
        if self.kind == "number":
            content["number_format"] = self.number_format.to_dict()
        elif self.kind == "date":
            content["date_format"] = self.date_format
        elif self.kind == "boolean":
            content["words"] = list(self.words)
        elif self.kind == "category":
            content["categories"] = list(self.categories)
        return content

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Column:
        """Create a column from what ``to_dict`` returned.

        Parameters
        ----------
        content : mapping
            Files of earlier versions have no more than "name", "kind" and "why".

        Returns
        -------
        Column

        Raises
        ------
        ValueError
            If it is not the description of a column.
        """
        given = dict(content)
        form = given.pop("number_format", {})
        tuples = {
            key: tuple(map(str, given.pop(key)))
            for key in ("words", "missing", "categories")
            if key in given
        }
        column = cls(**given, **tuples, number_format=NumberFormat.from_dict(form))  # type: ignore[arg-type]
        if column.kind not in KINDS or len(column.words) != 2:
            raise ValueError(f"not the description of a column: {dict(content)!r}")
        if column.date_format != MIXED_DATES:
            check_date_format(column.date_format)
        return column


@dataclass(frozen=True)
class Schema:
    """The columns of a table.

    Parameters
    ----------
    columns : tuple of Column
        In the order of the table.
    labels : Column, optional
        The column of the labels, which is not among them.
    """

    columns: tuple[Column, ...]
    labels: Column | None = None

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

    def used(self) -> list[Column]:
        """Return the columns that are used as features.

        Returns
        -------
        list of Column
        """
        return [column for column in self.columns if column.used]

    def left_out(self) -> list[Column]:
        """Return the columns that are not used as features.

        Returns
        -------
        list of Column
        """
        return [column for column in self.columns if not column.used]

    def check_names(self, present: Iterable[str]) -> list[str]:
        """Check that a table has the columns that a model was fitted to.

        Parameters
        ----------
        present : iterable of str
            The names of the columns of the table.

        Returns
        -------
        list of str
            Names that the schema does not know.

        Raises
        ------
        SchemaError
            If a column is missing.
        """
        names = list(present)
        there = set(names)
        missing = [name for name in self.named() if name not in there]
        if missing:
            hints = [f"{name!r}{nearest(name, names)}" for name in missing[:3]]
            raise SchemaError(f"columns are missing: {'; '.join(hints)}")
        known = {column.name for column in self.columns}
        return [name for name in names if name not in known]

    def check(self, frame: DataFrame) -> list[str]:
        """Check that a table has the columns that a model was fitted to, and can be read.

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
            If a column is missing, or one of numbers, dates or booleans holds something else.
        """
        from immax.tabular.conversion import convert_frame

        unknown = self.check_names(map(str, frame.columns))
        convert_frame(frame, self.used())
        return unknown

    def to_list(self) -> list[dict[str, Any]]:
        """Return the columns as dictionaries that can be written as JSON.

        Returns
        -------
        list of dict
        """
        return [column.to_dict() for column in self.columns]

    @classmethod
    def from_list(cls, content: Iterable[Mapping[str, Any]]) -> Schema:
        """Create a schema from what ``to_list`` returned.

        Parameters
        ----------
        content : iterable of dict
            One dictionary for each column.

        Returns
        -------
        Schema
        """
        return cls(tuple(Column.from_dict(column) for column in content))
