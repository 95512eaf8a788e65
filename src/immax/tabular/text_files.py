"""CSV files and their relatives as tables of strings."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING

from immax.optional import optional_import
from immax.tabular.number_formats import NEEDS_ARROW
from immax.tabular.table_file import Opener, Parts, TableFile, batch_cells, unique_names

if TYPE_CHECKING:
    from pyarrow import RecordBatch

__all__ = ["open_text"]

DELIMITERS = ",;\t|"
SNIFFED_LINES = 50  # from which the delimiter is inferred
BLOCK = 8 * 2**20  # bytes that are parsed at a time


def open_text(file: Path, opener: Opener, expected: set[str]) -> TableFile:
    """Open a text file with a header line and one row on each line; every cell is a string.

    Parameters
    ----------
    file : Path
    opener : callable
        Opens the file, and perhaps decompresses it.
    expected : set of str
        Names that should be in the header, which tell the delimiter. Otherwise it is the one by
        which most rows have as many cells as the header.

    Returns
    -------
    TableFile

    Raises
    ------
    ValueError
        If the file is empty.
    """
    with opener(file, "rt", encoding="utf-8-sig", newline="") as stream:
        lines = list(islice(stream, SNIFFED_LINES))
    text = "".join(lines)
    if not text.strip("\ufeff \t\r\n\0"):
        raise ValueError(f"{file} is empty")
    blank = next(i for i, line in enumerate(lines) if line.strip("\r\n"))
    delimiter = _delimiter(lines[blank:], expected)
    header = next(csv.reader(lines[blank:], delimiter=delimiter))
    records = sum(1 for row in csv.reader(lines[blank:], delimiter=delimiter) if row)
    names, repeated = unique_names(header)

    def read(rows: int) -> Parts:
        if records < 2 and len(lines) < SNIFFED_LINES:
            return  # a header alone
        with opener(file, "rb") as stream:
            for batch in _text_batches(stream, len(names), delimiter, blank):
                for start in range(0, batch.num_rows, rows):
                    yield batch_cells(batch.slice(start, rows), names)

    return TableFile(file, "a table", names, repeated, False, read)


def _text_batches(
    stream: IO[bytes], width: int, delimiter: str, blank: int
) -> Iterator[RecordBatch]:
    arrow = optional_import("pyarrow", NEEDS_ARROW)
    reader = optional_import("pyarrow.csv", NEEDS_ARROW)
    places = [str(place) for place in range(width)]
    with reader.open_csv(
        stream,
        read_options=reader.ReadOptions(
            column_names=places, skip_rows=blank, skip_rows_after_names=1, block_size=BLOCK
        ),
        parse_options=reader.ParseOptions(delimiter=delimiter, newlines_in_values=True),
        convert_options=reader.ConvertOptions(
            column_types=dict.fromkeys(places, arrow.string()), strings_can_be_null=False
        ),
    ) as batches:
        yield from batches


def _delimiter(lines: list[str], expected: set[str]) -> str:
    """Return the delimiter by which the header has the expected names, or else most rows agree."""

    def merit(delimiter: str) -> tuple[int, int, int]:
        rows = [row for row in csv.reader(lines, delimiter=delimiter) if row]
        header = len(rows[0])
        agree = sum(len(row) == header for row in rows[1:]) if header > 1 else -1
        return len(expected & set(rows[0])), agree, header

    return max(DELIMITERS, key=merit)
