"""The data of ``immax compare``: read, sampled if there are many rows, and described."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from immax.errors import WrongCall
from immax.tabular import ReadingOptions, Schema

if TYPE_CHECKING:
    from pandas import DataFrame, Series

__all__ = ["ComparisonData", "read_comparison_data"]


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
        raise WrongCall("name the column of the labels with --target")
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
