"""Parquet tables that are larger than memory: schema, preprocessing and batches of features."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline

from immax.arrays import Array
from immax.distributed.parquet_files import count_rows, list_parquet_files
from immax.distributed.raw_parts import RawPart, read_part
from immax.distributed.row_hashes import fold_numbers
from immax.distributed.stream_parts import read_ahead
from immax.errors import WrongCall
from immax.tabular.arrow_files import read_spread
from immax.tabular.column_statistics import ColumnStatistics
from immax.tabular.columns import Column, Schema
from immax.tabular.conversion import Remarks, convert_cells, convert_column
from immax.tabular.findings import reading_notices
from immax.tabular.fitted_preparation import fit_preparation
from immax.tabular.inference import describe_cells
from immax.tabular.labels import as_labels, describe_labels, read_labels
from immax.tabular.pipeline import prepare
from immax.tabular.reading import check_training
from immax.tabular.reading_options import ReadingOptions
from immax.tabular.table_file import TableFile
from immax.tabular.table_files import open_table
from immax.validation import nearest

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["FoldPipelines", "StreamedTable", "batch_rows", "open_streamed"]

INFERRED_ROWS = 20_000  # from which kinds of columns are inferred
SKETCHED_CELLS = 200_000  # of the numbers of a table whose medians are exact
LEAST_CAPACITY = 250  # of the sketch of a column, of which every fold has one
BATCH_CELLS = 500_000  # of a batch of rows


class FoldPipelines(NamedTuple):
    """What one pass over a table finds out for a cross-validation.

    Attributes
    ----------
    training : tuple of Pipeline
        The preprocessing fitted to the training part of each fold.
    whole : Pipeline
        The preprocessing fitted to all rows.
    classes : ndarray of shape (c,)
        The labels.
    codes : ndarray of shape (n,)
        The class of each row, as a small integer.
    """

    training: tuple[Pipeline, ...]
    whole: Pipeline
    classes: Array
    codes: Array


@dataclass(frozen=True, eq=False)
class StreamedTable:
    """A Parquet table, read in batches; the preprocessing is fitted in one pass.

    Attributes
    ----------
    file : TableFile
    schema : Schema
        Inferred from rows all over the file; its ``labels`` is the column of the labels.
    target : str
        The name of that column.
    n_rows : int
    notices : tuple of str
        What the user should know.
    weight : str or None
        The name of the column of the sample weights.
    """

    file: TableFile
    schema: Schema
    target: str
    n_rows: int
    notices: tuple[str, ...]
    weight: str | None = None

    def batches(self) -> Iterator[tuple[DataFrame, Array, Array | None]]:
        """Yield features, converted by the schema, labels and sample weights.

        Yields
        ------
        X : DataFrame
        y : ndarray of shape (n,)
        weight : ndarray of shape (n,) or None
        """
        assert self.schema.labels is not None
        rows = batch_rows(self.schema.used())
        remarks = Remarks()
        for _, cells in self.file.chunks(rows):
            own = cells.pop(self.target)
            weight = None
            if self.weight is not None:
                weight = convert_column(cells.pop(self.weight), Column(self.weight, "number"))
            yield (
                convert_cells(cells, self.schema.used(), remarks),
                as_labels(read_labels(own, self.schema.labels)),
                weight,
            )

    def _typed_batches(self) -> Iterator[tuple[DataFrame, Array, Array]]:
        """Yield columns as ``TypedColumns`` converts them, labels, and positions of rows."""
        types = prepare(self.schema)["types"].fit(None)
        begin = 0
        for X, y, _ in read_ahead(self.batches()):
            yield types.transform(X), y, np.arange(begin, begin + len(y))
            begin += len(y)
        if not begin:
            raise ValueError(f"{self.file.path} has no rows")

    def _new_statistics(self) -> ColumnStatistics:
        types = prepare(self.schema)["types"]
        numbers = [*(types.numbers or []), *(types.dates or [])]
        capacity = max(LEAST_CAPACITY, SKETCHED_CELLS // max(1, len(numbers)))
        return ColumnStatistics(numbers, types.categories or [], capacity)

    def fit_pipeline(self) -> tuple[Pipeline, dict[Any, int]]:
        """Fit the preprocessing of ``prepare`` in one pass over the table.

        Means, variances and counts of categories are exact; medians, which replace missing
        values, are those of sketches; see ``QuantileSketch``.

        Returns
        -------
        pipeline : Pipeline
            As ``prepare(schema).fit(X)`` returns it.
        counts : dict
            The number of rows of each label.
        """
        statistics, counts = self._new_statistics(), Counter[Any]()
        for typed, y, _ in self._typed_batches():
            statistics.add(typed)
            labels, numbers_of_rows = np.unique(y, return_counts=True)
            counts.update(dict(zip(labels.tolist(), numbers_of_rows.tolist(), strict=True)))
        return fit_preparation(self.schema, statistics), dict(counts)

    def fit_fold_pipelines(self, n_folds: int, seed: int) -> FoldPipelines:
        """Fit the preprocessing to the training part of every fold, in one pass over the table.

        Parameters
        ----------
        n_folds : int
            The number of folds. A hash of a row's position says in which of them it is held out.
        seed : int
            Of the hash.

        Returns
        -------
        FoldPipelines
        """
        held_out = [self._new_statistics() for _ in range(n_folds)]
        parts: list[tuple[Array, Array]] = []
        for typed, y, places in self._typed_batches():
            folds = fold_numbers(places, n_folds, seed)
            for fold, statistics in enumerate(held_out):
                own = np.flatnonzero(folds == fold)
                statistics.add(typed.iloc[own])
            labels, numbers = np.unique(y, return_inverse=True)
            parts.append((labels, numbers.astype(np.int16)))
        classes = np.unique(np.concatenate([labels for labels, _ in parts]))
        codes = [np.searchsorted(classes, labels).astype(np.int16)[own] for labels, own in parts]
        empty = self._new_statistics()
        training = [
            sum((own for own in held_out if own is not left_out), start=empty)
            for left_out in held_out
        ]
        return FoldPipelines(
            tuple(fit_preparation(self.schema, own) for own in training),
            fit_preparation(self.schema, sum(held_out, start=empty)),
            classes,
            np.concatenate(codes),
        )

    def read_parts(self, pipeline: Pipeline) -> Iterator[RawPart]:
        """Yield the features of all rows as parts of a fit.

        Parameters
        ----------
        pipeline : Pipeline
            What ``fit_pipeline`` returned.

        Yields
        ------
        RawPart
        """
        for number, (X, y, weight) in enumerate(self.batches()):
            features = np.asarray(pipeline.transform(X), dtype=np.float64)
            yield read_part(number, features, y, weight)


def batch_rows(columns: Sequence[Column]) -> int:
    """Return the number of rows to read at a time.

    Parameters
    ----------
    columns : sequence of Column
        The columns that are used.

    Returns
    -------
    int
    """
    return max(1000, BATCH_CELLS // max(1, len(columns)))


def open_streamed(
    path: str | Path,
    target: str,
    options: ReadingOptions | None = None,
    weight: str | None = None,
) -> StreamedTable:
    """Open a Parquet file or folder; kinds of columns are inferred from rows all over it.

    Parameters
    ----------
    path : str or Path
        The file or folder.
    target : str
        The column of the labels.
    options : ReadingOptions, optional
        What is known of the columns.
    weight : str, optional
        The column of the sample weights, which is not a feature.

    Returns
    -------
    StreamedTable

    Raises
    ------
    WrongCall
        If the table is not a Parquet file or folder, or lacks one of these columns.
    """
    file, options = open_table(path), options or ReadingOptions()
    if file.form != "Parquet":
        raise WrongCall(
            f"{path} must be a Parquet file or folder to be streamed; it is {file.form}"
        )
    check_training(file, target, options)
    cells = read_spread(Path(path), INFERRED_ROWS)
    own = cells.pop(target)
    if weight is not None:
        if weight not in cells:
            raise WrongCall(f"{file.path} has no column {weight!r}{nearest(weight, cells)}")
        cells.pop(weight)
    if not cells:
        raise WrongCall(f"{file.path} has no columns other than {target!r}")
    labels = describe_labels(target, own, declared=True)
    schema = replace(describe_cells(cells, options, declared=True), labels=labels)
    n_rows = count_rows(list_parquet_files(path))
    return StreamedTable(file, schema, target, n_rows, tuple(reading_notices(schema)), weight)
