"""Parquet files and folders of them, without the tables inside."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from immax.errors import WrongCall
from immax.optional import optional_import

if TYPE_CHECKING:
    from pyarrow import DataType, Schema

__all__ = [
    "NEEDS_PYARROW",
    "check_column_names",
    "count_rows",
    "data_columns",
    "decoded_bytes",
    "find_clashes",
    "folder_values",
    "list_parquet_files",
]

ENDINGS = (".parquet", ".pq")
ROW_LABELS = re.compile(r"__index_level_\d+__")  # how pandas names an index without a name
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"  # what writers put for a missing value
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
    if not (folder.is_dir() and str(path)):  # an empty name would be the current folder
        raise FileNotFoundError(f"there is no file or folder {str(path)!r}")
    files = sorted(
        file
        for file in folder.rglob("*")
        if file.suffix.lower() in ENDINGS
        and not any(part.startswith(("_", ".")) for part in file.relative_to(folder).parts)
    )
    if not files:
        raise WrongCall(f"the folder {folder} holds no Parquet files")
    return files


def check_column_names(path: object, target: object, sample_weight: object = None) -> None:
    """Raise an error unless labels and weights are given by the names of two columns.

    Parameters
    ----------
    path : str or Path
        The file or folder of the columns.
    target : str
        The column of the labels.
    sample_weight : str, optional
        The column of the sample weights.

    Raises
    ------
    TypeError
        If something else than a name is given.
    WrongCall
        If both are the same column.
    """
    for given, name in (("y", target), ("sample_weight", sample_weight)):
        if not isinstance(name, str) and (given == "y" or name is not None):
            raise TypeError(
                f"{given} must be the name of a column of {path}; got {type(name).__name__}"
            )
    if sample_weight == target:
        raise WrongCall(f"y and sample_weight must be different columns; got {target!r} for both")


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


def folder_values(file: Path, folder: Path) -> dict[str, str | None]:
    """Return the columns that the folders of a file add to it: ``year=2020`` is one of them.

    Parameters
    ----------
    file : Path
        A file of the folder, or of folders within it.
    folder : Path
        The folder of the table.

    Returns
    -------
    dict of str to str or None
        Values by name of column, the outermost folder first. None is a missing value.

    Examples
    --------
    >>> folder_values(Path("sales/year=2020/shop=a%20b/0.parquet"), Path("sales"))
    {'year': '2020', 'shop': 'a b'}
    """
    values: dict[str, str | None] = {}
    for part in file.relative_to(folder).parts[:-1]:
        name, sign, value = part.partition("=")
        if sign:
            values[unquote(name)] = None if value == NO_VALUE else unquote(value)
    return values


def find_clashes(schemas: Mapping[Path, Schema]) -> dict[str, str]:
    """Find columns that hold one kind of values in a file, and another kind in the next.

    Parameters
    ----------
    schemas : mapping of Path to pyarrow.Schema
        The schemas of files with the same columns.

    Returns
    -------
    dict of str to str
        By column, what it holds and in which files. Integers and floats are one kind, and a
        column without values has none.
    """
    seen: dict[str, tuple[str, DataType, Path]] = {}
    clashes: dict[str, str] = {}
    for file, schema in schemas.items():
        for place, name in data_columns(schema.names).items():
            kind = schema.types[place]
            own = _family(kind)
            if own == "null" or name in clashes:
                continue
            family, first, where = seen.setdefault(name, (own, kind, file))
            if family != own:
                clashes[name] = f"holds {first} in {where}, but {kind} in {file}"
    return clashes


def _family(kind: DataType) -> str:
    """Return the kind of values of a type, without their width."""
    types = optional_import("pyarrow", NEEDS_PYARROW).types
    if types.is_dictionary(kind):
        return _family(kind.value_type)
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return "number"
    if types.is_string(kind) or types.is_large_string(kind) or str(kind) == "string_view":
        return "text"
    return "date" if types.is_date(kind) or types.is_timestamp(kind) else str(kind)


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
