"""``immax compare``: from a table to a recommendation, a report and a model."""

from __future__ import annotations

import re
import shlex
import sys
import time
from enum import StrEnum
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
    f"By default: {', '.join(DEFAULT)}, where they suit the data."
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
            help="A table: CSV, TSV, Parquet (also a folder), Feather or JSON lines. Without it, a "
            "data set that comes with the package is used."
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
            "--time-limit if there is time, otherwise as often as --repeats says.",
            show_default=False,
        ),
    ] = None,
    time_limit: Annotated[
        str | None,
        typer.Option(help="A limit such as 90s, 10m or 1h; folds that finish within it count."),
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write to.")] = Path(
        "comparison"
    ),
    seed: Annotated[int, typer.Option(help="The seed of the folds and of the methods.")] = 0,
    rows: Annotated[
        int | None,
        typer.Option(
            min=100,
            help="Sample at most this many rows.",
            show_default="100,000, if the table is not streamed",
        ),
    ] = None,
    stream: Annotated[
        bool | None,
        typer.Option(
            "--stream/--no-stream",
            help="Read a Parquet file or folder in batches, in little memory, and compare the "
            "linear methods with smooth losses on all rows. By default, if it has more than "
            "100,000 rows or does not fit in memory, unless --rows is given.",
            show_default=False,
        ),
    ] = None,
    search_rows: Annotated[
        int,
        typer.Option(
            min=100,
            help="The number of rows on which hyper-parameters are selected in a streamed table.",
        ),
    ] = 100_000,
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
    from immax.cli.comparison_data import (
        MOST_ROWS,
        ComparisonData,
        StreamedData,
        open_comparison_data,
        read_comparison_data,
        streams_by_itself,
    )
    from immax.cli.comparison_table import format_ranking
    from immax.cli.progress import FoldBar
    from immax.compare import Protocol, answer, refit_all
    from immax.compare.results_json import make_results, results_text
    from immax.decisions import rule_of
    from immax.distributed.stream_parts import ReadMeter
    from immax.io import save_model
    from immax.report.page import About, write_report

    start = time.perf_counter()
    limit = parse_duration(time_limit)
    purposes = AimOptions(metric, aim, costs, cost_matrix, budget)
    options = reading_options(date_format, decimal, kind)
    names = None if methods is None else [name.strip() for name in methods.split(",")]
    if stream and rows is not None:
        raise WrongCall("--stream uses all rows, and --rows a sample: choose one of them")
    if stream is None:
        stream = rows is None and streams_by_itself(file, names)
    data: ComparisonData | StreamedData
    if stream:
        data = open_comparison_data(file, target, folds, seed, options)
    else:
        data = read_comparison_data(file, target, rows or MOST_ROWS, seed, options)
    for notice in data.notices:
        typer.echo(f"immax: {notice}", err=True)
    purpose = purposes.resolve(data.classes, DEMO_METRIC if file is None else "accuracy")
    if max_repeats is None and limit is not None:
        max_repeats = max(repeats, MOST_REPEATS)
    protocol = Protocol(
        purpose.metric,
        folds,
        repeats,
        seed,
        purpose.aim,
        max_repeats,
        search_rows if stream else None,
    )
    with FoldBar() as bar:
        comparison = data.compare(
            protocol,
            jobs,
            methods=names,
            time_limit=limit,
            keep=out / "folds",
            on_progress=bar.show,
        )
        bar.describe("comparing")
        verdict = answer(comparison, prefer.value)
        bar.describe("fitting the model")
        wanted = [verdict.recommended, *(["immax"] if "immax" in comparison.complete else [])]
        refit_start = time.perf_counter()
        meter = ReadMeter(lambda meter: bar.describe(f"fitting the model: {meter}"))
        models = refit_all(comparison, dict.fromkeys(wanted), meter)
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
