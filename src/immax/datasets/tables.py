"""Tables from files: CSV, JSON lines, Parquet and Feather."""

from __future__ import annotations

import bz2
import csv
import gzip
import json
import lzma
import warnings
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import IO, TYPE_CHECKING

from immax.datasets.optional import optional_import
from immax.errors import WrongCall
from immax.validation import nearest

if TYPE_CHECKING:
    from pandas import DataFrame, Series

__all__ = ["read_chunks", "read_frame", "read_table"]

DELIMITERS = ",;\t|"
TEXT = (".csv", ".tsv", ".txt")
PARQUET = (".parquet", ".pq")
FEATHER = (".feather",)
JSON_LINES = (".jsonl", ".ndjson")
Opener = Callable[..., IO[str]]
OPENERS: dict[str, Opener] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
SNIFFED_LINES = 50  # from which the delimiter is inferred


def read_table(path: str | Path, target: str) -> tuple[DataFrame, Series]:
    """Read features and labels from a file.

    Parameters
    ----------
    path : str or Path
        A file of one of the formats of ``read_frame``.
    target : str
        The column of the labels.

    Returns
    -------
    X : DataFrame
        All other columns.
    y : Series
        The labels.

    Raises
    ------
    FileNotFoundError
        If the file does not exist.
    ValueError
        If it cannot be read, lacks the target, or has rows without a label.
    """
    return _split(Path(path), read_frame(path), target)


def read_frame(path: str | Path) -> DataFrame:
    """Read a data frame from a file.

    Parameters
    ----------
    path : str or Path
        CSV with a header line (``.csv``, ``.tsv`` or ``.txt``, in UTF-8, delimited by commas,
        semicolons, tabs or bars) or JSON lines (``.jsonl`` or ``.ndjson``), both also compressed
        (with a further ``.gz``, ``.bz2`` or ``.xz``); Parquet (``.parquet`` or ``.pq``) or
        Feather (``.feather``).

    Returns
    -------
    DataFrame

    Raises
    ------
    FileNotFoundError
        If the file does not exist.
    ValueError
        If it cannot be read.
    """
    file, kind, opener = _recognise(path)
    if kind in PARQUET:
        return _read_arrow(file, "read_parquet", "Parquet")
    if kind in FEATHER:
        return _read_arrow(file, "read_feather", "Feather")
    if kind in JSON_LINES:
        return next(_json_lines(file, opener, None))
    return _read_text(file, opener)


def read_chunks(path: str | Path, rows: int = 50_000) -> Iterator[DataFrame]:
    """Read a file in data frames of limited size, for files that are larger than memory.

    Parameters
    ----------
    path : str or Path
        A file of one of the formats of ``read_frame``.
    rows : int, default=50_000
        Largest number of rows of a data frame.

    Yields
    ------
    DataFrame

    Raises
    ------
    FileNotFoundError
        If the file does not exist.
    ValueError
        If it cannot be read.
    """
    file, kind, opener = _recognise(path)
    if kind in FEATHER:
        frame = read_frame(path)
        yield from (frame.iloc[i : i + rows] for i in range(0, max(len(frame), 1), rows))
    elif kind in PARQUET:
        yield from _parquet_chunks(file, rows)
    elif kind in JSON_LINES:
        yield from _json_lines(file, opener, rows)
    else:
        yield from _text_chunks(file, opener, rows)


def _recognise(path: str | Path) -> tuple[Path, str, Opener]:
    """Return the file, the suffix that tells its format, and the function that opens it."""
    file = Path(path)
    *inner, last = ["", *(suffix.lower() for suffix in file.suffixes)]
    if not file.is_file():
        raise FileNotFoundError(f"there is no file {file}")
    if file.stat().st_size == 0:
        raise ValueError(f"{file} is empty")
    compressible = (*TEXT, *JSON_LINES)
    if last in (*compressible, *PARQUET, *FEATHER):
        return file, last, open
    if last in OPENERS and inner[-1] in compressible:
        return file, inner[-1], OPENERS[last]
    raise ValueError(
        f"{file} must end in {', '.join((*compressible, *PARQUET, *FEATHER))}, or in one of the "
        f"first five followed by {', '.join(OPENERS)}"
    )


