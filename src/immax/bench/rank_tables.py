"""Ranks of methods over many data sets, and tests against a reference."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from immax.arrays import Array, Vector
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
    n_sets : int
        The number of data sets in the table.
    left_out : str
        A sentence on data sets and methods that are not finished, or empty.
    """

    table: Table
    ranks: Vector
    friedman_p: float
    n_sets: int
    left_out: str

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
        Data sets that no more than half of the methods have finished are left out, then methods
        that have not finished all others.
    """
    sign = METRICS[metric].sign
    values = results.matrix(model, test, metric, results.methods)
    finished = ~np.isnan(values)
    started = finished.any(axis=0)
    sets = finished.sum(axis=1) > started.sum() / 2
    complete = started & finished[sets].all(axis=0)
    methods = [method for method, keep in zip(results.methods, complete, strict=True) if keep]
    values = values[np.ix_(sets, complete)]
    header = ["method", f"mean {metric}", "mean rank", f"wins/ties/losses to {reference}"]
    header += ["Wilcoxon p", "after Holm"]
    title = f"{model}, {metric}"
    left_out = _left_out(results, finished, sets, complete)
    if not values.size:
        return RankTable(Table(title, header, []), np.array([]), 1.0, 0, left_out)
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
    table = Table(title, header, rows)
    return RankTable(table, ranks[order], friedman(sign * values), len(values), left_out)


def _left_out(results: Results, finished: Array, sets: Array, complete: Array) -> str:
    """Return a sentence on what is not finished and therefore not in the table."""
    parts = []
    if not sets.all():
        names = [name for name, keep in zip(results.columns, sets, strict=True) if not keep]
        parts.append(f"data sets that few methods have finished ({', '.join(names)})")
    counts = finished[sets].sum(axis=0)
    unfinished = [
        f"{name} ({count} of {sets.sum()} data sets)"
        for name, keep, count in zip(results.methods, complete, counts.tolist(), strict=True)
        if count and not keep
    ]
    if unfinished:
        parts.append(f"methods that are not finished: {', '.join(unfinished)}")
    return f"Left out: {'; '.join(parts)}." if parts else ""


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
