"""The preprocessing of a table, made of statistics of its columns instead of its rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from sklearn.pipeline import Pipeline

from immax.optional import optional_import
from immax.tabular.column_statistics import ColumnStatistics
from immax.tabular.columns import Schema
from immax.tabular.number_formats import NEEDS_ARROW
from immax.tabular.pipeline import MAX_CATEGORIES, MIN_FREQUENCY, prepare

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["fit_preparation"]


def fit_preparation(schema: Schema, statistics: ColumnStatistics) -> Pipeline:
    """Return the preprocessing of ``prepare`` as it is fitted to rows with these statistics.

    Parameters
    ----------
    schema : Schema
        The columns of the table.
    statistics : ColumnStatistics
        Of all rows.

    Returns
    -------
    Pipeline
        As ``prepare(schema).fit(X)`` returns it.
    """
    pipeline = prepare(schema)
    pipeline["types"].fit(None)
    features = pipeline["features"]
    features.fit(_representative_rows(statistics))
    for name, fitted, columns in features.transformers_:
        if name == "numbers":
            _set_moments(fitted, statistics, columns)
    return pipeline


def _representative_rows(statistics: ColumnStatistics) -> DataFrame:
    """Return a small table whose medians and frequent categories are those of all rows.

    An encoder needs the order of the counts only, and whether they reach its least frequency.
    """
    pandas = optional_import("pandas", NEEDS_ARROW)
    few = {name: _few_of_each(statistics.counts[name]) for name in statistics.categories}
    n = max([1, *map(len, few.values())])
    numbers = np.full((n, len(statistics.numbers)), np.nan)
    numbers[0] = statistics.medians()
    frame = pandas.DataFrame(numbers, columns=statistics.numbers)
    for name, own in few.items():
        frame[name] = np.array([*own, *[own[0]] * (n - len(own))], dtype=object)
    return frame


def _few_of_each(counts: dict[str, int]) -> list[str]:
    """Return every category at least once, more often the more frequent it is; that one first."""
    names = sorted(counts)
    order = np.argsort([counts[name] for name in names], kind="mergesort")
    few: list[str] = []
    frequent = [names[i] for i in order if counts[names[i]] >= MIN_FREQUENCY]
    for name in names:
        if counts[name] < MIN_FREQUENCY:
            few += [name] * counts[name]
    shown = frequent[-MAX_CATEGORIES:]
    for name in frequent[: len(frequent) - len(shown)]:
        few += [name] * MIN_FREQUENCY
    for rank, name in enumerate(shown):
        few += [name] * (MIN_FREQUENCY + 1 + rank)
    return few[::-1]


def _set_moments(fitted: Pipeline, statistics: ColumnStatistics, columns: Sequence[str]) -> None:
    """Give the scaler of the numbers the means and variances of all rows."""
    imputer, scaler = fitted["impute"], fitted["scale"]
    order = [statistics.numbers.index(name) for name in columns]
    fill = np.zeros(len(statistics.numbers))
    fill[order] = imputer.statistics_
    means, variances = statistics.imputed_moments(np.nan_to_num(fill))
    scaler.mean_, scaler.var_ = means[order], variances[order]
    scale = np.sqrt(scaler.var_)
    constant = scaler.var_ <= (10 * np.finfo(float).eps * scaler.mean_) ** 2
    scaler.scale_ = np.where(constant | (scale == 0), 1.0, scale)
    scaler.n_samples_seen_ = np.int64(statistics.n_rows)
