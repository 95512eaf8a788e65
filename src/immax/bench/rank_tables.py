"""Ranks of methods over many data sets, and tests against a reference."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from immax.arrays import Vector
from immax.bench.mean_tables import format_mean
from immax.bench.results import Results
from immax.bench.table import Table
from immax.evaluation.metrics import METRICS
from immax.evaluation.statistics import average_ranks, compare_to, friedman, holm

__all__ = ["RankTable", "rank_table"]


@dataclass(frozen=True)
class RankTable:
    """Methods by their mean rank.

    Parameters
    ----------
    table : Table
        The best method first.
    ranks : ndarray of shape (n_methods,)
        Mean ranks, in the order of the table.
    friedman_p : float
        The p-value of Friedman's test that all methods are alike.
    """

    table: Table
    ranks: Vector
    friedman_p: float

    @property
    def methods(self) -> list[str]:
        """The methods, in the order of the table."""
        return [row[0] for row in self.table.rows]


def rank_table(results: Results, model: str, test: str, metric: str, reference: str) -> RankTable:
    """Return means and mean ranks over data sets, and tests of each method against a reference.

    Parameters
    ----------
    results : Results
    model, test, metric : str
    reference : str
        The method that others are compared with, by Wilcoxon's signed-rank test with Holm's
        correction. Without it the table has no comparisons.

    Returns
    -------
    RankTable
        Methods that lack the metric on some data set are left out.
    """
    sign = METRICS[metric].sign
    methods = [
        method
        for method in results.methods
        if not np.isnan(results.matrix(model, test, metric, [method])).any()
    ]
    values = results.matrix(model, test, metric, methods)
    header = ["method", f"mean {metric}", "mean rank", f"wins/ties/losses to {reference}"]
    header += ["Wilcoxon p", "after Holm"]
    if not methods:
        return RankTable(Table(f"{model}, {metric}", header, []), np.array([]), 1.0)
    ranks = average_ranks(sign * values)
    comparisons = _comparisons(methods, sign * values, reference)
    order = np.argsort(ranks, kind="stable")
    rows = [
        [
            methods[i],
            format_mean(values[:, i], metric, deviation=False),
            f"{ranks[i]:.2f}",
            *comparisons.get(methods[i], ("", "", "")),
        ]
        for i in order
    ]
    table = Table(f"{model}, {metric}", header, rows)
    return RankTable(table, ranks[order], friedman(sign * values))


def _comparisons(methods: list[str], values: Vector, reference: str) -> dict[str, tuple[str, ...]]:
    """Return wins, ties and losses, the p-value and its correction, for every other method."""
    if reference not in methods:
        return {}
    own = values[:, methods.index(reference)]
    others = [name for name in methods if name != reference]
    compared = [compare_to(values[:, methods.index(name)], own) for name in others]
    corrected = holm([one.p for one in compared])
    return {
        name: (f"{one.wins}/{one.ties}/{one.losses}", _format_p(one.p), _format_p(p))
        for name, one, p in zip(others, compared, corrected.tolist(), strict=True)
    }


def _format_p(value: float) -> str:
    return f"{value:.2g}" if value >= 1e-3 else f"{value:.0e}"
