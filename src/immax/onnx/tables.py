"""Preprocessing as ONNX nodes: scaling, imputation, one-hot encoding, columns of a table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from immax.onnx.graph import ML, Graph
from immax.tabular.columns import Column
from immax.tabular.conversion import LARGEST
from immax.tabular.pipeline import MISSING, TypedColumns

__all__ = ["Columns", "add_columns", "add_transformer"]

Columns = dict[str, str]
"""The tensors of a table's columns, each of shape (n, 1), by name."""


def add_columns(graph: Graph, typed: TypedColumns) -> Columns:
    """Add an input for each column of a table: doubles for numbers and dates, strings for others.

    Strings mean what they mean to the readers of tables: words for true and false are read in
    lower case, in upper case and with a capital, and those for missing values are missing.

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
    columns = {name: _read_numbers(graph, graph.input(name, 1)) for name in numbers}
    described = {column.name: column for column in typed.described_columns()}
    for name in typed.categories or []:
        columns[name] = _read_strings(graph, graph.input(name, 1, text=True), described[name])
    return columns


def _read_numbers(graph: Graph, tensor: str) -> str:
    """Add NaN in place of infinite and absurdly large numbers."""
    extreme = graph.add("Greater", graph.add("Abs", tensor), graph.constant(LARGEST))
    return graph.add("Where", extreme, graph.constant(np.nan), tensor)


def _read_strings(graph: Graph, tensor: str, column: Column) -> str:
    """Add the categories that strings stand for."""
    if column.kind != "boolean":
        if not column.missing:
            return tensor
        missing = graph.cast(_add_is_one_of(graph, tensor, column.missing), "bool")
        return graph.add("Where", missing, graph.constant(MISSING, object), tensor)
    read = dict.fromkeys([MISSING, *column.missing], MISSING)
    for value, word, digit in zip((True, False), column.words, "10", strict=True):
        read |= dict.fromkeys([str(value), word, word.upper(), word.title(), digit], str(value))
    return graph.add(
        "LabelEncoder",
        tensor,
        domain=ML,
        keys_strings=list(read),
        values_strings=list(read.values()),
        default_string="",
    )


def _add_is_one_of(graph: Graph, tensor: str, words: Iterable[object]) -> str:
    """Add integers: 1 where a string is one of the words, else 0."""
    keys = [str(word) for word in words]
    ones = {"keys_strings": keys, "values_int64s": [1] * len(keys), "default_int64": 0}
    return graph.add("LabelEncoder", tensor, domain=ML, **ones)


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
    if _does_nothing(transformer):
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
    fill = np.asarray(imputer.statistics_)
    fills_all = fill.dtype.kind in "fiu" and np.isfinite(fill).all()
    missing_is_nan = isinstance(imputer.missing_values, float) and np.isnan(imputer.missing_values)
    if not fills_all or not missing_is_nan or imputer.add_indicator:
        raise TypeError(
            "SimpleImputer can be exported to ONNX for numbers and missing values that are NaN, "
            "with keep_empty_features=True and without an indicator"
        )
    missing = graph.add("IsNaN", features)
    return graph.add("Where", missing, graph.constant(fill), features)


def _does_nothing(transformer: Any) -> bool:
    """Return whether a step passes features through; fitted column transformers have functions."""
    if isinstance(transformer, FunctionTransformer):
        return transformer.func is None
    return transformer is None or isinstance(transformer, str)


def _add_column_transformer(graph: Graph, transformer: Any, X: str | Columns) -> str:
    """Add the parts of a column transformer, whose columns scikit-learn has resolved in ``fit``."""
    parts = []
    for name, step, _ in transformer.transformers_:
        places = [int(place) for place in transformer._transformer_to_input_indices[name]]
        if (isinstance(step, str) and step == "drop") or not places:
            continue
        if isinstance(X, str):
            chosen: str | Columns = graph.add("Gather", X, graph.integers(places), axis=1)
        else:
            tensors = list(X.values())
            chosen = {str(order): tensors[place] for order, place in enumerate(places)}
        part = add_transformer(graph, step, chosen)
        weight = (transformer.transformer_weights or {}).get(name)
        parts.append(part if weight is None else _scaled(graph, part, weight))
    return parts[0] if len(parts) == 1 else graph.add("Concat", *parts, axis=1)


def _scaled(graph: Graph, features: str, weight: float) -> str:
    return graph.add("Mul", features, graph.constant(weight))


def _add_one_hot(graph: Graph, encoder: OneHotEncoder, X: str | Columns) -> str:
    """Add a one-hot encoder of strings; infrequent categories share a column.

    Unknown categories are in it too, unless they are ignored.
    """
    strings = all(np.asarray(own).dtype.kind in "OU" for own in encoder.categories_)
    if isinstance(X, str) or not strings or encoder.drop is not None:
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
            if encoder.handle_unknown == "ignore":
                other = graph.cast(_add_is_one_of(graph, tensor, infrequent), "double")
            else:
                known = graph.add("ReduceSum", hot, graph.integers([1]))
                other = graph.add("Sub", graph.constant(1.0), known)
            hot = graph.add("Concat", hot, other, axis=1)
        parts.append(hot)
    return parts[0] if len(parts) == 1 else graph.add("Concat", *parts, axis=1)