def _parquet_chunks(file: Path, rows: int) -> Iterator[DataFrame]:
    message = "reading Parquet needs pandas and pyarrow: pip install immax[bench]"
    optional_import("pandas", message)
    arrow = optional_import("pyarrow", message)
    parquet = optional_import("pyarrow.parquet", message)
    try:
        with parquet.ParquetFile(file) as source:
            for batch in source.iter_batches(batch_size=rows):
                yield batch.to_pandas()
    except (arrow.ArrowInvalid, OSError) as error:
        raise ValueError(f"{file} cannot be read as Parquet: {error}") from error


def _json_lines(file: Path, opener: Opener, rows: int | None) -> Iterator[DataFrame]:
    pandas = optional_import("pandas", "reading tables needs pandas: pip install immax[bench]")
    try:
        with opener(file, "rt", encoding="utf-8-sig") as stream:
            lines = (line for line in stream if line.strip())
            while True:
                records = [json.loads(line) for line in islice(lines, rows)]
                if records and not all(isinstance(record, dict) for record in records):
                    raise ValueError("every line must be an object")
                if records or rows is None:
                    yield pandas.DataFrame(records)
                if rows is None or len(records) < rows:
                    return
    except (ValueError, EOFError, OSError, lzma.LZMAError, zlib.error) as error:
        raise ValueError(f"{file} cannot be read as JSON lines: {error}") from error


def _text_chunks(file: Path, opener: Opener, rows: int) -> Iterator[DataFrame]:
    pandas = optional_import("pandas", "reading tables needs pandas: pip install immax[bench]")
    with _readable_errors(file, pandas):
        separator = _delimiter(_first_lines(file, opener))
        yield from pandas.read_csv(
            file, sep=separator, encoding="utf-8-sig", index_col=False, chunksize=rows
        )


def _read_arrow(file: Path, reader: str, kind: str) -> DataFrame:
    message = f"reading {kind} needs pandas and pyarrow: pip install immax[bench]"
    pandas = optional_import("pandas", message)
    arrow = optional_import("pyarrow", message)
    try:
        return getattr(pandas, reader)(file)
    except (arrow.ArrowException, OSError, ValueError) as error:
        raise ValueError(f"{file} cannot be read as {kind}: {error}") from error


def _first_lines(file: Path, opener: Opener) -> list[str]:
    with opener(file, "rt", encoding="utf-8-sig", newline="") as stream:
        lines = list(islice(stream, SNIFFED_LINES))
    if not "".join(lines).strip():
        raise ValueError(f"{file} is empty")
    return lines


@contextmanager
def _readable_errors(file: Path, pandas: ModuleType) -> Iterator[None]:
    """Turn the errors of pandas and of decompression into ones that name the file."""
    try:
        with warnings.catch_warnings():
            # Otherwise pandas drops the surplus cells of rows that are all too long.
            warnings.simplefilter("error", pandas.errors.ParserWarning)
            yield
    except UnicodeDecodeError as error:
        raise ValueError(f"{file} must be text in UTF-8: {error}") from error
    except (
        pandas.errors.ParserError,
        pandas.errors.ParserWarning,
        csv.Error,
        EOFError,
        OSError,
        lzma.LZMAError,
        zlib.error,
    ) as error:
        raise ValueError(f"{file} cannot be read as a table: {error}") from error


def _read_text(file: Path, opener: Opener) -> DataFrame:
    pandas = optional_import("pandas", "reading tables needs pandas: pip install immax[bench]")
    with _readable_errors(file, pandas):
        separator = _delimiter(_first_lines(file, opener))
        return pandas.read_csv(file, sep=separator, encoding="utf-8-sig", index_col=False)


def _delimiter(lines: list[str]) -> str:
    """Return the delimiter by which most rows have as many cells as the header."""

    def merit(delimiter: str) -> tuple[float, int]:
        header, *rows = [len(row) for row in csv.reader(lines, delimiter=delimiter) if row]
        agree = sum(width == header for width in rows) if header > 1 else -1
        return agree, header

    return max(DELIMITERS, key=merit)


def _split(file: Path, table: DataFrame, target: str) -> tuple[DataFrame, Series]:
    if target not in table.columns:
        columns = [str(column) for column in table.columns]
        raise WrongCall(f"{file} has no column {target!r}{nearest(str(target), columns)}")
    if not len(table):
        raise ValueError(f"{file} has no rows, only a header")
    if table.shape[1] < 2:
        raise ValueError(f"{file} has no columns other than {target!r}")
    missing = int(table[target].isna().sum())
    if missing:
        raise ValueError(f"the column {target!r} of {file} has {missing} missing labels")
    return table.drop(columns=target), table[target]
