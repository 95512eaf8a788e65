"""The ways in which text files write numbers: decimal marks, thousands separators, signs."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from immax.errors import WrongCall
from immax.optional import optional_import

if TYPE_CHECKING:
    from pyarrow import Array as ArrowArray

__all__ = ["AmbiguousFormat", "NumberFormat", "infer_number_format", "number_share"]

NEEDS_ARROW = 'tables need pandas and pyarrow: pip install "immax[cli]"'
PERCENT = "%"
CURRENCY = r"(?:[$€£¥₹₽₩₺₪₴₦฿₫]|USD|EUR|GBP|CHF|JPY|CNY|INR|CAD|AUD)"
EXPONENT = r"(?:[eE][+-]?[0-9]+)?"
INFINITE = r"^[+-]?(?i:inf|infinity)$"
LEADING_ZERO = r"^[+-]?0[0-9]"
MARKS = (".", ",")  # decimal marks
SEPARATORS = ("", ",", ".", "'", " ")  # of thousands, the simplest first


class AmbiguousFormat(WrongCall):
    """Raised when the cells of a column can be read in more than one way."""


@dataclass(frozen=True)
class NumberFormat:
    """How the numbers of a column are written.

    Parameters
    ----------
    decimal : {".", ","}, default="."
        The decimal mark.
    thousands : {"", ",", ".", "'", " "}, default=""
        The separator of thousands; a space stands for any space, and the apostrophe for both.
    sign : str, default=""
        A currency sign, which cells may have, or ``"%"``, which all cells must have and which
        divides by a hundred.

    Examples
    --------
    >>> NumberFormat(",", ".", "€").describe()
    "decimal comma, thousands separated by '.', sign '€'"
    """

    decimal: str = "."
    thousands: str = ""
    sign: str = ""

    @property
    def is_plain(self) -> bool:
        """Whether numbers are written as in programs."""
        return self == NumberFormat()

    def describe(self) -> str:
        """Return the format in words.

        Returns
        -------
        str
        """
        parts = ["decimal comma"] if self.decimal == "," else []
        if self.thousands:
            parts.append(f"thousands separated by {self.thousands!r}")
        if self.sign:
            parts.append(f"sign {self.sign!r}")
        return ", ".join(parts) or "plain numbers"

    def to_dict(self) -> dict[str, str]:
        """Return the format as JSON holds it.

        Returns
        -------
        dict of str to str
        """
        return asdict(self)

    @classmethod
    def from_dict(cls, content: dict[str, str]) -> NumberFormat:
        """Create a format from what ``to_dict`` returned.

        Parameters
        ----------
        content : dict of str to str

        Returns
        -------
        NumberFormat

        Raises
        ------
        ValueError
            If it is not one of a format.
        """
        number_format = cls(**content)
        signs = f"({CURRENCY}|{PERCENT})?"
        if (
            number_format.decimal not in MARKS
            or number_format.thousands not in SEPARATORS
            or number_format.decimal == number_format.thousands
            or re.fullmatch(signs, number_format.sign) is None
        ):
            raise ValueError(f"not a number format: {content!r}")
        return number_format

    def _pattern(self) -> str:
        mark = re.escape(self.decimal)
        whole = "[0-9]+"
        if self.thousands:
            whole = f"(?:[1-9][0-9]{{0,2}}(?:{re.escape(self.thousands)}[0-9]{{3}})+|[0-9]+)"
        return f"^[+-]?(?:{whole}(?:{mark}[0-9]*)?|{mark}[0-9]+){EXPONENT}$"

    def parse(self, cells: ArrowArray) -> ArrowArray:
        """Read numbers.

        Parameters
        ----------
        cells : pyarrow.Array of strings

        Returns
        -------
        pyarrow.Array of float64
            Null where a cell is not a number of this format.
        """
        arrow = optional_import("pyarrow", NEEDS_ARROW)
        compute = optional_import("pyarrow.compute", NEEDS_ARROW)
        bodies = compute.utf8_trim_whitespace(cells)
        has_sign = compute.match_substring_regex(bodies, "%$")
        if not self.is_plain:
            bodies = _bodies(bodies, self.sign)
        valid = compute.or_(
            compute.match_substring_regex(bodies, self._pattern()),
            compute.match_substring_regex(bodies, INFINITE),
        )
        if self.sign == PERCENT:
            valid = compute.and_(valid, has_sign)
        bodies = compute.if_else(valid, bodies, None)
        if self.thousands:
            bodies = compute.replace_substring(bodies, self.thousands, "")
        if self.decimal == ",":
            bodies = compute.replace_substring(bodies, ",", ".")
        numbers = compute.cast(bodies, arrow.float64())
        return compute.divide(numbers, 100.0) if self.sign == PERCENT else numbers


def infer_number_format(cells: ArrowArray, decimal: str | None = None) -> NumberFormat | None:
    """Return the format in which all cells are numbers, or None if there is none.

    Parameters
    ----------
    cells : pyarrow.Array of strings
        Distinct cells, without those that are missing.
    decimal : {".", ","}, optional
        The decimal mark, if it is known.

    Returns
    -------
    NumberFormat or None
        None also for codes, which are digits after a leading zero.

    Raises
    ------
    AmbiguousFormat
        If a comma may be a decimal mark or a separator of thousands.
    """
    compute = optional_import("pyarrow.compute", NEEDS_ARROW)
    cells = compute.utf8_trim_whitespace(cells)
    plain = _all_numbers(cells, NumberFormat())
    if plain and compute.any(compute.match_substring_regex(cells, LEADING_ZERO)).as_py():
        return None
    if plain and decimal != ",":
        return NumberFormat()
    signs = _signs(cells)
    if len(signs) > 1:
        return None
    sign = next(iter(signs), "")
    formats = [
        form
        for thousands in SEPARATORS
        for mark in ((decimal,) if decimal else MARKS)
        if mark != thousands and _all_numbers(cells, form := NumberFormat(mark, thousands, sign))
    ]
    if not formats:
        return None
    if formats[0].decimal == "," and NumberFormat(".", ",", sign) in formats:
        example = cells[0].as_py()
        raise AmbiguousFormat(
            f"cells such as {example!r} may have a decimal comma or separate thousands: give the "
            'decimal mark (--decimal "," or --decimal ".")'
        )
    return formats[0]


def number_share(cells: ArrowArray) -> float:
    """Return the share of cells that are numbers in some format.

    Parameters
    ----------
    cells : pyarrow.Array of strings

    Returns
    -------
    float
    """
    compute = optional_import("pyarrow.compute", NEEDS_ARROW)
    bodies = compute.utf8_trim_whitespace(cells)
    for sign in ("", *_signs(bodies)):
        bodies = _bodies(bodies, sign)
    matches = compute.match_substring_regex(bodies, r"^[+-]?[.,]?[0-9][0-9.,' ]*" + EXPONENT + "$")
    return float(compute.mean(matches).as_py() or 0.0)


def _all_numbers(cells: ArrowArray, form: NumberFormat) -> bool:
    return bool(form.parse(cells).null_count == cells.null_count)


def _signs(cells: ArrowArray) -> set[str]:
    """Return the signs at either end of the cells."""
    compute = optional_import("pyarrow.compute", NEEDS_ARROW)
    signs: set[str] = set()
    for pattern in (rf"^[(]?[+-]?\s*(?P<sign>{CURRENCY})", rf"(?P<sign>{CURRENCY}|{PERCENT})[)]?$"):
        parts = compute.extract_regex(cells, pattern).drop_null()
        signs |= set(parts.field("sign").unique().to_pylist())
    return signs


def _bodies(cells: ArrowArray, sign: str) -> ArrowArray:
    """Return the cells without sign, with one kind of space and of apostrophe."""
    compute = optional_import("pyarrow.compute", NEEDS_ARROW)
    cells = compute.replace_substring_regex(cells, r"^\((.*)\)$", r"-\1")
    if sign:
        own = re.escape(sign)
        cells = compute.replace_substring_regex(cells, rf"^([+-]?)\s*{own}\s*", r"\1")
        cells = compute.replace_substring_regex(cells, rf"\s*{own}$", "")
    cells = compute.replace_substring_regex(cells, "[\u00a0\u2009\u202f]", " ")
    return compute.replace_substring_regex(cells, "[’`]", "'")
