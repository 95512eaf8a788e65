"""Predictions for a table of any length, one chunk of rows at a time."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from immax.arrays import Array
from immax.atomic import replacing
from immax.cli.counted_rows import CountedRows, counted_rule, decision_proba
from immax.cli.output_files import check_output
from immax.cli.prediction_files import output_format, write_chunks, write_text_chunks
from immax.io import MOST_BYTES, ModelFile, ModelFileError, load_model
from immax.optional import optional_import
from immax.tabular.columns import Column, Schema, SchemaError
from immax.tabular.conversion import Remarks, convert_cells
from immax.tabular.number_formats import NEEDS_ARROW
from immax.tabular.pipeline import TypedColumns
from immax.tabular.reading import check_columns
from immax.tabular.table_files import open_table

if TYPE_CHECKING:
    from pandas import DataFrame
    from pyarrow import Schema as ArrowSchema

    from immax.tabular.table_file import TableFile

__all__ = [
    "as_model_input",
    "output_names",
    "output_types",
    "predict_chunks",
    "predict_source",
    "predict_sources",
    "report_unknown",
    "schema_of",
    "write_predictions",
]

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
        One at least; it is empty if the table has no rows.

    Raises
    ------
    ModelFileError
        If the model has no probabilities.
    SchemaError
        If the table lacks a column of the model, or has one of another type.
    """
    output_names(file, proba)
    source = open_table(table, () if file.schema is None else file.schema.named())
    report_unknown(file, source)
    for chunks in predict_sources(file, [(source, rows)], proba):
        yield from chunks


def predict_sources(
    file: ModelFile, sources: Iterable[tuple[TableFile, int]], proba: bool
) -> Iterator[Iterator[DataFrame]]:
    """Yield the predictions for each of several tables that belong together.

    A model whose rule is a number of rows predicts that many of all tables together, which takes
    the probabilities of all rows before the first prediction.

    Parameters
    ----------
    file : ModelFile
    sources : iterable of pairs of TableFile and int
        The tables, and how many rows to read of each at a time.
    proba : bool
        Whether to predict probabilities instead of labels.

    Yields
    ------
    iterator of DataFrame
        The chunks of a table.
    """
    rule = None if proba else counted_rule(file.model)
    if rule is not None and rule.count is not None:
        yield from _predict_counted(file, sources, rule.count, int(rule.positive or 0))
        return
    for source, rows in sources:
        yield predict_source(file, source, proba, rows)


def _predict_counted(
    file: ModelFile, sources: Iterable[tuple[TableFile, int]], count: int, positive: int
) -> Iterator[Iterator[DataFrame]]:
    """Find the rows of a budget in all tables; then yield the labels of each."""
    pandas = optional_import("pandas", NEEDS_ARROW)
    budgeted, sizes = CountedRows(count), []
    for source, rows in sources:
        own = []
        for X in _model_inputs(file, source, rows):
            budgeted.add(decision_proba(file.model, X)[:, positive])
            own.append(len(X))
        sizes.append(own or [0])
    classes, names, begin = np.asarray(file.model.classes_), output_names(file, False), 0
    for own in sizes:
        begins = begin + np.cumsum([0, *own])
        yield (
            pandas.DataFrame(
                classes[np.where(budgeted.contains(start, n), positive, 1 - positive)],
                columns=names,
            )
            for start, n in zip(begins, own, strict=False)
        )
        begin = int(begins[-1])


def report_unknown(file: ModelFile, source: TableFile) -> None:
    """Print the columns of a table that the model does not know.

    Parameters
    ----------
    file : ModelFile
    source : TableFile

    Raises
    ------
    SchemaError
        If the table lacks a column of the model.
    """
    known = check_columns(source, schema_of(file, source))
    extra = [name for name in known if name != file.target]
    if extra:
        more = ", …" if len(extra) > MOST_NAMES else ""
        listed = ", ".join(map(repr, extra[:MOST_NAMES])) + more
        print(f"immax: columns that the model does not know: {listed}", file=sys.stderr)


def predict_source(
    file: ModelFile, source: TableFile, proba: bool, rows: int
) -> Iterator[DataFrame]:
    """Yield the predictions for each chunk of a table that is open.

    Parameters
    ----------
    file : ModelFile
    source : TableFile
    proba : bool
        Whether to predict probabilities instead of labels.
    rows : int
        The number of rows of a chunk.

    Yields
    ------
    DataFrame
        One at least; it is empty if the table has no rows.
    """
    pandas = optional_import("pandas", NEEDS_ARROW)
    names = output_names(file, proba)
    empty = True
    for X in _model_inputs(file, source, rows):
        empty = False
        if proba:
            values = np.asarray(file.model.predict_proba(X))
        else:
            values = np.asarray(file.model.predict(X))[:, None]
        yield pandas.DataFrame(values, columns=names)
    if empty:
        yield pandas.DataFrame(columns=names)


