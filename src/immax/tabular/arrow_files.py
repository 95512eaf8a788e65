"""Parquet and Feather files, and folders of Parquet files, as tables."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from immax.distributed.parquet_files import (
    data_columns,
    find_clashes,
    folder_values,
    list_parquet_files,
)
from immax.errors import WrongCall
from immax.optional import optional_import
from immax.tabular.number_formats import NEEDS_ARROW
from immax.tabular.table_file import (
    Parts,
    TableFile,
    batch_cells,
    join_cells,
    named_errors,
    unique_names,
)

if TYPE_CHECKING:
    from pyarrow import RecordBatch, Schema

    from immax.tabular.cells import Cells

__all__ = ["open_feather", "open_folder", "open_parquet", "open_parts", "read_spread"]

SPREAD = 32  # places from which some rows are read


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
        return _open_parts(folder, files, {file: folder_values(file, folder) for file in files})


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


def _open_parts(
    path: Path, files: Sequence[Path], partitions: Mapping[Path, Mapping[str, str | None]]
) -> TableFile:
    parquet = optional_import("pyarrow.parquet", NEEDS_ARROW)
    schemas: dict[Path, Schema] = {}
    first: list[str] = []
    for file in files:
        with parquet.ParquetFile(file) as source:
            schemas[file] = source.schema_arrow
        own = list(data_columns(schemas[file].names).values())
        for name in partitions.get(file, {}):
            if name in own:
                raise WrongCall(
                    f"the column {name!r} is in {file}, and in the name of its folder: remove it "
                    "from one of them"
                )
            own.append(name)
        first = first or own
        if sorted(own) != sorted(first):
            raise WrongCall(f"{file} and {files[0]} have different columns")
    names, repeated = unique_names(first)

    def read(rows: int) -> Parts:
        for file in files:
            # A buffer for all columns of a file would take as much memory as the file.
            with parquet.ParquetFile(file, pre_buffer=False) as source:
                for batch in source.iter_batches(batch_size=rows):
                    cells = _with_partition(batch, partitions.get(file, {}))
                    yield batch.num_rows, {name: cells[name] for name in names}

    return TableFile(path, "Parquet", names, repeated, True, read, find_clashes(schemas))


def _with_partition(batch: RecordBatch, partition: Mapping[str, str | None]) -> dict[str, Cells]:
    """Return the columns of a batch, and those that the names of folders add."""
    arrow = optional_import("pyarrow", NEEDS_ARROW)
    places = data_columns(batch.schema.names)
    names, _ = unique_names(list(places.values()))
    columns = [batch.column(place) for place in places]
    extra = [arrow.array([value] * batch.num_rows, arrow.string()) for value in partition.values()]
    return dict(zip((*names, *partition), [*columns, *extra], strict=True))


def open_parts(path: Path) -> dict[Path, TableFile]:
    """Open each Parquet file of a folder as a table of its own, or a file by itself.

    Parameters
    ----------
    path : Path
        A Parquet file or a folder of them.

    Returns
    -------
    dict of Path to TableFile
        By path relative to the folder; folders named a=1 add a column.
    """
    if path.is_file():
        return {Path(path.name): open_parquet(path)}
    tables = {}
    for file in list_parquet_files(path):
        with named_errors(file, "Parquet"):
            own = _open_parts(file, [file], {file: folder_values(file, path)})
        tables[file.relative_to(path)] = own
    return tables


def read_spread(path: Path, rows: int) -> dict[str, Cells]:
    """Read some rows of a Parquet file or folder, from places all over it.

    Parameters
    ----------
    path : Path
        A Parquet file or a folder of them.
    rows : int
        The number of rows, about.

    Returns
    -------
    dict of str to cells
    """
    parquet = optional_import("pyarrow.parquet", NEEDS_ARROW)
    files = list_parquet_files(path)
    partitions = {file: folder_values(file, path) for file in files} if path.is_dir() else {}
    with named_errors(path, "Parquet"):
        table = _open_parts(path, files, partitions)
        groups = [
            (file, group)
            for file in files
            for group in range(parquet.read_metadata(file).num_row_groups)
        ]
        chosen = groups[:: max(1, len(groups) // SPREAD)]
        size = max(1, rows // max(1, len(chosen)))
        parts = []
        for file, group in chosen:
            with parquet.ParquetFile(file, pre_buffer=False) as source:
                batch = next(source.iter_batches(batch_size=size, row_groups=[group]), None)
            if batch is not None:
                parts.append(_with_partition(batch, partitions.get(file, {})))
    return {name: join_cells([part[name] for part in parts], name) for name in table.names}


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
