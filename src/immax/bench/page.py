"""A page of results, in Markdown."""

from __future__ import annotations

import datetime
import subprocess
from pathlib import Path

from immax.atomic import write_text
from immax.bench.store import Store
from immax.bench.surface_tables import Surfaces, read_surfaces, surface_table
from immax.bench.tables import MANY, Results, Table, rank_table, result_tables
from immax.evaluation.metrics import METRICS
from immax.plots.ranks import plot_ranks
from immax.plots.surfaces import plot_surfaces

__all__ = ["write_page"]

OF_SURFACES = ("accuracy", "log_loss")


def write_page(store: Store, out: Path, command: str, words: Path | None, reference: str) -> None:
    """Headed by the command, the commit and the date; then words, then tables.

    With many data sets, a picture of the mean ranks for each measure lies beside the page.
    """
    records = store.records(stage="final")
    results = Results(records)
    counts = store.counts()
    seconds = sum(record.seconds or 0 for record in store.records())
    lines = [f"# {store.title}", ""]
    if command:
        lines += [f"    {command}", ""]
    lines += [
        f"{_commit()}, {datetime.datetime.now(tz=datetime.UTC):%Y-%m-%d}. "
        f"{counts['done']} of {sum(counts.values())} cells, {seconds / 3600:.1f} hours of work.",
        "",
    ]
    if words is not None:
        lines += [words.read_text(encoding="utf-8").strip(), ""]
    surfaces = read_surfaces(records)
    for metric in METRICS:
        tables = _tables(results, metric, reference, out) + _surfaces(surfaces, metric, out)
        if tables:
            lines += [f"## {metric.replace('_', ' ').capitalize()}", "", *tables]
    write_text(out, "\n".join(lines).rstrip() + "\n")


def _tables(results: Results, metric: str, reference: str, out: Path) -> list[str]:
    lines: list[str] = []
    if len(results.columns) < MANY:
        for table in result_tables(results, metric, reference):
            if _says_something(table):
                lines += [f"{table.title}:", "", table.markdown()]
        return lines
    for model in results.models:
        for test in results.tests:
            table, ranks, p = rank_table(results, model, test, metric, reference)
            if not table.rows:
                continue
            names = [row[0] for row in table.rows]
            picture = out.with_name(f"{out.stem}-{model}-{metric}.svg")
            plot_ranks(names, ranks, len(results.columns), picture)
            lines += [
                f"{table.title}, {len(results.columns)} data sets (Friedman p = {p:.1g}):",
                "",
            ]
            lines += [table.markdown(), f"![Mean ranks]({picture.name})", ""]
    return lines


def _surfaces(surfaces: list[Surfaces], metric: str, out: Path) -> list[str]:
    """A picture of the first test, and a table for each data set and test."""
    if not surfaces or metric not in OF_SURFACES:
        return []
    tests = list(dict.fromkeys(test for test, _ in surfaces[0].tests))
    picture = out.with_name(f"{out.stem}-{metric}.svg")
    plot_surfaces(surfaces, tests[0], metric, picture)
    lines = [f"![Gain over equal margins, {tests[0]} test]({picture.name})", ""]
    for found in surfaces:
        for test in tests:
            table = surface_table(found, test, metric)
            lines += [f"{table.title}:", "", table.markdown()]
    return lines


def _says_something(table: Table) -> bool:
    return any(cell not in ("–", "") for row in table.rows for cell in row[1:])


def _commit() -> str:
    try:
        shown = subprocess.run(
            ["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return "not from a repository"
    return f"Commit {shown.stdout.strip()}"
