"""Linear classifiers fitted to tables in Parquet files, and their predictions for such tables."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np

from immax.arrays import Array
from immax.distributed.local_copies import take_attributes
from immax.distributed.parquet_files import check_column_names
from immax.distributed.spools import Spool
from immax.distributed.stream_parts import StreamParts, read_ahead
from immax.tabular.columns import Schema
from immax.tabular.reading import read_by_schema
from immax.tabular.streamed_table import batch_rows, open_streamed

__all__ = ["fit_table", "score_table"]


def fit_table(
    estimator: Any, parted: type[Any], path: str | Path, target: str, weight: str | None = None
) -> None:
    """Fit a linear classifier, or a search, to all rows of a table that may exceed the memory.

    The preprocessing is that of ``prepare``. It is fitted in one pass over the files; the features
    are computed in a second one, and kept in a temporary file for those of the fit.

    Parameters
    ----------
    estimator : IMMAXClassifier or IMMAXClassifierCV
        What is fitted. Its ``preparation_`` is the fitted preprocessing.
    parted : type
        The class that fits rows in parts, which has all parameters that it reads.
    path : str or Path
        A Parquet file or folder.
    target : str
        The column of the labels.
    weight : str, optional
        The column of the sample weights. The preprocessing does not use them.

    Warns
    -----
    UserWarning
        If columns are left out, with the reasons.
    """
    check_column_names(path, target, weight)
    fitted = parted()
    vars(fitted).update(vars(estimator))  # callbacks, and what a warm start needs, too
    fitted._check_parted()
    table = open_streamed(path, target, weight=weight)
    left_out = [f"{column.name!r}: {column.why}" for column in table.schema.left_out()]
    if left_out:
        warnings.warn(f"columns are left out: {'; '.join(left_out)}", UserWarning, stacklevel=4)
    preparation, _ = table.fit_pipeline()
    spool = Spool(lambda: table.read_parts(preparation))
    try:
        fitted._fit_parts(StreamParts(spool.read))
    finally:
        spool.close()
    take_attributes(estimator, fitted)
    names = np.array([column.name for column in table.schema.used()], dtype=object)
    chosen = _chosen(estimator)
    for model in (estimator, *chosen):
        model.n_features_in_, model.feature_names_in_ = len(names), names
    for model in chosen if hasattr(estimator, "refit") else [estimator]:
        model.preparation_ = preparation


def _chosen(estimator: Any) -> list[Any]:
    """Return the classifiers that a search has fitted; a classifier by itself has none."""
    if not getattr(estimator, "refit", False):
        return []
    return [estimator.best_estimator_, estimator.probability_estimator_]


def score_table(model: Any, path: str | Path) -> Array:
    """Return the scores of the rows of a table, which is read in parts.

    Parameters
    ----------
    model : IMMAXClassifier
        Fitted by ``fit_table``.
    path : str or Path
        A table in any format that ``immax predict`` reads, or a folder of Parquet files.

    Returns
    -------
    ndarray of shape (n,) or (n, n_classes)
        Those of ``decision_function``, in the order of the files and their rows.

    Raises
    ------
    SchemaError
        If the table lacks a column that the model needs.
    ValueError
        If it has no rows.
    """
    columns = model.preparation_["types"].described_columns()
    frames = read_by_schema(path, Schema(tuple(columns)), batch_rows(columns))
    scores = [model.decision_function(X) for X in read_ahead(frames) if len(X)]
    if not scores:
        raise ValueError(f"{path} has no rows")
    return np.concatenate(scores)
