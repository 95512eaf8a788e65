"""The data of ``immax compare``: in memory, sampled if there are many rows, or streamed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from immax.arrays import Array
from immax.errors import WrongCall
from immax.tabular import ReadingOptions, Schema, as_labels

if TYPE_CHECKING:
    from pandas import DataFrame, Series

    from immax.compare import Comparison, Protocol
    from immax.tabular.streamed_table import FoldPipelines, StreamedTable

__all__ = [
    "MOST_ROWS",
    "ComparisonData",
    "StreamedData",
    "open_comparison_data",
    "read_comparison_data",
    "streams_by_itself",
]

NO_TARGET = "name the column of the labels with --target"
MOST_ROWS = 100_000
"""The number of rows above which a table is streamed if it can be, and sampled if not."""


@dataclass(frozen=True, eq=False)
class ComparisonData:
    """A table with its labels.

    Attributes
    ----------
    X : DataFrame
    y : Series
    schema : Schema
        The columns of ``X``.
    source, target : str
        The name of the data, and of the column of labels.
    notices : tuple of str
        What the user should know: columns that are left out, and whether rows were sampled.
    """

    X: DataFrame
    y: Series
    schema: Schema
    source: str
    target: str
    notices: tuple[str, ...]

    @cached_property
    def classes(self) -> Array:
        """Return the labels."""
        return np.unique(as_labels(self.y))

    def compare(self, protocol: Protocol, n_jobs: int, **options: Any) -> Comparison:
        """Compare methods on the table.

        Parameters
        ----------
        protocol : Protocol
            How they are compared.
        n_jobs : int
            The number of processes.
        **options
            Other arguments of ``immax.compare.compare``.

        Returns
        -------
        Comparison
        """
        from immax.compare import compare

        return compare(
            self.X,
            self.y,
            schema=self.schema,
            protocol=protocol,
            n_jobs=n_jobs,
            on_fold=lambda *_: _load_writers(),  # while the other processes have work
            **options,
        )


@dataclass(frozen=True, eq=False)
class StreamedData:
    """A Parquet table that is read in batches, with the attributes of ``ComparisonData``.

    Attributes
    ----------
    table : StreamedTable
    folds, seed : int
        Those of the protocol.
    source, target : str
        The name of the data, and of the column of labels.
    notices : tuple of str
    """

    table: StreamedTable
    folds: int
    seed: int
    source: str
    target: str
    notices: tuple[str, ...]

    @cached_property
    def _found(self) -> FoldPipelines:
        return self.table.fit_fold_pipelines(self.folds, self.seed)

    @property
    def classes(self) -> Array:
        """Return the labels, after one pass over the table."""
        return self._found.classes

    def compare(self, protocol: Protocol, n_jobs: int, **options: Any) -> Comparison:
        """Compare methods on the rows of the files.

        Parameters
        ----------
        protocol : Protocol
            How they are compared.
        n_jobs : int
            The number of threads; all fits are made in this process.
        **options
            Other arguments of ``immax.compare.compare_streamed``.

        Returns
        -------
        Comparison
        """
        from threadpoolctl import threadpool_limits

        from immax.compare import compare_streamed
        from immax.helper_processes import stop_waiting

        stop_waiting()  # all fits are made by this process
        _load_writers()
        with threadpool_limits(n_jobs):
            return compare_streamed(self.table, self._found, protocol=protocol, **options)


@cache
def _load_writers() -> None:
    """Import what the model file and the report need; what is missing is known before the work."""
    from immax.io import require_skops
    from immax.report.page import load_libraries

    require_skops()
    load_libraries()


def streams_by_itself(file: Path | None, methods: Sequence[str] | None) -> bool:
    """Return whether a table is streamed unless the user says otherwise.

    Parameters
    ----------
    file : Path or None
    methods : sequence of str or None
        The methods that were asked for.

    Returns
    -------
    bool
        True for Parquet tables of more than ``MOST_ROWS`` rows, or of more cells than fit in
        memory, if one of the methods that were asked for can be streamed.
    """
    from immax.cli.streamed_fit import is_parquet, must_stream
    from immax.distributed.parquet_files import count_rows, list_parquet_files
    from immax.evaluation.candidates import CANDIDATES, PLAIN

    if file is None or not is_parquet(file):
        return False
    if methods is not None and not any(
        name == "all" or (name in CANDIDATES and CANDIDATES[name].streams and name != PLAIN)
        for name in methods
    ):
        return False
    try:
        return count_rows(list_parquet_files(file)) > MOST_ROWS or must_stream(file)
    except (OSError, ValueError):
        return False  # the reader will say what is wrong


def open_comparison_data(
    file: Path | None,
    target: str | None,
    folds: int,
    seed: int,
    options: ReadingOptions | None = None,
) -> StreamedData:
    """Open a Parquet table that is to be read in batches.

    Parameters
    ----------
    file : Path or None
        The file or folder.
    target : str or None
        The column of the labels.
    folds, seed : int
        Those of the protocol.
    options : ReadingOptions, optional
        What is known of the columns.

    Returns
    -------
    StreamedData

    Raises
    ------
    WrongCall
        If there is no file or no target, or the table cannot be streamed.
    """
    from immax.tabular.streamed_table import open_streamed

    if file is None:
        raise WrongCall("--stream is for a Parquet file or folder: which one?")
    if target is None:
        raise WrongCall(NO_TARGET)
    table = open_streamed(file, target, options)
    notice = (
        f"{table.n_rows:,} rows are streamed: methods that need all of them in memory are left out "
        "(--rows compares them on a sample)"
    )
    return StreamedData(table, folds, seed, file.name, target, (*table.notices, notice))


def read_comparison_data(
    file: Path | None,
    target: str | None,
    rows: int,
    seed: int,
    options: ReadingOptions | None = None,
) -> ComparisonData:
    """Read a table, sample its rows if there are too many, and describe its columns.

    Parameters
    ----------
    file : Path or None
        The table; None for the page blocks, which come with the package.
    target : str or None
        The column of the labels.
    rows : int
        The maximum number of rows. Samples are stratified.
    seed : int
        The seed of the sample.
    options : ReadingOptions, optional
        What is known of the columns. Kinds are inferred from all rows, before any are sampled.

    Returns
    -------
    ComparisonData

    Raises
    ------
    WrongCall
        If there is a file but no target, or a target but no file.
    """
    from immax.datasets.page_blocks import PAGE_BLOCKS
    from immax.tabular import read_training_table

    if file is None and target is not None:
        raise WrongCall(f"--target {target} names a column of a file: which file?")
    source = "the page blocks" if file is None else file.name
    if file is None:
        file, target = PAGE_BLOCKS, "kind"
    elif target is None:
        raise WrongCall(NO_TARGET)
    table = read_training_table(file, target, options)
    X, y = table.X, table.y
    sampled = []
    if len(X) > rows:
        sampled = [f"{len(X):,} rows are many: a sample of {rows:,} is used (--rows)"]
        X, y = _sample(X, y, rows, seed)
    X, y = X.reset_index(drop=True), y.reset_index(drop=True)
    return ComparisonData(X, y, table.schema, source, target, (*table.notices, *sampled))


def _sample(X: DataFrame, y: Series, rows: int, seed: int) -> tuple[DataFrame, Series]:
    """Return a stratified sample; a class with a single row cannot be part of it."""
    from sklearn.model_selection import train_test_split

    common = y.map(y.value_counts()) > 1
    X, _, y, _ = train_test_split(
        X[common], y[common], train_size=rows, stratify=y[common], random_state=seed
    )
    return X, y
