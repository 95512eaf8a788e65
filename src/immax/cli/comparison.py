"""``immax compare``: from a table to a recommendation, a report and a model."""

from __future__ import annotations

import re
import shlex
import sys
import time
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Annotated

import typer

from immax.atomic import write_text
from immax.cli.aim_options import AIM_HELP, BUDGET_HELP, COSTS_HELP, MATRIX_HELP, AimOptions
from immax.cli.table_options import DateFormat, Decimal, Kinds, reading_options
from immax.errors import WrongCall
from immax.evaluation.candidates import CANDIDATES, DEFAULT
from immax.evaluation.metrics import METRICS
from immax.threads import available_cores

__all__ = ["commands"]

commands = typer.Typer()

SECONDS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}
METRIC_HELP = (
    f"The metric that methods are ranked by: {', '.join(METRICS)}. By default the accuracy; on the "
    "data set that comes with the package, the balanced accuracy."
)
DEMO_METRIC = "balanced_accuracy"
MOST_REPEATS = 5  # by themselves, within a time limit
METHODS_HELP = (
    f"Methods to compare, separated by commas, or 'all': {', '.join(CANDIDATES)}. "
    f"By default: {', '.join(DEFAULT)}, as far as they suit the data."
)


class Preference(StrEnum):
    """Which of the methods that are as good as the best one is recommended."""

    simplest = "simplest"
    best = "best"


@commands.command()
def compare(
    file: Annotated[
        Path | None,
        typer.Argument(
            help="A table: CSV, TSV, Parquet, Feather or JSON lines. Without it, a data set that "
            "comes with the package is used."
        ),
    ] = None,
    target: Annotated[
        str | None, typer.Option("--target", "-t", help="The column of the labels.")
    ] = None,
    metric: Annotated[str | None, typer.Option(help=METRIC_HELP, show_default=False)] = None,
    aim: Annotated[str | None, typer.Option(help=AIM_HELP, show_default=False)] = None,
    costs: Annotated[str | None, typer.Option(help=COSTS_HELP, show_default=False)] = None,
    cost_matrix: Annotated[Path | None, typer.Option(help=MATRIX_HELP, show_default=False)] = None,
    budget: Annotated[str | None, typer.Option(help=BUDGET_HELP, show_default=False)] = None,
    prefer: Annotated[
        Preference,
        typer.Option(help="Which of the methods that are as good as the best one to recommend."),
    ] = Preference.simplest,
    methods: Annotated[str | None, typer.Option(help=METHODS_HELP, show_default=False)] = None,
    folds: Annotated[int, typer.Option(min=2, help="The number of stratified folds.")] = 5,
    repeats: Annotated[
        int, typer.Option(min=1, help="How often the rows are split into folds.")
    ] = 1,
    max_repeats: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="While the best method is not certainly better than plain logistic regression, "
            f"split the rows again, up to this many times; by default {MOST_REPEATS} with "
            "--time-limit if there is time, and else as --repeats says.",
            show_default=False,
        ),
    ] = None,
    time_limit: Annotated[
        str | None,
        typer.Option(help="Such as 90s, 10m or 1h. Folds that are finished by then count."),
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write to.")] = Path(
        "comparison"
    ),
    seed: Annotated[int, typer.Option(help="The seed of the folds and of the methods.")] = 0,
    rows: Annotated[int, typer.Option(min=100, help="Sample at most this many rows.")] = 100_000,
    jobs: Annotated[
        int, typer.Option(min=1, help="The number of processes.", show_default="all cores")
    ] = available_cores(),
    date_format: DateFormat = None,
    decimal: Decimal = None,
    kind: Kinds = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
) -> None:
    """Compare methods on a table, recommend one, and write report.html and model.skops.

    After an interruption, the same command resumes: finished folds are stored in the folder.
    """
    import numpy as np

    from immax.cli.comparison_data import read_comparison_data
    from immax.cli.comparison_table import format_ranking
    from immax.cli.progress import FoldBar
    from immax.compare import Protocol, answer, refit
    from immax.compare import compare as run
    from immax.compare.results_json import make_results, results_text
    from immax.decisions import rule_of
    from immax.io import require_skops, save_model
    from immax.report.page import About, load_libraries, write_report
    from immax.tabular import as_labels

    start = time.perf_counter()
    limit = parse_duration(time_limit)
    purposes = AimOptions(metric, aim, costs, cost_matrix, budget)
    options = reading_options(date_format, decimal, kind)
    data = read_comparison_data(file, target, rows, seed, options)
    classes = np.unique(as_labels(data.y))
    purpose = purposes.resolve(classes, DEMO_METRIC if file is None else "accuracy")
    if max_repeats is None and limit is not None:
        max_repeats = max(repeats, MOST_REPEATS)
    protocol = Protocol(purpose.metric, folds, repeats, seed, purpose.aim, max_repeats)
    for notice in data.notices:
        typer.echo(f"immax: {notice}", err=True)

    @cache
    def load_writers() -> None:
        require_skops()
        load_libraries()

    with FoldBar() as bar:
        comparison = run(
            data.X,
            data.y,
            methods=None if methods is None else [name.strip() for name in methods.split(",")],
            protocol=protocol,
            schema=data.schema,
            time_limit=limit,
            keep=out / "folds",
            # Now, and not at the end: what is missing is known, and the other processes have work.
            on_fold=lambda *_: load_writers(),
            on_progress=bar.show,
            n_jobs=jobs,
        )
        bar.describe("comparing")
        verdict = answer(comparison, prefer.value)
        bar.describe("fitting the model")
        names = [verdict.recommended, *(["immax"] if "immax" in comparison.complete else [])]
        refit_start = time.perf_counter()
        models = {name: refit(comparison, name) for name in dict.fromkeys(names)}
        verdict = verdict.with_rule(rule_of(models[verdict.recommended][-1]))
        seconds_refit = time.perf_counter() - refit_start
        bar.describe("writing the report")
        save_model(
            models[verdict.recommended],
            out / "model.skops",
            schema=comparison.schema,
            target=data.target,
            metric=purpose.name,
            counts=comparison.counts,
        )
        command = shlex.join(["immax", *sys.argv[1:]])
        seconds = time.perf_counter() - start
        about = About(data.source, data.target, command, seconds, data.notices)
        write_report(out / "report.html", comparison, verdict, models, about)
    results = make_results(
        comparison,
        verdict,
        source=data.source,
        target=data.target,
        command=command,
        seconds=time.perf_counter() - start,
        seconds_refit=seconds_refit,
    )
    write_text(out / "results.json", results_text(results, indent=1))
    if as_json:
        typer.echo(results_text(results))
        return
    typer.echo(format_ranking(comparison, verdict))
    typer.echo(f"\n{verdict.sentence}")
    typer.echo(f"See {out / 'report.html'}; the model is {out / 'model.skops'}.")


def parse_duration(text: str | None) -> float | None:
    """Return the seconds of a text such as 90s, 10m or 1h.

    Parameters
    ----------
    text : str or None

    Returns
    -------
    float or None

    Raises
    ------
    WrongCall
        If the text is not a duration.

    Examples
    --------
    >>> parse_duration("1.5m")
    90.0
    """
    if text is None:
        return None
    parts = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([smh]?)\s*", text)
    if parts is None:
        raise WrongCall(f"--time-limit must be like 90s, 10m or 1h; got {text!r}")
    return float(parts[1]) * SECONDS[parts[2]]
