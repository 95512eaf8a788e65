"""Parquet files and folders of them, without the tables inside."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from immax.errors import WrongCall
from immax.optional import optional_import

__all__ = [
    "NEEDS_PYARROW",
    "count_rows",
    "data_columns",
    "decoded_bytes",
    "list_parquet_files",
]

ENDINGS = (".parquet", ".pq")
ROW_LABELS = re.compile(r"__index_level_\d+__")  # how pandas names an index without a name
NEEDS_PYARROW = 'Parquet files need pyarrow: pip install "immax[distributed]"'


def list_parquet_files(path: str | Path) -> list[Path]:
    """Return the Parquet files of a folder and its folders, or a file by itself.

    Parameters
    ----------
    path : str or Path
        A Parquet file or a folder. Files and folders whose names begin with a point or an
        underscore do not count.

    Returns
    -------
    list of Path
        Sorted.

    Raises
    ------
    FileNotFoundError
        If there is no such file or folder.
    WrongCall
        If the folder holds no Parquet files.
    """
    folder = Path(path)
    if folder.is_file():
        return [folder]
    if not folder.is_dir():
        raise FileNotFoundError(f"there is no file or folder {folder}")
    files = sorted(
        file
        for file in folder.rglob("*")
        if file.suffix.lower() in ENDINGS
        and not any(part.startswith(("_", ".")) for part in file.relative_to(folder).parts)
    )
    if not files:
        raise WrongCall(f"the folder {folder} holds no Parquet files")
    return files


def data_columns(names: Sequence[str]) -> dict[int, str]:
    """Return the columns of a Parquet file but the row labels that pandas has written with them.

    Parameters
    ----------
    names : sequence of str
        The names of all columns.

    Returns
    -------
    dict of int to str
        Names by place. An index with a name of its own is a column like others.

    Examples
    --------
    >>> data_columns(["x", "y", "__index_level_0__"])
    {0: 'x', 1: 'y'}
    """
    return {place: name for place, name in enumerate(names) if not ROW_LABELS.fullmatch(name)}


def count_rows(files: Sequence[Path]) -> int:
    """Return the number of rows of Parquet files, from their metadata.

    Parameters
    ----------
    files : sequence of Path
        Parquet files.

    Returns
    -------
    int
    """
    parquet = optional_import("pyarrow.parquet", NEEDS_PYARROW)
    return sum(int(parquet.read_metadata(file).num_rows) for file in files)


def decoded_bytes(files: Sequence[Path]) -> int:
    """Return the number of bytes of Parquet files without compression, from their metadata.

    Parameters
    ----------
    files : sequence of Path
        Parquet files.

    Returns
    -------
    int
    """
    parquet = optional_import("pyarrow.parquet", NEEDS_PYARROW)
    total = 0
    for file in files:
        metadata = parquet.read_metadata(file)
        total += sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
    return total
