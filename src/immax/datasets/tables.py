"""Tables with a column of labels."""

from __future__ import annotations

import bz2
import csv
import gzip
import lzma
import warnings
import zlib
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

from immax.datasets.optional import optional_import
from immax.validation import nearest

__all__ = ["read_table"]

DELIMITERS = ",;\t|"
TEXT = (".csv", ".tsv", ".txt")
PARQUET = (".parquet", ".pq")
OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
SNIFFED_LINES = 50


def read_table(path: str | Path, target: str) -> tuple[Any, Any]:
    """Features and labels from a file.

    Parameters
    ----------
    path : str or Path
        CSV or TSV with a head line (``.csv``, ``.tsv`` or ``.txt``, in UTF-8, delimited by commas,
        semicolons, tabs or bars; also packed, with ``.gz``, ``.bz2`` or ``.xz`` at the end), or
        Parquet (``.parquet`` or ``.pq``).
    target : str
        The column of the labels.

    Returns
    -------
    X : DataFrame
        All other columns.
    y : Series
    """
    file = Path(path)
    *inner, last = ["", *(suffix.lower() for suffix in file.suffixes)]
    if not file.is_file():
        raise FileNotFoundError(f"there is no file {file}")
    if file.stat().st_size == 0:
        raise ValueError(f"{file} is empty")
    if last in PARQUET:
        table = _read_parquet(file)
    elif last in TEXT or (last in OPENERS and inner[-1] in TEXT):
        table = _read_text(file, OPENERS.get(last, open))
    else:
        raise ValueError(
            f"{file} must end in {', '.join((*TEXT, *PARQUET))}, or in one of the first three and "
            f"{', '.join(OPENERS)}"
        )
    return _split(file, table, target)


def _read_parquet(file: Path) -> Any:
    message = "reading Parquet needs pandas and pyarrow: pip install immax[bench]"
    pandas = optional_import("pandas", message)
    arrow = optional_import("pyarrow", message)
    try:
        return pandas.read_parquet(file, engine="pyarrow")
    except arrow.ArrowInvalid as error:
        raise ValueError(f"{file} cannot be read as Parquet: {error}") from error


def _read_text(file: Path, opener: Callable[..., Any]) -> Any:
    pandas = optional_import("pandas", "reading tables needs pandas: pip install immax[bench]")
    try:
        with opener(file, "rt", encoding="utf-8-sig", newline="") as stream:
            lines = list(islice(stream, SNIFFED_LINES))
        if not "".join(lines).strip():
            raise ValueError(f"{file} is empty")
        with warnings.catch_warnings():
            # Else the cells that are too many in every row would be dropped.
            warnings.simplefilter("error", pandas.errors.ParserWarning)
            return pandas.read_csv(
                file, sep=_delimiter(lines), encoding="utf-8-sig", index_col=False
            )
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
        raise ValueError(f"{file} has no column {target!r}{nearest(str(target), columns)}")
    if not len(table):
        raise ValueError(f"{file} has no rows, only the names of its columns")
    if table.shape[1] < 2:
        raise ValueError(f"{file} has no columns but {target!r}")
    missing = int(table[target].isna().sum())
    if missing:
        raise ValueError(f"the column {target!r} of {file} has {missing} missing labels")
    return table.drop(columns=target), table[target]
