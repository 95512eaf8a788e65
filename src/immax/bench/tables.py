"""Results as tables, in Markdown, LaTeX and CSV."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from immax.arrays import Array
from immax.bench.paper import paper_figure
from immax.bench.store import Record
from immax.evaluation.metrics import METRICS
from immax.evaluation.statistics import (
    average_ranks,
    compare_to,
    friedman,
    holm,
    paired_interval,
)

__all__ = [
    "Results",
    "Table",
    "difference_table",
    "long_csv",
    "mean_table",
    "rank_table",
    "result_tables",
]

LEVEL = 0.05


@dataclass(frozen=True)
class Table:
    """Cells of text; bold ones begin with an asterisk."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]

    def markdown(self) -> str:
        lines = [f"| {' | '.join(self.header)} |", "| --- " * len(self.header) + "|"]
        for row in self.rows:
            cells = [f"**{cell[1:]}**" if cell.startswith("*") else cell for cell in row]
            lines.append(f"| {' | '.join(cells)} |")
        return "\n".join(lines) + "\n"

    def latex(self) -> str:
        lines = [f"\\begin{{tabular}}{{{'l' * len(self.header)}}}", "\\toprule"]
        lines.append(" & ".join(_escaped(cell) for cell in self.header) + " \\\\")
        lines.append("\\midrule")
        for row in self.rows:
            cells = [
                f"\\textbf{{{_escaped(cell[1:])}}}" if cell.startswith("*") else _escaped(cell)
                for cell in row
            ]
            lines.append(" & ".join(cells) + " \\\\")
        return "\n".join([*lines, "\\bottomrule", "\\end{tabular}", ""])

    def csv(self) -> str:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.header)
        writer.writerows([cell.lstrip("*") for cell in row] for row in self.rows)
        return text.getvalue()


def _escaped(text: str) -> str:
    for plain, special in (("\\", "\\textbackslash "), ("_", "\\_"), ("%", "\\%"), ("±", "$\\pm$")):
        text = text.replace(plain, special)
    return text


class Results:
    """Final cells, by column (data and what was done to them), model and method."""

    def __init__(self, records: Sequence[Record]) -> None:
        self.records = [record for record in records if "tests" in record.result]
        self.methods = _distinct(record.cell.spec["method"] for record in self.records)
        self.models = _distinct(record.cell.spec["model"] for record in self.records)
        self.columns = _distinct(column_of(record) for record in self.records)
        self.tests = _distinct(name for record in self.records for name in record.result["tests"])
        self._by: dict[tuple[str, str, str], list[Record]] = {}
        for record in self.records:
            key = (column_of(record), record.cell.spec["model"], record.cell.spec["method"])
            self._by.setdefault(key, []).append(record)

    def of(self, column: str, model: str, method: str) -> list[Record]:
        """Its runs (and outer folds), in order."""
        found = self._by.get((column, model, method), [])
        return sorted(found, key=_place)

    def values(self, column: str, model: str, method: str, test: str, metric: str) -> Array:
        """A measure of each run."""
        found = [
            record.result["tests"][test].get(metric) for record in self.of(column, model, method)
        ]
        return np.array([np.nan if value is None else value for value in found], dtype=float)

    def matrix(self, model: str, test: str, metric: str, methods: Sequence[str]) -> Array:
        """Mean over runs: columns by methods."""
        return np.array(
            [
                [
                    values.mean()
                    if (values := self.values(column, model, method, test, metric)).size
                    else np.nan
                    for method in methods
                ]
                for column in self.columns
            ]
        )

    def differences(
        self, column: str, model: str, pair: tuple[str, str], test: str, metric: str
    ) -> Array:
        """Paired differences of two methods: of every test sample for accuracy, else of runs."""
        one, two = (self.of(column, model, method) for method in pair)
        keys = [_place(record) for record in one]
        if keys != [_place(record) for record in two] or not keys:
            return np.array([])
        if metric == "accuracy" and all(test in record.labels for record in (*one, *two)):
            parts = []
            for first, second in zip(one, two, strict=True):
                truth = first.labels[f"{test} true"]
                right = [(record.labels[test] == truth).astype(float) for record in (first, second)]
                parts.append(right[0] - right[1])
            if len({len(part) for part in parts}) == 1 and _same_test(one, test):
                return np.mean(parts, axis=0)  # runs share their test samples
            return np.concatenate(parts)
        return self.values(column, model, pair[0], test, metric) - self.values(
            column, model, pair[1], test, metric
        )


