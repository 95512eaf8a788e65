"""Means over runs beside the paper's figures, and differences between methods."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import stats

from immax.arrays import Vector
from immax.bench.paper import paper_figure
from immax.bench.results import Results
from immax.bench.table import Table, bold
from immax.evaluation.metrics import METRICS
from immax.evaluation.statistics import holm, paired_interval

__all__ = ["difference_table", "format_mean", "mean_table", "surely_best"]

LEVEL = 0.05  # of significance


def mean_table(results: Results, model: str, test: str, metric: str = "accuracy") -> Table:
    """Return means and standard deviations over runs, beside the paper's figures.

    Parameters
    ----------
    results : Results
    model, test : str
    metric : str, default="accuracy"

    Returns
    -------
    Table
        A row for each method. A figure is bold if the method is significantly better than every
        other, see ``surely_best``.
    """
    methods = [m for m in results.methods if any(results.of(c, model, m) for c in results.columns)]
    header = ["method"]
    columns: list[list[str]] = []
    for column in results.columns:
        best = surely_best(results, column, model, methods, test, metric)
        texts = [
            format_mean(results.values(column, model, method, test, metric), metric)
            for method in methods
        ]
        marked = zip(methods, texts, strict=True)
        columns.append([bold(text) if method == best else text for method, text in marked])
        header.append(column)
        figures = [_paper(results, column, model, method, test, metric) for method in methods]
        if any(figures):
            columns.append(figures)
            header.append("the paper's")
    rows = [list(row) for row in zip(methods, *columns, strict=True)]
    return Table(f"{model}, {test} test, {metric}", header, rows)


def _paper(results: Results, column: str, model: str, method: str, test: str, metric: str) -> str:
    runs = results.of(column, model, method)
    figure = paper_figure(runs[0].cell, test, metric) if runs else None
    return "" if figure is None else f"{figure[0]:.2f} ± {figure[1]:.2f}"


def format_mean(values: Vector, metric: str, deviation: bool = True) -> str:
    """Return the mean of values in the digits of a metric.

    Parameters
    ----------
    values : ndarray of shape (n,)
    metric : str
    deviation : bool, default=True
        Whether the standard deviation follows, if there are two values or more.

    Returns
    -------
    str
        A dash if there are no values.
    """
    if not values.size or np.isnan(values).all():
        return "–"
    scale, digits = METRICS[metric].factor, METRICS[metric].digits
    text = f"{scale * values.mean():.{digits}f}"
    if values.size < 2 or not deviation:
        return text
    return f"{text} ± {scale * values.std(ddof=1):.{digits}f}"


def surely_best(
    results: Results, column: str, model: str, methods: Sequence[str], test: str, metric: str
) -> str | None:
    """Return the method that is significantly better than every other.

    By one-sided paired t-tests at the level 0.05, with Holm's correction for their number.

    Parameters
    ----------
    results : Results
    column, model : str
    methods : sequence of str
        Those that do not have the metric in every run are left out.
    test, metric : str

    Returns
    -------
    str or None
        None if no method is, or if fewer than two methods have the metric.
    """
    means = {
        method: values.mean()
        for method in methods
        if (values := results.values(column, model, method, test, metric)).size
        and not np.isnan(values).any()
    }
    if len(means) < 2:
        return None
    sign = METRICS[metric].sign
    best = max(means, key=lambda method: sign * means[method])
    p_values = [
        _p_greater(sign * results.differences(column, model, (best, other), test, metric))
        for other in means
        if other != best
    ]
    return best if (holm(p_values) < LEVEL).all() else None


def _p_greater(differences: Vector) -> float:
    """Return the p-value of the hypothesis that the mean difference is zero or less."""
    if differences.size < 2 or not differences.any():
        return 1.0
    if np.ptp(differences) == 0:
        return 0.0 if differences[0] > 0 else 1.0
    return float(stats.ttest_1samp(differences, 0, alternative="greater").pvalue)


def difference_table(
    results: Results, model: str, test: str, reference: str, metric: str = "accuracy"
) -> Table:
    """Return the mean paired differences of a method from the others, with intervals.

    Parameters
    ----------
    results : Results
    model, test : str
    reference : str
        The method that the others are subtracted from.
    metric : str, default="accuracy"

    Returns
    -------
    Table
        A row for each other method.
    """
    rows = []
    for method in results.methods:
        if method != reference:
            pair = (reference, method)
            differences = [
                results.differences(column, model, pair, test, metric) for column in results.columns
            ]
            rows.append([method, *(_format_difference(own, metric) for own in differences)])
    return Table(f"{reference} minus", [f"{reference} minus", *results.columns], rows)


def _format_difference(differences: Vector, metric: str) -> str:
    if not differences.size or np.isnan(differences).any():  # one of the two has no such metric
        return "–"
    digits = METRICS[metric].digits
    d = METRICS[metric].factor * differences
    if d.size < 2:
        return f"{d[0]:+.{digits}f}"
    low, high = paired_interval(d)
    return f"{d.mean():+.{digits}f} [{low:+.{digits}f}, {high:+.{digits}f}]"
