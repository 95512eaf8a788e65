"""Files of tables: formats by their endings, and the functions that open them."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
from collections.abc import Iterable
from pathlib import Path

from immax.errors import WrongCall
from immax.optional import optional_import
from immax.tabular.arrow_files import open_feather, open_folder, open_parquet
from immax.tabular.json_lines import open_json_lines
from immax.tabular.number_formats import NEEDS_ARROW
from immax.tabular.table_file import Opener, TableFile, named_errors
from immax.tabular.text_files import open_text

__all__ = ["file_format", "open_table"]

FORMATS = {
    ".csv": "text",
    ".tsv": "text",
    ".txt": "text",
    ".jsonl": "json lines",
    ".ndjson": "json lines",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "feather",
}
COMPRESSIONS: dict[str, Opener] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
COMPRESSIBLE = ("text", "json lines")
ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")  # pathlib merges the two slashes of a URL


def file_format(path: Path) -> tuple[str, Opener]:
    """Return the format of a file by its ending, and the function that opens it.

    Parameters
    ----------
    path : Path

    Returns
    -------
    format : {"text", "json lines", "parquet", "feather"}
    opener : callable

    Raises
    ------
    WrongCall
        If the ending is unknown.
    """
    *inner, last = ["", *(suffix.lower() for suffix in path.suffixes)]
    if last in FORMATS:
        return FORMATS[last], open
    if last in COMPRESSIONS and FORMATS.get(inner[-1]) in COMPRESSIBLE:
        return FORMATS[inner[-1]], COMPRESSIONS[last]
    compressible = [suffix for suffix, form in FORMATS.items() if form in COMPRESSIBLE]
    others = [suffix for suffix in FORMATS if suffix not in compressible]
    raise WrongCall(
        f"{path} must end in {', '.join((*compressible, *others))}, or in one of the first "
        f"{len(compressible)} followed by {', '.join(COMPRESSIONS)}"
    )


def open_table(path: str | Path, expected: Iterable[str] = ()) -> TableFile:
    """Open a table and read the names of its columns.

    Parameters
    ----------
    path : str or Path
        CSV with a header line (``.csv``, ``.tsv`` or ``.txt``, in UTF-8, delimited by commas,
        semicolons, tabs or bars) or JSON lines (``.jsonl`` or ``.ndjson``), both also compressed
        (with a further ``.gz``, ``.bz2`` or ``.xz``); Parquet (``.parquet`` or ``.pq``), Feather
        (``.feather``), or a folder of Parquet files, which is one table.
    expected : iterable of str, optional
        Names of columns that should be there, which tell the delimiter of a CSV file.

    Returns
    -------
    TableFile

    Raises
    ------
    FileNotFoundError
        If the file does not exist.
    WrongCall
        If it is standard input, a URL, or has an unknown ending.
    ValueError
        If it cannot be read.
    """
    file = Path(path)
    if str(path) == "-":
        raise WrongCall("standard input (-) is not supported: give the name of a file")
    if ADDRESS.match(str(path)):
        raise WrongCall(f"a URL is not supported: download {path} and give the name of the file")
    if file.is_dir():
        return open_folder(file)
    if not file.is_file():
        raise FileNotFoundError(f"there is no file {file}")
    if file.stat().st_size == 0:
        raise ValueError(f"{file} is empty")
    form, opener = file_format(file)
    optional_import("pandas", NEEDS_ARROW)
    optional_import("pyarrow", NEEDS_ARROW)
    wanted = set(expected)
    if form == "parquet":
        with named_errors(file, "Parquet"):
            return open_parquet(file)
    if form == "feather":
        with named_errors(file, "Feather"):
            return open_feather(file)
    if form == "json lines":
        with named_errors(file, "JSON lines"):
            return open_json_lines(file, opener, wanted)
    with named_errors(file, "a table"):
        return open_text(file, opener, wanted)
