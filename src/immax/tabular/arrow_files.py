"""Parquet and Feather files, and folders of Parquet files, as tables."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path

from immax.distributed.parquet_files import list_parquet_files
from immax.errors import WrongCall
from immax.optional import optional_import
from immax.tabular.number_formats import NEEDS_ARROW
from immax.tabular.table_file import Parts, TableFile, batch_cells, named_errors, unique_names

__all__ = ["open_feather", "open_folder", "open_parquet"]


def open_folder(folder: Path) -> TableFile:
    """Open the Parquet files of a folder as one table; folders named a=1 add a column.

    Parameters
    ----------
    folder : Path

    Returns
    -------
    TableFile

    Raises
    ------
    WrongCall
        If there are no Parquet files, or files with different columns.
    """
    files = list_parquet_files(folder)
    with named_errors(folder, "Parquet"):
        return _open_parts(folder, files, {file: _partition(file, folder) for file in files})


def open_parquet(file: Path) -> TableFile:
    """Open a Parquet file.

    Parameters
    ----------
    file : Path

    Returns
    -------
    TableFile
    """
    return _open_parts(file, [file], {})


def _partition(file: Path, folder: Path) -> dict[str, str]:
    parts = [part.split("=", 1) for part in file.relative_to(folder).parts[:-1] if "=" in part]
    return dict(parts)


def _open_parts(
    path: Path, files: Sequence[Path], partitions: dict[Path, dict[str, str]]
) -> TableFile:
    arrow = optional_import("pyarrow", NEEDS_ARROW)
    parquet = optional_import("pyarrow.parquet", NEEDS_ARROW)

    def names_of(file: Path) -> list[str]:
        with parquet.ParquetFile(file) as source:
            return [*source.schema_arrow.names, *partitions.get(file, {})]

    first = names_of(files[0])
    for file in files[1:]:
        if sorted(names_of(file)) != sorted(first):
            raise WrongCall(f"{file} and {files[0]} have different columns")
    names, repeated = unique_names(first)

    def read(rows: int) -> Parts:
        for file in files:
            own, _ = unique_names(names_of(file))
            with parquet.ParquetFile(file) as source:
                for batch in source.iter_batches(batch_size=rows):
                    extra = [
                        arrow.array([value] * batch.num_rows, arrow.string())
                        for value in partitions.get(file, {}).values()
                    ]
                    cells = dict(zip(own, [*batch.columns, *extra], strict=True))
                    yield batch.num_rows, {name: cells[name] for name in names}

    return TableFile(path, "Parquet", names, repeated, True, read)


def open_feather(file: Path) -> TableFile:
    """Open a Feather file.

    Parameters
    ----------
    file : Path

    Returns
    -------
    TableFile
    """
    arrow = optional_import("pyarrow", NEEDS_ARROW)
    feather = optional_import("pyarrow.feather", NEEDS_ARROW)
    with file.open("rb") as stream:
        first_version = stream.read(4) == b"FEA1"
    if first_version:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # pyarrow will not read the first version for ever
            table = feather.read_table(file)
        names, repeated = unique_names(table.column_names)
        batches = table.to_batches()
    else:
        with arrow.ipc.open_file(file) as source:
            names, repeated = unique_names(source.schema.names)

    def read(rows: int) -> Parts:
        if first_version:
            whole = iter(batches)
        else:
            source = arrow.ipc.open_file(file)
            whole = (source.get_batch(i) for i in range(source.num_record_batches))
        for batch in whole:
            for start in range(0, batch.num_rows, rows):
                yield batch_cells(batch.slice(start, rows), names)

    return TableFile(file, "Feather", names, repeated, True, read)
