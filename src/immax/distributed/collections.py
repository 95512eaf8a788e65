"""Dask collections by partition: their labels, class counts and predictions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from immax.arrays import Array

try:
    import dask.array as da
    import dask.dataframe as dd
    import pandas as pd
    from dask import delayed
    from distributed import Client
except ModuleNotFoundError as error:
    raise ImportError('immax.distributed needs Dask: pip install "immax[distributed]"') from error

__all__ = [
    "align_collections",
    "check_collections",
    "count_classes",
    "encode_labels",
    "feature_names",
    "map_rows",
    "partitions_of",
    "repeat_rows",
]


def check_collections(X: Any) -> Any:
    """Check that features are a Dask collection.

    Parameters
    ----------
    X : dask.array.Array or dask.dataframe.DataFrame
        Features.

    Returns
    -------
    dask.array.Array or dask.dataframe.DataFrame
        The features, with all columns in one chunk.

    Raises
    ------
    TypeError
        If they are something else.
    """
    if not isinstance(X, (da.Array, dd.DataFrame)):
        raise TypeError(
            f"X must be a Dask array or data frame; got {type(X).__name__}: for data in memory, "
            "use the estimator of the same name without Dask, from immax or immax.boosting"
        )
    if isinstance(X, da.Array):
        if X.ndim != 2:
            raise ValueError(f"X must have two dimensions; got {X.ndim}")
        X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
    return X


def align_collections(X: Any, y: Any, sample_weight: Any = None, name: str = "y") -> list[Any]:
    """Bring features, labels and weights into the same partitions.

    Parameters
    ----------
    X : dask.array.Array or dask.dataframe.DataFrame
        Features.
    y : dask.array.Array or dask.dataframe.Series
        Labels.
    sample_weight : dask.array.Array or dask.dataframe.Series, optional
        Sample weights.
    name : str, default="y"
        What errors call the labels.

    Returns
    -------
    list of three
        The features, with all columns in one chunk, and the labels and weights in their
        partitions.

    Raises
    ------
    TypeError
        If something is not a Dask collection.
    ValueError
        If lengths differ, or partitions whose lengths are not known.
    """
    X = check_collections(X)
    columns = (name, y), ("sample_weight", sample_weight)
    return [X, *(None if own is None else _align(X, own, what) for what, own in columns)]


def _align(X: Any, values: Any, name: str) -> Any:
    if not isinstance(values, (da.Array, dd.Series)):
        raise TypeError(f"{name} must be a Dask array or series; got {type(values).__name__}")
    if values.ndim != 1:
        raise ValueError(f"{name} must have one dimension; got {values.ndim}")
    if isinstance(X, da.Array) and isinstance(values, da.Array):
        sizes = X.chunks[0], values.chunks[0]
        if not np.isnan([*sizes[0], *sizes[1]]).any():
            if sum(sizes[0]) != sum(sizes[1]):
                raise ValueError(
                    f"X and {name} must have as many rows; got {sum(sizes[0])} and {sum(sizes[1])}"
                )
            return values if sizes[0] == sizes[1] else values.rechunk((sizes[0],))
    if values.npartitions != X.npartitions:
        raise ValueError(
            f"{name} must have the {X.npartitions} partitions of X; got {values.npartitions}. "
            "Arrays whose compute_chunk_sizes() was called are brought into the same ones"
        )
    return values


def feature_names(X: Any) -> Array | None:
    """Return the names of the features of a data frame, or None if they are not all strings.

    Parameters
    ----------
    X : dask.array.Array or dask.dataframe.DataFrame
        Features.

    Returns
    -------
    ndarray of str, or None
    """
    names = list(getattr(X, "columns", ()))
    if not names or not all(isinstance(name, str) for name in names):
        return None
    return np.array(names, dtype=object)


def count_classes(y: Any, weight: Any, client: Client) -> tuple[Array, Array]:
    """Return the classes of all partitions, and the number or total weight of samples of each.

    Parameters
    ----------
    y : dask.array.Array or dask.dataframe.Series
        Labels.
    weight : dask.array.Array, dask.dataframe.Series or None
        Sample weights.
    client : distributed.Client

    Returns
    -------
    classes, counts : ndarray of shape (c,)
        Classes are sorted.
    """
    parts = partitions_of(y)
    weights = partitions_of(weight, len(parts))
    count = delayed(_count_part)
    tasks = [count(part, own) for part, own in zip(parts, weights, strict=True)]
    counted = [pair for pair in client.gather(client.compute(tasks)) if len(pair[0])]
    if not counted:
        raise ValueError("y has no samples")
    labels = np.concatenate([classes for classes, _ in counted])
    classes, places = np.unique(labels, return_inverse=True)
    counts = np.bincount(places.ravel(), np.concatenate([own for _, own in counted]))
    return classes, counts


def partitions_of(column: Any, number: int = 0) -> list[Any]:
    """Return the partitions of a column as delayed objects.

    Parameters
    ----------
    column : dask.array.Array, dask.dataframe.Series or None
    number : int, default=0
        The number of partitions of None, which are None each.

    Returns
    -------
    list
    """
    if column is None:
        return [None] * number
    if isinstance(column, da.Array):
        return list(np.ravel(column.to_delayed()))
    # Columns are selected where files are read, but Dask's own optimisation would also join the
    # partitions of few columns, and those of labels would not be those of the features any more.
    return list(column.simplify().to_delayed(optimize_graph=False))


def _count_part(y: Any, weight: Any) -> tuple[Array, Array]:
    labels = np.asarray(y)
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError("Input y contains NaN or infinity.")
    classes, places = np.unique(labels, return_inverse=True)
    weights = None if weight is None else np.asarray(weight, dtype=float)
    return classes, np.bincount(places.ravel(), weights, len(classes)).astype(float)


def encode_labels(y: Any, encode: Callable[[Array], Array]) -> Any:
    """Return class indices of labels, lazily, as a collection of the same kind.

    Parameters
    ----------
    y : dask.array.Array or dask.dataframe.Series
        Labels.
    encode : callable
        From an array of labels to one of class indices.

    Returns
    -------
    dask.array.Array or dask.dataframe.Series
    """
    if isinstance(y, da.Array):
        return y.map_blocks(_encode_block, encode, dtype=np.int64)
    return y.map_partitions(_encode_series, encode, meta=(y.name, np.int64))


def _encode_block(block: Array, encode: Callable[[Array], Array]) -> Array:
    return encode(block).astype(np.int64)


def _encode_series(part: Any, encode: Callable[[Array], Array]) -> Any:
    codes = encode(np.asarray(part)).astype(np.int64)
    return pd.Series(codes, index=part.index, name=part.name)


def repeat_rows(row: Array, like: Any) -> Any:
    """Return a row once for each entry of a collection, lazily.

    Parameters
    ----------
    row : ndarray of shape (c,)
    like : dask.array.Array or dask.dataframe.Series
        Whose number of rows and partitions are taken.

    Returns
    -------
    dask.array.Array of shape (n,) if the row has one entry, else (n, c)
    """
    column = like if isinstance(like, da.Array) else like.to_dask_array()
    if row.size == 1:
        return column.map_blocks(_repeat, row[0], dtype=np.float64)
    return column.map_blocks(
        _repeat, row, dtype=np.float64, new_axis=1, chunks=(column.chunks[0], (row.size,))
    )


def _repeat(block: Array, row: Array) -> Array:
    return np.full(len(block), row) if np.ndim(row) == 0 else np.tile(row, (len(block), 1))


def map_rows(function: Callable[[Any], Array], X: Any, sample: Array, columns: Any = None) -> Any:
    """Apply a function to the rows of a collection, lazily; the result has its kind and divisions.

    Parameters
    ----------
    function : callable
        From features in memory to one entry or one row of entries for each of their rows.
    X : dask.array.Array or dask.dataframe.DataFrame
        Features.
    sample : ndarray of shape (0,) or (0, c)
        An empty result, which shows shape and type.
    columns : sequence, optional
        Names of the columns of a data frame of results.

    Returns
    -------
    dask.array.Array, dask.dataframe.Series or dask.dataframe.DataFrame
    """
    if isinstance(X, da.Array):
        X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
        if sample.ndim == 1:
            return X.map_blocks(_apply, function, sample, drop_axis=1, dtype=sample.dtype)
        chunks = (X.chunks[0], (sample.shape[1],))
        return X.map_blocks(_apply, function, sample, dtype=sample.dtype, chunks=chunks)
    meta = _as_frame(sample, X._meta.index[:0], columns)
    return X.map_partitions(_apply_frame, function, sample, columns, meta=meta)


def _apply(block: Any, function: Callable[[Any], Array], sample: Array) -> Array:
    return function(block) if block.shape[0] else sample


def _apply_frame(part: Any, function: Callable[[Any], Array], sample: Array, columns: Any) -> Any:
    return _as_frame(function(part) if len(part) else sample, part.index, columns)


def _as_frame(values: Array, index: Any, columns: Any) -> Any:
    if values.ndim == 1:
        return pd.Series(values, index=index)
    return pd.DataFrame(values, index=index, columns=columns)
