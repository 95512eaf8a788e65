"""Files of predictions: CSV, TSV, JSON lines, Parquet and Feather, by their endings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeAlias

from immax.errors import WrongCall
from immax.optional import optional_import
from immax.tabular.number_formats import NEEDS_ARROW
from immax.tabular.table_files import file_format

if TYPE_CHECKING:
    from pandas import DataFrame
    from pyarrow import Schema as ArrowSchema

__all__ = ["output_format", "write_chunks", "write_text_chunks"]

Chunks: TypeAlias = "Iterator[DataFrame]"
FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How a cell begins that spreadsheets take for a formula."""


def output_format(out: Path | None, as_json: bool, spreadsheet: bool = False) -> str:
    """Return the format in which predictions are written.

    Parameters
    ----------
    out : Path or None
        The file; None for standard output.
    as_json : bool
        Whether JSON lines were asked for.
    spreadsheet : bool, default=False
        Whether cells are to be safe for spreadsheets.

    Returns
    -------
    {"csv", "tsv", "json lines", "parquet", "feather"}

    Raises
    ------
    WrongCall
        If the ending is unknown or contradicts what was asked for.
    """
    form = "csv" if out is None else file_format(out)[0]
    if form == "text":
        suffixes = [suffix.lower() for suffix in (Path() if out is None else out).suffixes]
        if ".txt" in suffixes[-2:]:
            raise WrongCall(f"{out} must end in .csv, .tsv, .jsonl, .parquet or .feather")
        form = "tsv" if ".tsv" in suffixes[-2:] else "csv"
    if as_json and out is not None and form != "json lines":
        raise WrongCall(f"--json contradicts the ending of {out}: JSON lines end in .jsonl")
    if as_json:
        form = "json lines"
    if spreadsheet and form not in ("csv", "tsv"):
        raise WrongCall("--spreadsheet is for CSV and TSV files")
    return form


def write_chunks(
    chunks: Chunks, part: Path, out: Path, form: str, types: ArrowSchema, spreadsheet: bool = False
) -> None:
    """Write predictions to a file.

    Parameters
    ----------
    chunks : iterator of DataFrame
    part : Path
        The file to write now.
    out : Path
        Its later name, which tells how it is compressed.
    form : str
        What ``output_format`` returned.
    types : pyarrow.Schema
        The types of the columns.
    spreadsheet : bool, default=False
        Whether to make cells safe for spreadsheets.
    """
    if form in ("parquet", "feather"):
        _write_arrow(chunks, part, form, types)
        return
    opener = file_format(out)[1]
    with opener(part, "wt", encoding="utf-8", newline="") as file:
        write_text_chunks(chunks, file, form, spreadsheet)


def write_text_chunks(chunks: Chunks, file: IO[str], form: str, spreadsheet: bool = False) -> None:
    """Write predictions as text.

    Parameters
    ----------
    chunks : iterator of DataFrame
    file : text file
    form : {"csv", "tsv", "json lines"}
    spreadsheet : bool, default=False
        Whether to put an apostrophe before what a spreadsheet would take for a formula.
    """
    for number, chunk in enumerate(chunks):
        if form == "json lines":
            if len(chunk):
                chunk.to_json(file, orient="records", lines=True, double_precision=15)
            continue
        if spreadsheet:
            chunk = _without_formulas(chunk)
        chunk.to_csv(file, index=False, header=number == 0, sep="\t" if form == "tsv" else ",")


def _without_formulas(chunk: DataFrame) -> DataFrame:
    safe: Callable[[object], object] = lambda value: (  # noqa: E731
        f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value
    )
    chunk = chunk.rename(columns=safe)
    for name in chunk.columns:
        chunk[name] = chunk[name].map(safe)
    return chunk


def _write_arrow(chunks: Chunks, path: Path, form: str, types: ArrowSchema) -> None:
    arrow = optional_import("pyarrow", NEEDS_ARROW)
    parquet = optional_import("pyarrow.parquet", NEEDS_ARROW)
    if form == "parquet":
        writer = parquet.ParquetWriter(path, types)
    else:
        writer = arrow.ipc.new_file(str(path), types)
    with writer:
        for chunk in chunks:
            writer.write_table(arrow.Table.from_pandas(chunk, types, preserve_index=False))
