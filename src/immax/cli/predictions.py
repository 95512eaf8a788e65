"""Predictions for a table, a piece at a time."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from immax.atomic import replacing
from immax.datasets import read_chunks
from immax.datasets.optional import optional_import
from immax.io import ModelFile, ModelFileError, load_model

__all__ = ["predicted", "write_predictions"]


def predicted(file: ModelFile, table: Path, proba: bool, rows: int) -> Iterator[Any]:
    """Data frames of predictions, in the order of the rows."""
    pandas = optional_import("pandas", "tables need pandas: pip install immax[cli]")
    if proba and not hasattr(file.model, "predict_proba"):
        raise ModelFileError("the model has no probabilities: its loss does not determine them")
    noticed = False
    for chunk in read_chunks(table, rows):
        extra = [] if file.schema is None else file.schema.check(chunk)
        extra = [name for name in extra if name != file.target]
        if extra and not noticed:
            some = ", ".join(map(repr, extra[:5])) + (", …" if len(extra) > 5 else "")
            print(f"immax: columns that the model does not know: {some}", file=sys.stderr)
            noticed = True
        if not len(chunk):
            continue
        if proba:
            names = [f"p({name})" for name in file.model.classes_]
            yield pandas.DataFrame(file.model.predict_proba(chunk), columns=names)
        else:
            yield pandas.DataFrame({file.target or "label": np.asarray(file.model.predict(chunk))})


def write_predictions(
    model: Path, table: Path, proba: bool, out: Path | None, rows: int, as_json: bool = False
) -> None:
    """To a file, whole or not at all, or to standard output."""
    pieces = predicted(load_model(model), table, proba, rows)
    write = _write_json if as_json else _write_csv
    if out is None:
        write(pieces, sys.stdout)
        return
    with replacing(out) as part:
        if out.suffix.lower() in (".parquet", ".pq"):
            _write_parquet(pieces, part)
            return
        with part.open("w", encoding="utf-8", newline="") as file:
            write(pieces, file)


def _write_csv(pieces: Iterator[Any], file: Any) -> None:
    for number, piece in enumerate(pieces):
        piece.to_csv(file, index=False, header=number == 0)


def _write_json(pieces: Iterator[Any], file: Any) -> None:
    for piece in pieces:
        piece.to_json(file, orient="records", lines=True)


def _write_parquet(pieces: Iterator[Any], path: Path) -> None:
    arrow = optional_import("pyarrow", "Parquet needs pyarrow: pip install immax[cli]")
    parquet = optional_import("pyarrow.parquet", "Parquet needs pyarrow: pip install immax[cli]")
    writer = None
    try:
        for piece in pieces:
            table = arrow.Table.from_pandas(piece, preserve_index=False)
            writer = writer or parquet.ParquetWriter(path, table.schema)
            writer.write_table(table)
    finally:
        if writer is not None:
            writer.close()
