"""Pages of results, in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from immax.atomic import write_text
from immax.bench.outcomes import PlanResults, Record
from immax.bench.provenance import with_origin
from immax.bench.rank_tables import RankTable, rank_table
from immax.bench.results import Results
from immax.bench.surface_tables import Surfaces, read_surfaces, surface_table
from immax.bench.tables import MANY, result_tables
from immax.datasets.registry import COLLECTIONS
from immax.evaluation.metrics import METRICS
from immax.plots.ranks import plot_ranks
from immax.plots.surfaces import plot_surfaces

__all__ = ["write_page"]

OF_SURFACES = ("accuracy", "log_loss")  # the metrics that pages show of surfaces


def write_page(
    results: PlanResults, out: Path, command: str, words: Path | None, reference: str
) -> None:
    """Write a page of results.

    Parameters
    ----------
    results : PlanResults
    out : Path
        The page. Pictures are written next to it: of mean ranks if there are many data sets, and
        of surfaces.
    command : str
        The command that made the results; left out if empty.
    words : Path, optional
        Markdown that goes before the tables.
    reference : str
        The method that others are compared with.
    """
    results = results.rounded()
    records = results.done("final")
    out.parent.mkdir(parents=True, exist_ok=True)
    lines = [f"# {results.title}", ""]
    if command:
        lines += [f"    {command}", ""]
    counts = results.counts()
    lines += [
        f"{_origin(results)}. {counts['done']} of {sum(counts.values())} cells, "
        f"{results.seconds() / 3600:.1f} hours of work.",
        "",
    ]
    if words is not None:
        lines += [words.read_text(encoding="utf-8").strip(), ""]
    collections = [Results(own) for own in _by_collection(records)]
    surfaces = read_surfaces(records)
    for metric in METRICS.values():
        tables = [line for own in collections for line in _tables(own, metric.name, reference, out)]
        tables += _surfaces(surfaces, metric.name, out)
        if tables:
            lines += [f"## {metric.title[0].upper()}{metric.title[1:]}", "", *tables]
    write_text(out, "\n".join(lines).rstrip() + "\n")


def _origin(results: PlanResults) -> str:
    known = with_origin(results)
    commit = f"Commit {known.commit}" if known.commit else "Not from a repository"
    return f"{commit}, {known.date}"


def _by_collection(records: Sequence[Record]) -> list[list[Record]]:
    """Return the records of every collection of tables, and those of all other data together."""
    groups: dict[str, list[Record]] = {}
    for record in records:
        name = record.cell.data.name
        groups.setdefault(name if name in COLLECTIONS else "", []).append(record)
    return list(groups.values())


def _tables(results: Results, metric: str, reference: str, out: Path) -> list[str]:
    lines: list[str] = []
    if len(results.columns) < MANY:
        for table in result_tables(results, metric, reference):
            if not table.is_empty:
                lines += [f"{table.title}:", "", table.markdown()]
        return lines
    for model in results.models:
        for test in results.tests:
            if test in METRICS and metric not in (test, "log_loss"):
                continue  # methods were tuned for another aim
            ranked = rank_table(results, model, test, metric, reference)
            if len(ranked.methods) < 2 or ranked.n_sets < 2:
                continue  # one method, or one data set, has no ranks
            picture = out.with_name(f"{out.stem}-{_stem(results, model, test, metric)}.svg")
            with _same_ids():
                plot_ranks(ranked.methods, ranked.ranks, ranked.n_sets, picture)
            lines += [
                f"{_title(results, ranked, test)}, {ranked.n_sets} data sets "
                f"(Friedman p = {ranked.friedman_p:.1g}):",
                "",
                ranked.table.markdown(),
                *([ranked.left_out, ""] if ranked.left_out else []),
                f"![Mean ranks]({picture.name})",
                "",
            ]
    return lines


def _stem(results: Results, model: str, test: str, metric: str) -> str:
    """Return the ending of the file names of pictures."""
    if test not in METRICS:
        return f"{model}-{metric}"
    collection = results.records[0].cell.data.name
    return "-".join([collection, model, metric, *([] if test == metric else [test])])


def _title(results: Results, ranked: RankTable, test: str) -> str:
    if test not in METRICS:
        return ranked.table.title
    aim = METRICS[test].title
    return f"{results.records[0].cell.data.name}, {ranked.table.title}, tuned for {aim}"


def _surfaces(surfaces: list[Surfaces], metric: str, out: Path) -> list[str]:
    """Return a picture of the first test set, and a table for each data set and test set.

    A single training error has no picture.
    """
    if not surfaces or metric not in OF_SURFACES:
        return []
    tests = list(dict.fromkeys(test for test, _ in surfaces[0].tests))
    lines = []
    if any(own.settings.size > 1 for own in surfaces):
        picture = out.with_name(f"{out.stem}-{metric}.svg")
        with _same_ids():
            plot_surfaces(surfaces, tests[0], metric, picture)
        lines += [f"![Gain over equal margins, {tests[0]} test]({picture.name})", ""]
    for own in surfaces:
        for test in tests:
            table = surface_table(own, test, metric)
            lines += [f"{table.title}:", "", table.markdown()]
    return lines


@contextmanager
def _same_ids() -> Iterator[None]:
    """Let elements of SVG files have the same ids in every run; they are random otherwise."""
    import matplotlib

    with matplotlib.rc_context({"svg.hashsalt": "immax"}):
        yield
