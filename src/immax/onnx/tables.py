"""Preprocessing as ONNX nodes: scaling, imputation, one-hot encoding, columns of a table."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from immax.onnx.graph import ML, Graph
from immax.tabular.pipeline import TypedColumns

__all__ = ["Columns", "add_columns", "add_transformer"]

Columns = dict[str, str]
"""The tensors of a table's columns, each of shape (n, 1), by name."""


def add_columns(graph: Graph, typed: TypedColumns) -> Columns:
    """Add an input for each column of a table: doubles for numbers and dates, strings for others.

    Parameters
    ----------
    graph : Graph
    typed : TypedColumns

    Returns
    -------
    dict of str to str
        The tensors of the columns by name.
    """
    numbers = [*(typed.numbers or []), *(typed.dates or [])]
    columns = {name: graph.input(name, 1) for name in numbers}
    return columns | {name: graph.input(name, 1, text=True) for name in typed.categories or []}


def add_transformer(graph: Graph, transformer: Any, X: str | Columns) -> str:
    """Add a fitted transformer of scikit-learn.

    Parameters
    ----------
    graph : Graph
    transformer : estimator
        A StandardScaler, SimpleImputer, OneHotEncoder, ColumnTransformer or pipeline of these.
    X : str, or dict of str to str
        A tensor of shape (n, d), or the columns of a table.

    Returns
    -------
    str
        The name of the features, of shape (n, d).

    Raises
    ------
    TypeError
        For any other transformer.
    """
    if isinstance(transformer, ColumnTransformer):
        return _add_column_transformer(graph, transformer, X)
    if isinstance(transformer, Pipeline):
        for _, step in transformer.steps:
            X = add_transformer(graph, step, X)
        return _joined(graph, X)
    if isinstance(transformer, OneHotEncoder):
        return _add_one_hot(graph, transformer, X)
    features = _joined(graph, X)
    if transformer in ("passthrough", None):
        return features
    if isinstance(transformer, StandardScaler):
        if transformer.mean_ is not None and transformer.with_mean:
            features = graph.add("Sub", features, graph.constant(transformer.mean_))
        if transformer.scale_ is not None and transformer.with_std:
            features = graph.add("Div", features, graph.constant(transformer.scale_))
        return features
    if isinstance(transformer, SimpleImputer):
        return _add_imputer(graph, transformer, features)
    raise TypeError(
        f"{type(transformer).__name__} cannot be exported to ONNX; StandardScaler, SimpleImputer, "
        "OneHotEncoder, ColumnTransformer and the preprocessing of immax.tabular can"
    )


def _joined(graph: Graph, X: str | Columns) -> str:
    return X if isinstance(X, str) else graph.add("Concat", *X.values(), axis=1)


def _add_imputer(graph: Graph, imputer: SimpleImputer, features: str) -> str:
    fill = np.asarray(imputer.statistics_, dtype=float)
    kept = np.isfinite(fill).all()
    missing_is_nan = isinstance(imputer.missing_values, float) and np.isnan(imputer.missing_values)
    if not kept or not missing_is_nan or imputer.add_indicator:
        raise TypeError(
            "SimpleImputer can be exported to ONNX for missing values that are NaN, with "
            "keep_empty_features=True and without an indicator"
        )
    missing = graph.add("IsNaN", features)
    return graph.add("Where", missing, graph.constant(fill), features)


def _add_column_transformer(graph: Graph, transformer: Any, X: str | Columns) -> str:
    parts = []
    for _, step, columns in transformer.transformers_:
        if step == "drop" or not len(columns):
            continue
        if isinstance(X, str):
            places = [int(column) for column in columns]
            chosen: str | Columns = graph.add("Gather", X, graph.integers(places), axis=1)
        else:
            chosen = {name: X[name] for name in columns}
        parts.append(add_transformer(graph, step, chosen))
    return parts[0] if len(parts) == 1 else graph.add("Concat", *parts, axis=1)


def _add_one_hot(graph: Graph, encoder: OneHotEncoder, X: str | Columns) -> str:
    """Add a one-hot encoder of strings; infrequent and unknown categories share a column."""
    if isinstance(X, str) or encoder.drop is not None:
        raise TypeError(
            "OneHotEncoder can be exported to ONNX for the string columns of a table, without drop"
        )
    rare = getattr(encoder, "infrequent_categories_", [None] * len(encoder.categories_))
    parts = []
    for tensor, categories, infrequent in zip(X.values(), encoder.categories_, rare, strict=True):
        own = [str(one) for one in categories if infrequent is None or one not in infrequent]
        hot = graph.add("OneHotEncoder", tensor, domain=ML, cats_strings=own, zeros=1)
        hot = graph.cast(graph.add("Reshape", hot, graph.integers([-1, len(own)])), "double")
        if infrequent is not None:
            known = graph.add("ReduceSum", hot, graph.integers([1]))
            other = graph.add("Sub", graph.constant(1.0), known)
            hot = graph.add("Concat", hot, other, axis=1)
        parts.append(hot)
    return parts[0] if len(parts) == 1 else graph.add("Concat", *parts, axis=1)
