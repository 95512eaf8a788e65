"""Tables with a column of labels."""

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
from typing import Any

from immax.datasets.optional import optional_import
from immax.errors import WrongCall
from immax.validation import nearest

__all__ = ["read_chunks", "read_frame", "read_table"]

DELIMITERS = ",;\t|"
TEXT = (".csv", ".tsv", ".txt")
PARQUET = (".parquet", ".pq")
FEATHER = (".feather",)
JSON_LINES = (".jsonl", ".ndjson")
OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
SNIFFED_LINES = 50


def read_table(path: str | Path, target: str) -> tuple[Any, Any]:
    """Features and labels from a file.

    Parameters
    ----------
    path : str or Path
        As in ``read_frame``.
    target : str
        The column of the labels.

    Returns
    -------
    X : DataFrame
        All other columns.
    y : Series
    """
    return _split(Path(path), read_frame(path), target)


def read_frame(path: str | Path) -> Any:
    """A data frame from a file.

    CSV or TSV with a head line (``.csv``, ``.tsv`` or ``.txt``, in UTF-8, delimited by commas,
    semicolons, tabs or bars), JSON lines (``.jsonl`` or ``.ndjson``), either also packed, with
    ``.gz``, ``.bz2`` or ``.xz`` at the end; Parquet (``.parquet`` or ``.pq``) or Feather.
    """
    file, kind, opener = _known(path)
    if kind in PARQUET:
        return _read_arrow(file, "read_parquet", "Parquet")
    if kind in FEATHER:
        return _read_arrow(file, "read_feather", "Feather")
    if kind in JSON_LINES:
        return next(_json_lines(file, opener, None))
    return _read_text(file, opener)


def read_chunks(path: str | Path, rows: int = 50_000) -> Iterator[Any]:
    """The same in data frames of so many rows, for files that are larger than memory."""
    file, kind, opener = _known(path)
    if kind in FEATHER:
        frame = read_frame(path)
        yield from (frame.iloc[i : i + rows] for i in range(0, max(len(frame), 1), rows))
    elif kind in PARQUET:
        yield from _parquet_chunks(file, rows)
    elif kind in JSON_LINES:
        yield from _json_lines(file, opener, rows)
    else:
        yield from _text_chunks(file, opener, rows)


def _known(path: str | Path) -> tuple[Path, str, Callable[..., Any]]:
    """The file, what kind it is, and how to open it."""
    file = Path(path)
    *inner, last = ["", *(suffix.lower() for suffix in file.suffixes)]
    if not file.is_file():
        raise FileNotFoundError(f"there is no file {file}")
    if file.stat().st_size == 0:
        raise ValueError(f"{file} is empty")
    packable = (*TEXT, *JSON_LINES)
    if last in (*packable, *PARQUET, *FEATHER):
        return file, last, open
    if last in OPENERS and inner[-1] in packable:
        return file, inner[-1], OPENERS[last]
    raise ValueError(
        f"{file} must end in {', '.join((*packable, *PARQUET, *FEATHER))}, or in one of the first "
        f"five and {', '.join(OPENERS)}"
    )


def _parquet_chunks(file: Path, rows: int) -> Iterator[Any]:
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


def _json_lines(file: Path, opener: Callable[..., Any], rows: int | None) -> Iterator[Any]:
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


def _text_chunks(file: Path, opener: Callable[..., Any], rows: int) -> Iterator[Any]:
    pandas = optional_import("pandas", "reading tables needs pandas: pip install immax[bench]")
    with _explained(file, pandas):
        separator = _delimiter(_first_lines(file, opener))
        yield from pandas.read_csv(
            file, sep=separator, encoding="utf-8-sig", index_col=False, chunksize=rows
        )


def _read_arrow(file: Path, reader: str, kind: str) -> Any:
    message = f"reading {kind} needs pandas and pyarrow: pip install immax[bench]"
    pandas = optional_import("pandas", message)
    arrow = optional_import("pyarrow", message)
    try:
        return getattr(pandas, reader)(file)
    except (arrow.ArrowException, OSError, ValueError) as error:
        raise ValueError(f"{file} cannot be read as {kind}: {error}") from error


def _first_lines(file: Path, opener: Callable[..., Any]) -> list[str]:
    with opener(file, "rt", encoding="utf-8-sig", newline="") as stream:
        lines = list(islice(stream, SNIFFED_LINES))
    if not "".join(lines).strip():
        raise ValueError(f"{file} is empty")
    return lines


@contextmanager
def _explained(file: Path, pandas: Any) -> Iterator[None]:
    try:
        with warnings.catch_warnings():
            # Else the cells that are too many in every row would be dropped.
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


def _read_text(file: Path, opener: Callable[..., Any]) -> Any:
    pandas = optional_import("pandas", "reading tables needs pandas: pip install immax[bench]")
    with _explained(file, pandas):
        separator = _delimiter(_first_lines(file, opener))
        return pandas.read_csv(file, sep=separator, encoding="utf-8-sig", index_col=False)


def _delimiter(lines: list[str]) -> str:
    """The one that cuts most rows into as many cells as the head, and into the most of them."""

    def merit(delimiter: str) -> tuple[float, int]:
        head, *rows = [len(row) for row in csv.reader(lines, delimiter=delimiter) if row]
        agree = sum(width == head for width in rows) if head > 1 else -1
        return agree, head

    return max(DELIMITERS, key=merit)


def _split(file: Path, table: Any, target: str) -> tuple[Any, Any]:
    if target not in table.columns:
        columns = [str(column) for column in table.columns]
        raise WrongCall(f"{file} has no column {target!r}{nearest(str(target), columns)}")
    if not len(table):
        raise ValueError(f"{file} has no rows, only the names of its columns")
    if table.shape[1] < 2:
        raise ValueError(f"{file} has no columns but {target!r}")
    missing = int(table[target].isna().sum())
    if missing:
        raise ValueError(f"the column {target!r} of {file} has {missing} missing labels")
    return table.drop(columns=target), table[target]
