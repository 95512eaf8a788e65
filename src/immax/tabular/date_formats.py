"""The ways in which text files write dates: one format for a column, never one for each cell."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from immax.arrays import Array
from immax.errors import WrongCall
from immax.optional import optional_import
from immax.tabular.number_formats import NEEDS_ARROW, AmbiguousFormat

if TYPE_CHECKING:
    from pyarrow import Array as ArrowArray

__all__ = ["ISO", "check_date_format", "date_share", "infer_date_format", "parse_dates"]

ISO = "%Y-%m-%d"
FORMATS = (
    ISO,
    "%Y/%m/%d",
    "%Y.%m.%d",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%d-%m-%Y",
    "%m-%d-%Y",
    "%d.%m.%Y",
    "%d/%m/%y",
    "%m/%d/%y",
    "%d.%m.%y",
    "%d %b %Y",
    "%d-%b-%Y",
    "%b %d, %Y",
    "%b %d %Y",
)
"""The formats that are recognised. A time of day may follow each of them."""

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
PARTS = {
    "%Y": "(?P<Y>[0-9]{4})",
    "%y": "(?P<y>[0-9]{2})",
    "%m": "(?P<m>[0-9]{1,2})",
    "%d": "(?P<d>[0-9]{1,2})",
    "%b": f"(?P<b>(?i:{'|'.join(MONTHS)})[a-z]*)",
    "%B": f"(?P<b>(?i:{'|'.join(MONTHS)})[a-z]*)",
    "%H": "(?P<H>[0-9]{1,2})",
    "%M": "(?P<M>[0-9]{2})",
    "%S": "(?P<S>[0-9]{2})(?P<f>[.][0-9]{1,9})?",
}
TIME = (
    "(?:[T ](?P<H>[0-9]{1,2}):(?P<M>[0-9]{2})(?::(?P<S>[0-9]{2})(?P<f>[.][0-9]{1,9})?)?"
    " ?(?P<z>Z|[+-][0-9]{2}:?[0-9]{2})?)?"
)
LIKE_DATES = r"^\s*[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4}(?:[T ].*)?$"


def check_date_format(form: str) -> None:
    """Raise an error if a format of dates is not understood.

    Parameters
    ----------
    form : str
        As for ``strptime``, with a year (%Y or %y), a month (%m, %b or %B), a day (%d), and
        perhaps %H, %M and %S.

    Raises
    ------
    WrongCall
        If the format has another directive, or lacks the year, the month or the day.

    Examples
    --------
    >>> check_date_format("%d/%m/%Y")
    """
    parts = re.findall("%.?", form)
    unknown = [part for part in parts if part not in PARTS]
    kinds = [{"%y": "%Y", "%b": "%m", "%B": "%m"}.get(part, part) for part in parts]
    if unknown or any(kinds.count(part) != 1 for part in ("%Y", "%m", "%d")):
        raise WrongCall(
            f"a date format must have one year, month and day, such as %d/%m/%Y; got {form!r}"
        )
    if len(set(kinds)) < len(kinds):
        raise WrongCall(f"the date format {form!r} has a directive twice")


def parse_dates(cells: ArrowArray, form: str) -> Array:
    """Read dates of one format; those with a time zone are converted to UTC.

    Parameters
    ----------
    cells : pyarrow.Array of strings
    form : str
        See ``check_date_format``. Unless it has a time of day, one may follow in each cell.

    Returns
    -------
    ndarray of datetime64[us]
        Not a time where a cell is not a date of this format.
    """
    compute = optional_import("pyarrow.compute", NEEDS_ARROW)
    encoded = compute.utf8_trim_whitespace(cells).dictionary_encode()
    dates = _parse_distinct(encoded.dictionary, form)
    codes = encoded.indices.fill_null(len(dates)).to_numpy(zero_copy_only=False)
    return np.append(dates, np.datetime64("NaT", "us"))[codes]


def infer_date_format(cells: ArrowArray) -> str | None:
    """Return the format in which all cells are dates, or None if there is none.

    Parameters
    ----------
    cells : pyarrow.Array of strings
        Distinct cells, without those that are missing.

    Returns
    -------
    str or None

    Raises
    ------
    AmbiguousFormat
        If the day cannot be told from the month.
    """
    compute = optional_import("pyarrow.compute", NEEDS_ARROW)
    cells = compute.utf8_trim_whitespace(cells)
    fitting = [form for form in FORMATS if _all_dates(cells, form)]
    if len(fitting) > 1:
        example = cells[0].as_py()
        choices = " or ".join(f'--date-format "{form}"' for form in fitting)
        raise AmbiguousFormat(
            f"dates such as {example!r} can be read in more than one way: give {choices}"
        )
    return fitting[0] if fitting else None


def date_share(cells: ArrowArray) -> float:
    """Return the share of cells that look like dates: digits with dashes, slashes or dots.

    Parameters
    ----------
    cells : pyarrow.Array of strings

    Returns
    -------
    float
    """
    compute = optional_import("pyarrow.compute", NEEDS_ARROW)
    return float(compute.mean(compute.match_substring_regex(cells, LIKE_DATES)).as_py() or 0.0)


def _all_dates(cells: ArrowArray, form: str) -> bool:
    compute = optional_import("pyarrow.compute", NEEDS_ARROW)
    if not compute.all(compute.match_substring_regex(cells, _pattern(form))).as_py():
        return False
    return not np.isnat(_parse_distinct(cells, form)).any()


def _pattern(form: str) -> str:
    pieces = re.split("(%[a-zA-Z])", form)
    body = "".join(PARTS.get(piece) or re.escape(piece) for piece in pieces)
    return f"^{body}{'' if '%H' in form else TIME}$"


def _parse_distinct(cells: ArrowArray, form: str) -> Array:
    arrow = optional_import("pyarrow", NEEDS_ARROW)
    compute = optional_import("pyarrow.compute", NEEDS_ARROW)
    cells = compute.cast(cells, arrow.string())
    parts = compute.extract_regex(cells, _pattern(form))
    matched = ~np.asarray(parts.is_null())
    names = [field.name for field in parts.type]
    texts = {name: parts.field(name).to_pylist() for name in names}

    def whole(name: str, default: int) -> Array:
        if name not in texts:
            return np.full(len(matched), default)
        return np.array([int(text) if text else default for text in texts[name]], dtype=np.int64)

    year, month, day = whole("Y", 1970), whole("m", 1), whole("d", 1)
    if "y" in texts:
        short = whole("y", 70)
        year = np.where(short < 69, 2000 + short, 1900 + short)
    if "b" in texts:
        month = np.array([_month(text) for text in texts["b"]], dtype=np.int64)
    hour, minute, second = whole("H", 0), whole("M", 0), whole("S", 0)
    valid = matched & (month >= 1) & (month <= 12) & (day >= 1) & (year >= 1)
    valid &= (hour < 24) & (minute < 60) & (second < 60)
    months = (year - 1970) * 12 + np.where(valid, month, 1) - 1
    start = months.astype("datetime64[M]")
    valid &= day <= ((start + 1).astype("datetime64[D]") - start.astype("datetime64[D]")).astype(
        int
    )
    micro = (((day - 1) * 24 + hour) * 60 + minute) * 60 + second
    micro = micro * 1_000_000
    if "f" in texts:
        micro = micro + np.array(
            [round(float(text) * 1e6) if text else 0 for text in texts["f"]], dtype=np.int64
        )
    if "z" in texts:
        micro = micro - np.array([_offset(text) for text in texts["z"]], dtype=np.int64)
    dates = start.astype("datetime64[us]") + micro.astype("timedelta64[us]")
    return np.where(valid, dates, np.datetime64("NaT", "us"))


def _month(text: str | None) -> int:
    return 1 + MONTHS.index(text[:3].lower()) if text else 1


def _offset(text: str | None) -> int:
    """Return a time zone's distance from UTC in microseconds."""
    if not text or text == "Z":
        return 0
    digits = text[1:].replace(":", "")
    minutes = int(digits[:2]) * 60 + int(digits[2:])
    return (-1 if text[0] == "-" else 1) * minutes * 60_000_000
