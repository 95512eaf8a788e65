"""All tables of a plan's results for a metric, and all values as CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import replace

from immax.bench.mean_tables import difference_table, mean_table
from immax.bench.outcomes import Record
from immax.bench.rank_tables import rank_table
from immax.bench.results import Results
from immax.bench.sections import TRAINING
from immax.bench.table import Table

__all__ = ["MANY", "long_csv", "result_tables"]

OF_TRAINING = ("accuracy", "log_loss")  # the metrics that tables show of the training set
MANY = 12
"""The number of data sets from which on tables show ranks instead of a column for each."""


def result_tables(results: Results, metric: str, reference: str) -> list[Table]:
    """Return the tables for a metric: means and differences, or ranks over many data sets.

    Parameters
    ----------
    results : Results
    metric : str
    reference : str
        The method that others are compared with.

    Returns
    -------
    list of Table
        Of the training set, only for accuracy and log-loss.
    """
    tables = []
    for model in results.models:
        for test in results.tests:
            if test == TRAINING and metric not in OF_TRAINING:
                continue
            if len(results.columns) >= MANY:
                ranked = rank_table(results, model, test, metric, reference)
                note = f" ({ranked.left_out})" if ranked.left_out else ""
                tables.append(replace(ranked.table, title=ranked.table.title + note))
                continue
            tables.append(mean_table(results, model, test, metric))
            if any(results.of(column, model, reference) for column in results.columns):
                tables.append(difference_table(results, model, test, reference, metric))
    return tables


def long_csv(records: Sequence[Record]) -> str:
    """Return every metric of every cell as comma-separated values, one row each.

    Parameters
    ----------
    records : sequence of Record

    Returns
    -------
    str
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    header = ["cell", "data", "variant", "model", "method", "run", "chosen", "test", "metric"]
    writer.writerow([*header, "value", "seconds", "memory_mib"])
    for record in records:
        cell = record.cell
        variant = json.dumps(cell.to_json()["variant"])
        base = [cell.id, cell.data.name, variant, cell.model, cell.method]
        base += [getattr(cell, "run", ""), json.dumps(record.result.chosen)]
        for name, test in record.result.tests.items():
            for metric, value in test.metrics.items():
                writer.writerow([*base, name, metric, value, record.seconds, record.memory])
    return text.getvalue()
