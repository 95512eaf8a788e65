"""Tables read by their schemas: for training, where the schema is inferred, and for use."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from immax.errors import WrongCall
from immax.tabular.columns import Column, Schema, SchemaError
from immax.tabular.conversion import Remarks, convert_cells
from immax.tabular.findings import find_leaks, label_notices, reading_notices, value_notices
from immax.tabular.inference import describe_cells
from immax.tabular.labels import describe_labels, read_labels
from immax.tabular.reading_options import ReadingOptions
from immax.tabular.table_file import TableFile
from immax.tabular.table_files import open_table
from immax.validation import nearest

if TYPE_CHECKING:
    from pandas import DataFrame, Series

__all__ = ["TrainingTable", "read_by_schema", "read_labelled", "read_training_table"]


@dataclass(frozen=True, eq=False)
class TrainingTable:
    """A table with labels, and how it was read.

    Attributes
    ----------
    X : DataFrame
        All columns but the labels and those that are not supported.
    y : Series
        The labels.
    schema : Schema
        The columns of the file other than the labels; its ``labels`` is the column of the labels.
    notices : tuple of str
        What the user should know, the most important first.
    """

    X: DataFrame
    y: Series
    schema: Schema
    notices: tuple[str, ...]


def read_training_table(
    path: str | Path, target: str, options: ReadingOptions | None = None
) -> TrainingTable:
    """Read features and labels; the kind of every column is inferred from all rows.

    Parameters
    ----------
    path : str or Path
        A file of one of the formats of ``open_table``.
    target : str
        The column of the labels.
    options : ReadingOptions, optional
        What is known of the columns.

    Returns
    -------
    TrainingTable

    Raises
    ------
    FileNotFoundError
        If the file does not exist.
    ValueError
        If it cannot be read, lacks the target, or has rows without a label.
    """
    file, options = open_table(path), options or ReadingOptions()
    check_training(file, target, options)
    cells = file.cells()
    own = cells.pop(target)
    if not len(own):
        raise ValueError(f"{file.path} has no rows, only a header")
    if not cells:
        raise ValueError(f"{file.path} has no columns other than {target!r}")
    labels = describe_labels(target, own, declared=file.declared)
    y = read_labels(own, labels)
    schema = replace(describe_cells(cells, options, declared=file.declared), labels=labels)
    remarks = Remarks()
    X = convert_cells(cells, readable(schema), remarks)
    notices = (
        *reading_notices(schema),
        *find_leaks(X, y, schema),
        *label_notices(y, file.repeated),
        *value_notices(cells, X, schema, remarks),
    )
    warnings = [notice for notice in notices if notice.startswith("WARNING")]
    rest = [notice for notice in notices if not notice.startswith("WARNING")]
    return TrainingTable(X, y, schema, (*warnings, *rest))


def readable(schema: Schema) -> list[Column]:
    """Return the columns of a schema that can be part of a data frame.

    Parameters
    ----------
    schema : Schema

    Returns
    -------
    list of Column
    """
    return [column for column in schema.columns if column.kind not in ("unsupported", "dropped")]


def read_by_schema(
    path: str | Path, schema: Schema, rows: int = 50_000, remarks: Remarks | None = None
) -> Iterator[DataFrame]:
    """Read the columns that are features, in data frames of limited size.

    Each cell is read by itself: the data frames do not depend on which other rows the file has, on
    how many are read at a time, or on the format of the file.

    Parameters
    ----------
    path : str or Path
        A file of one of the formats of ``open_table``.
    schema : Schema
        The columns, as they were inferred from the training data.
    rows : int, default=50_000
        The largest number of rows of a data frame.
    remarks : Remarks, optional
        Where to note what is unusual.

    Yields
    ------
    DataFrame

    Raises
    ------
    SchemaError
        If a column is missing, or holds something that is not of its kind.
    """
    file = open_table(path, schema.named())
    check_columns(file, schema)
    for _, cells in file.chunks(rows):
        yield convert_cells(cells, schema.used(), remarks)


def read_labelled(path: str | Path, schema: Schema, labels: Column) -> tuple[DataFrame, Series]:
    """Read features and labels by a schema.

    Parameters
    ----------
    path : str or Path
        A file of one of the formats of ``open_table``.
    schema : Schema
        The columns, as they were inferred from the training data.
    labels : Column
        The column of the labels.

    Returns
    -------
    X : DataFrame
    y : Series

    Raises
    ------
    SchemaError
        If a column is missing, or holds something that is not of its kind.
    ValueError
        If there are no rows, or some without a label.
    """
    file = open_table(path, schema.named())
    check_target(file, labels.name)
    check_columns(file, schema)
    cells = file.cells()
    if not len(cells[labels.name]):
        raise ValueError(f"{file.path} has no rows, only a header")
    return convert_cells(cells, schema.used()), read_labels(cells[labels.name], labels)


def check_columns(file: TableFile, schema: Schema) -> list[str]:
    """Check that a file has the columns of a schema.

    Parameters
    ----------
    file : TableFile
    schema : Schema

    Returns
    -------
    list of str
        Columns that the schema does not know.

    Raises
    ------
    SchemaError
        If a column is missing, or is there twice.
    """
    unknown = schema.check_names(file.names)
    for name in file.repeated:
        if name in schema.named() and f"{name}.1" not in schema.named():
            raise SchemaError(f"{file.path} has more than one column {name!r}")
    return unknown


def check_target(file: TableFile, target: str) -> None:
    """Check that a file has the column of the labels, and has it once.

    Parameters
    ----------
    file : TableFile
    target : str
        The column of the labels.

    Raises
    ------
    WrongCall
        If there is no such column, or more than one.
    """
    if target not in file.names:
        raise WrongCall(f"{file.path} has no column {target!r}{nearest(target, file.names)}")
    if target in file.repeated:
        raise WrongCall(f"{file.path} has more than one column {target!r}, the target")


def check_training(file: TableFile, target: str, options: ReadingOptions) -> None:
    """Check that the columns of a file can be learned from.

    Parameters
    ----------
    file : TableFile
    target : str
        The column of the labels.
    options : ReadingOptions
        What is known of the columns.

    Raises
    ------
    WrongCall
        If the target is missing or its kind is chosen, or if a column whose kind is not chosen
        holds other types in other files.
    """
    check_target(file, target)
    if target in options.kinds:
        raise WrongCall(f"{target!r} is the target: its kind cannot be chosen")
    for name, holds in file.clashes.items():
        if name == target:
            raise WrongCall(f"the target {name!r} {holds}: write it with one type")
        if name not in options.kinds:
            raise WrongCall(
                f"the column {name!r} {holds}: write it with one type, or choose how it is read "
                f"with --kind {name}=number, {name}=category or {name}=drop"
            )