def _same_test(records: Sequence[Record], test: str) -> bool:
    first = records[0].labels[f"{test} true"]
    return all(np.array_equal(first, record.labels[f"{test} true"]) for record in records)


def _place(record: Record) -> tuple[int, int]:
    return int(record.cell.spec.get("run", 0)), int(record.cell.spec["variant"].get("fold", 0))


def column_of(record: Record) -> str:
    """What the data are, without folds and runs."""
    spec = record.cell.spec
    variant = {key: value for key, value in spec["variant"].items() if key != "fold"}
    if "set" in variant:
        return str(variant["set"])
    words = [spec["data"]["name"]]
    if variant.get("kind", "none") != "none":
        words += [variant.get("class") or f"{variant['kind']} {variant['ratio']:g}"]
    return " ".join(words)


def _distinct(values: Any) -> list[str]:
    return list(dict.fromkeys(values))


def mean_table(results: Results, model: str, test: str, metric: str = "accuracy") -> Table:
    """Mean ± deviation over runs, with the paper's figures; bold only what is surely best."""
    methods = [m for m in results.methods if any(results.of(c, model, m) for c in results.columns)]
    has_paper = [
        any(_paper(results, column, model, method, test, metric) for method in methods)
        for column in results.columns
    ]
    header = ["method"]
    for column, beside in zip(results.columns, has_paper, strict=True):
        header += [column, "the paper's"] if beside else [column]
    best = {
        column: surely_best(results, column, model, methods, test, metric)
        for column in results.columns
    }
    rows = []
    for method in methods:
        row = [method]
        for column, beside in zip(results.columns, has_paper, strict=True):
            text = _mean(results.values(column, model, method, test, metric), metric)
            row.append(f"*{text}" if best[column] == method else text)
            if beside:
                figure = _paper(results, column, model, method, test, metric)
                row.append(f"{figure[0]:.2f} ± {figure[1]:.2f}" if figure else "")
        rows.append(row)
    return Table(f"{model}, {test} test, {metric}", header, rows)


def _paper(
    results: Results, column: str, model: str, method: str, test: str, metric: str
) -> tuple[float, float] | None:
    found = results.of(column, model, method)
    return paper_figure(found[0].cell.spec, test, metric) if found else None


def _mean(values: Array, metric: str) -> str:
    if not values.size or np.isnan(values).all():
        return "–"
    scale, digits = METRICS[metric].factor, METRICS[metric].digits
    text = f"{scale * values.mean():.{digits}f}"
    return text if values.size < 2 else f"{text} ± {scale * values.std(ddof=1):.{digits}f}"


def surely_best(
    results: Results, column: str, model: str, methods: Sequence[str], test: str, metric: str
) -> str | None:
    """The method that is significantly better than every other, by paired t-tests and Holm."""
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
    p_values = []
    for other in means:
        if other != best:
            d = sign * results.differences(column, model, (best, other), test, metric)
            p_values.append(_one_sided(d))
    return best if (holm(p_values) < LEVEL).all() else None


def _one_sided(differences: Array) -> float:
    if differences.size < 2 or not differences.any():
        return 1.0
    if np.ptp(differences) == 0:
        return 0.0 if differences[0] > 0 else 1.0
    return float(stats.ttest_1samp(differences, 0, alternative="greater").pvalue)


