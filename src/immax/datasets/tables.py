"""Tables from files: CSV, JSON lines, Parquet and Feather, as data frames."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from immax.tabular.conversion import convert_cells
from immax.tabular.inference import describe_cells
from immax.tabular.reading import read_by_schema, read_training_table, readable
from immax.tabular.table_files import open_table

if TYPE_CHECKING:
    from pandas import DataFrame, Series

    from immax.tabular.columns import Schema

__all__ = ["read_chunks", "read_frame", "read_table"]


def read_table(path: str | Path, target: str) -> tuple[DataFrame, Series]:
    """Read features and labels from a file.

    ``immax.tabular.read_training_table`` also returns the schema, and what is notable.

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
    table = read_training_table(path, target)
    return table.X, table.y


def read_frame(path: str | Path) -> DataFrame:
    """Read a data frame from a file; the kind of each column is inferred from all rows.

    Parameters
    ----------
    path : str or Path
        CSV with a header line (``.csv``, ``.tsv`` or ``.txt``, in UTF-8, delimited by commas,
        semicolons, tabs or bars) or JSON lines (``.jsonl`` or ``.ndjson``), both also compressed
        (with a further ``.gz``, ``.bz2`` or ``.xz``); Parquet (``.parquet`` or ``.pq``), Feather
        (``.feather``), or a folder of Parquet files, which is one table.

    Returns
    -------
    DataFrame
        Numbers are floats, dates datetime64, booleans and categories objects. Nested and binary
        columns are left out.

    Raises
    ------
    FileNotFoundError
        If the file does not exist.
    ValueError
        If it cannot be read.
    """
    file = open_table(path)
    cells = file.cells()
    return convert_cells(cells, readable(describe_cells(cells, declared=file.declared)))


def read_chunks(
    path: str | Path, rows: int = 50_000, schema: Schema | None = None
) -> Iterator[DataFrame]:
    """Read a file in data frames of limited size.

    Parameters
    ----------
    path : str or Path
        A file of one of the formats of ``read_frame``.
    rows : int, default=50_000
        Largest number of rows of a data frame.
    schema : Schema, optional
        The columns to read, and how. Without it the whole file is read first to infer the kinds of
        its columns; with it, memory does not grow with the file.

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
    if schema is not None:
        yield from read_by_schema(path, schema, rows)
        return
    frame = read_frame(path)
    for start in range(0, len(frame), rows):
        yield frame.iloc[start : start + rows]