def _model_inputs(file: ModelFile, source: TableFile, rows: int) -> Iterator[DataFrame | Array]:
    """Yield the features of each chunk that has rows, and print notices in the end."""
    schema = schema_of(file, source)
    check_columns(source, schema)
    remarks = Remarks()
    for _, cells in source.chunks(rows):
        X = convert_cells(cells, schema.used(), remarks)
        if len(X):
            yield as_model_input(file, X)
    for notice in remarks.notices():
        print(f"immax: {notice}", file=sys.stderr)


def schema_of(file: ModelFile, source: TableFile) -> Schema:
    """Return the columns that a model needs.

    Parameters
    ----------
    file : ModelFile
        The model. If it was saved without a schema, the columns are those of its preprocessing, or
        else all its features are numbers: those that it names, or all columns but the labels.
    source : TableFile
        The table.

    Returns
    -------
    Schema

    Raises
    ------
    SchemaError
        If the number of columns is not that of the features.
    """
    if file.schema is not None:
        return file.schema
    typed = _typed_columns(file)
    if typed is not None:
        return Schema(tuple(typed.described_columns()))
    names = [str(name) for name in getattr(file.model, "feature_names_in_", ())]
    names = names or [name for name in source.names if name != file.target]
    expected = getattr(file.model, "n_features_in_", len(names))
    if len(names) != expected:
        raise SchemaError(
            f"{source.path} must have {expected} columns of numbers; it has {len(names)}"
        )
    return Schema(tuple(Column(name, "number") for name in names))


def as_model_input(file: ModelFile, X: DataFrame) -> DataFrame | Array:
    """Return a data frame, or an array for a model that was fitted to one.

    Parameters
    ----------
    file : ModelFile
    X : DataFrame

    Returns
    -------
    DataFrame or ndarray
    """
    takes_frames = (
        file.schema is not None
        or _typed_columns(file) is not None
        or hasattr(file.model, "feature_names_in_")
    )
    return X if takes_frames else X.to_numpy(np.float64)


def _typed_columns(file: ModelFile) -> TypedColumns | None:
    """Return the first step of a pipeline that ``prepare`` made."""
    steps = getattr(getattr(file.model, "preparation_", file.model), "steps", None)
    first = steps[0][1] if steps else None
    return first if isinstance(first, TypedColumns) else None


def output_names(file: ModelFile, proba: bool) -> list[str]:
    """Return the names of the columns of the predictions.

    Parameters
    ----------
    file : ModelFile
    proba : bool
        Whether they are probabilities.

    Returns
    -------
    list of str

    Raises
    ------
    ModelFileError
        If the model has no probabilities.
    """
    if not proba:
        return [file.target or "label"]
    if not hasattr(file.model, "predict_proba"):
        raise ModelFileError("the model has no probabilities: its loss does not determine them")
    return [f"p({name})" for name in file.model.classes_]


def write_predictions(
    model: Path,
    table: Path,
    proba: bool,
    out: Path | None,
    rows: int,
    as_json: bool = False,
    *,
    spreadsheet: bool = False,
    max_bytes: int = MOST_BYTES,
) -> None:
    """Write the predictions for a table to a file, atomically, or to standard output.

    Parameters
    ----------
    model, table : Path
        The model file and the table.
    proba : bool
        Whether to predict probabilities instead of labels.
    out : Path or None
        A file whose ending tells the format; None for standard output.
    rows : int
        The number of rows to read at a time.
    as_json : bool, default=False
        Whether to write JSON lines instead of CSV.
    spreadsheet : bool, default=False
        Whether to put an apostrophe before labels that a spreadsheet would take for formulas.
    max_bytes : int
        The limit on the unpacked size of the model.

    Raises
    ------
    WrongCall
        If the output is one of the inputs, or its ending is unknown.
    """
    form = output_format(out, as_json, spreadsheet)
    if out is not None:
        check_output(out, [model, table])
    file = load_model(model, max_bytes=max_bytes)
    chunks = predict_chunks(file, table, proba, rows)
    if out is None:
        write_text_chunks(chunks, sys.stdout, form, spreadsheet)
        return
    types = output_types(file, proba)
    with replacing(out) as part:
        write_chunks(chunks, part, out, form, types, spreadsheet)


def output_types(file: ModelFile, proba: bool) -> ArrowSchema:
    """Return the types of the columns of the predictions.

    Parameters
    ----------
    file : ModelFile
    proba : bool
        Whether they are probabilities.

    Returns
    -------
    pyarrow.Schema
    """
    arrow = optional_import("pyarrow", NEEDS_ARROW)
    names = output_names(file, proba)
    kind = arrow.float64() if proba else arrow.array(file.model.classes_.tolist()).type
    return arrow.schema([(name, kind) for name in names])
