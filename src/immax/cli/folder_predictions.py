"""Predictions for a folder of Parquet files, written to a folder."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from immax.cli.prediction_files import write_chunks
from immax.cli.predictions import output_types, predict_sources, report_unknown
from immax.errors import WrongCall
from immax.io import load_model
from immax.tabular.arrow_files import open_parts
from immax.tabular.table_files import COMPRESSIONS, FORMATS

__all__ = ["is_folder_output", "write_folder"]

MOST_CELLS = 500_000  # that are read at a time


def is_folder_output(table: Path, out: Path | None) -> bool:
    """Return whether predictions for a folder are to be written to a folder.

    Parameters
    ----------
    table : Path
        The table.
    out : Path or None
        The output; one with the ending of a file is a file.

    Returns
    -------
    bool
    """
    if out is None or not table.is_dir():
        return False
    return out.suffix.lower() not in (*FORMATS, *COMPRESSIONS)


def write_folder(
    model: Path, table: Path, proba: bool, out: Path, rows: int, max_bytes: int
) -> None:
    """Write the predictions for each Parquet file of a folder to a file of the same name.

    A budget given as a number of rows applies to the whole folder.

    The folder appears when all of its files are complete.

    Parameters
    ----------
    model, table : Path
        The model file, and the folder of the table.
    proba : bool
        Whether to predict probabilities instead of labels.
    out : Path
        The folder to write, which must not exist yet, or be empty.
    rows : int
        The largest number of rows to read at a time; of wide tables they are fewer.
    max_bytes : int
        The limit on the unpacked size of the model.

    Raises
    ------
    WrongCall
        If the folder exists and is not empty, or is within the one that is read.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise WrongCall(f"{out} exists and is not an empty folder: give another name")
    if table.resolve() in (out.resolve(), *out.resolve().parents):
        raise WrongCall(f"{out} is in the folder that the command reads")
    file = load_model(model, max_bytes=max_bytes)
    part = out.with_name(f"{out.name}.{os.getpid()}.part")
    types = output_types(file, proba)
    try:
        parts = open_parts(table)
        for source in list(parts.values())[:1]:
            report_unknown(file, source)
        sources = (
            (source, min(rows, max(1000, MOST_CELLS // len(source.names))))
            for source in parts.values()
        )
        predictions = predict_sources(file, sources, proba)
        for relative, chunks in zip(parts, predictions, strict=True):
            path = part / relative
            path.parent.mkdir(parents=True, exist_ok=True)
            write_chunks(chunks, path, path, "parquet", types)
        if out.exists():
            out.rmdir()
        os.replace(part, out)
    finally:
        shutil.rmtree(part, ignore_errors=True)