def difference_table(
    results: Results, model: str, test: str, of: str, metric: str = "accuracy"
) -> Table:
    """A method minus each other one: the mean paired difference and its interval."""
    scale, digits = METRICS[metric].factor, METRICS[metric].digits
    rows = []
    for method in results.methods:
        if method == of:
            continue
        row = [method]
        for column in results.columns:
            d = scale * results.differences(column, model, (of, method), test, metric)
            if not d.size or np.isnan(d).any():  # not to be had for one of the two
                row.append("–")
                continue
            low, high = paired_interval(d)
            row.append(f"{d.mean():+.{digits}f} [{low:+.{digits}f}, {high:+.{digits}f}]")
        rows.append(row)
    return Table(f"{of} minus", [f"{of} minus", *results.columns], rows)


def rank_table(
    results: Results, model: str, test: str, metric: str, reference: str
) -> tuple[Table, Array, float]:
    """Means and ranks over many data sets, and each method beside the reference.

    Returns the table, the mean ranks in its order, and Friedman's p-value. p-values of Wilcoxon's
    test are Holm's.
    """
    sign = METRICS[metric].sign
    methods = [
        method
        for method in results.methods
        if not np.isnan(results.matrix(model, test, metric, [method])).any()
    ]
    values = results.matrix(model, test, metric, methods)
    ranks = average_ranks(sign * values)
    order = np.argsort(ranks, kind="stable")
    own = sign * values[:, methods.index(reference)] if reference in methods else None
    compared = [None if own is None else compare_to(sign * column, own) for column in values.T]
    others = [i for i, name in enumerate(methods) if name != reference]
    p_values = np.ones(len(methods))
    if own is not None and others:
        p_values[others] = holm([compared[i].p for i in others])  # type: ignore[union-attr]
    rows = []
    for i in order:
        found = compared[i]
        row = [methods[i], _mean(values[:, i], metric).split(" ±")[0], f"{ranks[i]:.2f}"]
        if found is None or methods[i] == reference:
            row += ["", "", ""]
        else:
            row += [
                f"{found.wins}/{found.ties}/{found.losses}",
                f"{_p(found.p)}",
                f"{_p(p_values[i])}",
            ]
        rows.append(row)
    header = ["method", f"mean {metric}", "mean rank", f"wins/ties/losses to {reference}"]
    header += ["Wilcoxon p", "after Holm"]
    table = Table(f"{model}, {metric}", header, rows)
    return table, ranks[order], friedman(sign * values)


def _p(value: float) -> str:
    return f"{value:.2g}" if value >= 1e-3 else f"{value:.0e}"


def long_csv(records: Sequence[Record]) -> str:
    """Every measure of every cell: one row each."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    header = ["cell", "data", "variant", "model", "method", "run", "chosen", "test", "metric"]
    writer.writerow([*header, "value", "seconds", "memory_mib"])
    for record in records:
        spec = record.cell.spec
        base = [record.cell.id, spec["data"]["name"], json.dumps(spec["variant"]), spec["model"]]
        base += [spec["method"], spec.get("run", "")]
        chosen = json.dumps(record.result.get("chosen", {}))
        for test, metrics in record.result.get("tests", {}).items():
            for metric, value in metrics.items():
                row = [*base, chosen, test, metric, value, record.seconds, record.memory]
                writer.writerow(row)
    return text.getvalue()


MANY = 12  # data sets, from which on ranks say more than columns


def result_tables(results: Results, metric: str, reference: str) -> list[Table]:
    """What there is to say about a measure: means and differences, or ranks over many sets."""
    found = []
    for model in results.models:
        for test in results.tests:
            if len(results.columns) >= MANY:
                found.append(rank_table(results, model, test, metric, reference)[0])
                continue
            found.append(mean_table(results, model, test, metric))
            if any(results.of(column, model, reference) for column in results.columns):
                found.append(difference_table(results, model, test, reference, metric))
    return found
