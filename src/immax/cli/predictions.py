"""Predictions for a table of any length, one chunk of rows at a time."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import numpy as np

from immax.atomic import replacing
from immax.datasets import read_chunks
from immax.datasets.optional import optional_import
from immax.io import ModelFile, ModelFileError, load_model

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["predict_chunks", "write_predictions"]

MOST_NAMES = 5  # unknown columns that a notice names


def predict_chunks(file: ModelFile, table: Path, proba: bool, rows: int) -> Iterator[DataFrame]:
    """Yield the predictions for each chunk of a table.

    Parameters
    ----------
    file : ModelFile
    table : Path
    proba : bool
        Whether to predict probabilities instead of labels.
    rows : int
        The number of rows of a chunk.

    Yields
    ------
    DataFrame

    Raises
    ------
    ModelFileError
        If the model has no probabilities.
    SchemaError
        If the table lacks a column of the model, or has one of another type.
    """
    pandas = optional_import("pandas", "tables need pandas: pip install immax[cli]")
    if proba and not hasattr(file.model, "predict_proba"):
        raise ModelFileError("the model has no probabilities: its loss does not determine them")
    noticed = False
    for chunk in read_chunks(table, rows):
        extra = [] if file.schema is None else file.schema.check(chunk)
        extra = [name for name in extra if name != file.target]
        if extra and not noticed:
            more = ", …" if len(extra) > MOST_NAMES else ""
            names = ", ".join(map(repr, extra[:MOST_NAMES])) + more
            print(f"immax: columns that the model does not know: {names}", file=sys.stderr)
            noticed = True
        if not len(chunk):
            continue
        if proba:
            columns = [f"p({name})" for name in file.model.classes_]
            yield pandas.DataFrame(file.model.predict_proba(chunk), columns=columns)
        else:
            yield pandas.DataFrame({file.target or "label": np.asarray(file.model.predict(chunk))})


def write_predictions(
    model: Path, table: Path, proba: bool, out: Path | None, rows: int, as_json: bool = False
) -> None:
    """Write the predictions for a table to a file, atomically, or to standard output.

    Parameters
    ----------
    model, table : Path
        The model file and the table.
    proba : bool
        Whether to predict probabilities instead of labels.
    out : Path or None
        A CSV or Parquet file; None for standard output.
    rows : int
        The number of rows to read at a time.
    as_json : bool, default=False
        Whether to write JSON lines instead of CSV.
    """
    chunks = predict_chunks(load_model(model), table, proba, rows)
    write = _write_json if as_json else _write_csv
    if out is None:
        write(chunks, sys.stdout)
        return
    with replacing(out) as part:
        if out.suffix.lower() in (".parquet", ".pq"):
            _write_parquet(chunks, part)
            return
        with part.open("w", encoding="utf-8", newline="") as file:
            write(chunks, file)


def _write_csv(chunks: Iterator[DataFrame], file: TextIO) -> None:
    for number, chunk in enumerate(chunks):
        chunk.to_csv(file, index=False, header=number == 0)


def _write_json(chunks: Iterator[DataFrame], file: TextIO) -> None:
    for chunk in chunks:
        chunk.to_json(file, orient="records", lines=True)


def _write_parquet(chunks: Iterator[DataFrame], path: Path) -> None:
    arrow = optional_import("pyarrow", "Parquet needs pyarrow: pip install immax[cli]")
    parquet = optional_import("pyarrow.parquet", "Parquet needs pyarrow: pip install immax[cli]")
    writer = None
    try:
        for chunk in chunks:
            table = arrow.Table.from_pandas(chunk, preserve_index=False)
            writer = writer or parquet.ParquetWriter(path, table.schema)
            writer.write_table(table)
    finally:
        if writer is not None:
            writer.close()
