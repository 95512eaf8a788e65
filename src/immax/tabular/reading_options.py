"""What the caller knows of a table's columns, which cannot be inferred from their cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from immax.errors import WrongCall
from immax.tabular.date_formats import check_date_format
from immax.tabular.number_formats import MARKS

__all__ = ["ReadingOptions"]

CHOICES = ("number", "category", "date", "drop")


@dataclass(frozen=True)
class ReadingOptions:
    """What the caller knows of a table's columns.

    Parameters
    ----------
    date_format : str, optional
        The format of dates in strings, as for ``strptime``.
    decimal : {".", ","}, optional
        The decimal mark of numbers in strings.
    kinds : mapping of str to {"number", "category", "date", "drop"}, default={}
        The kinds of some columns, by name. In a column that is said to hold numbers, other cells
        are missing values.

    Raises
    ------
    WrongCall
        If an option has a value that is not known.

    Examples
    --------
    >>> ReadingOptions(kinds={"zip": "category"}).decimal is None
    True
    """

    date_format: str | None = None
    decimal: str | None = None
    kinds: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.date_format is not None:
            check_date_format(self.date_format)
        if self.decimal is not None and self.decimal not in MARKS:
            raise WrongCall(f"decimal must be '.' or ','; got {self.decimal!r}")
        for name, kind in self.kinds.items():
            if kind not in CHOICES:
                raise WrongCall(
                    f"the kind of {name!r} must be one of {', '.join(CHOICES)}; got {kind!r}"
                )
