"""``immax bench``: run plans, and report their results."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from immax.bench.outcomes import PlanResults
    from immax.bench.table import Table

__all__ = ["commands"]

commands = typer.Typer(
    help="Run experiments from plans, which can be interrupted and resumed, and report results.",
    no_args_is_help=True,
)

PlanFile = Annotated[Path, typer.Argument(help="The plan, a TOML file.", show_default=False)]
ResultsFile = Annotated[
    Path,
    typer.Argument(help="A store (.db), or a result file (.results.jsonl.xz).", show_default=False),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Reference = Annotated[str, typer.Option(help="The method that others are compared with.")]


class Format(StrEnum):
    """The format of an exported file."""

    csv = "csv"
    markdown = "markdown"
    latex = "latex"
    results = "results"


@commands.command()
def run(
    plan: PlanFile,
    data_dir: Annotated[Path | None, typer.Option(help="The directory of the data.")] = None,
    store: Annotated[
        Path | None,
        typer.Option(help="The file of the results; by default the plan's name with .db."),
    ] = None,
    device: Annotated[
        str, typer.Option(help="The device for networks: cpu, cuda, cuda:1, mps.")
    ] = "cpu",
    download: Annotated[bool, typer.Option("--download", help="Download missing data.")] = False,
    limit: Annotated[
        int | None, typer.Option(min=1, help="The maximum number of cells to run.")
    ] = None,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", "--again", help="Run failed cells again.")
    ] = False,
    adopt: Annotated[
        bool,
        typer.Option("--adopt", help="Continue with the results of another version of the plan."),
    ] = False,
    start_from: Annotated[
        Path | None,
        typer.Option(help="Take the cells that are done in this result file or store from it."),
    ] = None,
    redo: Annotated[
        list[str] | None,
        typer.Option(
            help="Run a method again: with --start-from, do not take its cells from the file; "
            "otherwise discard its results. Can be given more than once."
        ),
    ] = None,
    dask: Annotated[
        str | None,
        typer.Option(
            metavar="SCHEDULER",
            help="Run the cells on the workers of a Dask cluster, such as tcp://10.0.0.1:8786; the "
            "store must be in a folder that all machines share.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run the cells of a plan until all are done.

    The same command resumes a run that was interrupted, and several processes may run one plan at
    the same time.
    """
    from immax.bench.cluster import run_on_cluster
    from immax.bench.execution import RunOptions
    from immax.bench.plan_file import PlanError, load_plan
    from immax.bench.requirements import check_libraries
    from immax.bench.result_file import read_results
    from immax.bench.run import run_cells
    from immax.bench.store import Store
    from immax.cli.progress import Bars
    from immax.validation import nearest

    methods = redo or []
    wanted = load_plan(plan)
    for method in methods:
        if method not in wanted.methods:
            raise PlanError(f"unknown method {method!r}{nearest(method, wanted.methods)}")
    check_libraries(wanted.cells())
    earlier = None if start_from is None else read_results(start_from)
    results = Store(store or Path(f"{plan.stem}.db"), wanted, adopt)
    if earlier is not None:
        results.take(earlier, methods)
    elif methods:
        results.discard(methods)
    folder = None if data_dir is None else str(data_dir if dask is None else data_dir.resolve())
    options = RunOptions(folder, device, download)
    if dask is not None:
        run_on_cluster(results, dask, options, limit=limit, retry_failed=retry_failed)
    else:
        with Bars(results, wanted.training.epochs) as bars:
            run_cells(
                results,
                options,
                limit=limit,
                retry_failed=retry_failed,
                on_cell=bars.cell,
                on_epoch=bars.epoch,
            )
    counts = results.counts()
    typer.echo(json.dumps(counts) if as_json else _plain(counts))
    if counts["failed"]:
        record = results.records(["failed"])[0]
        last = (record.error or "").strip().splitlines()[-1]
        typer.echo(f"immax: {record.cell.label()} failed: {last}", err=True)
        raise typer.Exit(1)


@commands.command()
def status(
    results: ResultsFile,
    as_json: AsJson = False,
    errors: Annotated[
        bool, typer.Option("--errors", help="Show the tracebacks of cells that failed.")
    ] = False,
) -> None:
    """Show how many cells of a plan are done, and which have failed."""
    known = _read(results)
    counts = known.counts()
    failed = [record for record in known.records if record.state == "failed"]
    if as_json:
        names = [record.cell.label() for record in failed]
        typer.echo(json.dumps({"plan": known.plan, **counts, "failures": names}))
        return
    typer.echo(f"{known.plan}: {_plain(counts)}")
    for record in failed:
        typer.echo(f"failed: {record.cell.label()}")
        if errors:
            typer.echo(record.error)


@commands.command()
def table(
    results: ResultsFile,
    metric: Annotated[str, typer.Option(help="The metric to show.")] = "accuracy",
    reference: Reference = "immax",
    as_json: AsJson = False,
) -> None:
    """Show the results so far, with the paper's figures where it has them."""
    tables = _tables(_read(results), metric, reference)
    if as_json:
        content = [{"title": t.title, "header": t.header, "rows": t.rows} for t in tables]
        typer.echo(json.dumps(content))
        return
    for one in tables:
        typer.echo(f"{one.title}\n\n{one.markdown()}")


@commands.command()
def export(
    results: ResultsFile,
    out: Annotated[Path, typer.Option("-o", "--out", help="The file to write.")],
    form: Annotated[
        Format | None,
        typer.Option(
            "--format",
            help="The format of the file; by default that of its ending: .csv, .md, .tex, or .xz "
            "for results.",
        ),
    ] = None,
    metric: Annotated[str, typer.Option(help="The metric of Markdown and LaTeX.")] = "accuracy",
    reference: Reference = "immax",
) -> None:
    """Write results to a file.

    All results in a compact file that "immax bench page" reads and "immax bench run --start-from"
    continues, all metrics as CSV, or tables as Markdown or LaTeX.
    """
    from immax.atomic import write_text
    from immax.bench.result_file import write_result_file
    from immax.bench.tables import long_csv
    from immax.cli.output_files import check_output

    form = form or _format_of(out)
    check_output(out, [results])
    known = _read(results)
    if form is Format.results:
        write_result_file(known, out)
    elif form is Format.csv:
        write_text(out, long_csv(known.done("final")))
    else:
        tables = _tables(known, metric, reference)
        texts = [one.latex() if form is Format.latex else one.markdown() for one in tables]
        write_text(out, "\n".join(texts))


@commands.command()
def page(
    results: ResultsFile,
    out: Annotated[Path, typer.Option("-o", "--out", help="The page to write, in Markdown.")],
    command: Annotated[str, typer.Option(help="The command that made the results.")] = "",
    words: Annotated[Path | None, typer.Option(help="Markdown to put before the tables.")] = None,
    reference: Reference = "immax",
) -> None:
    """Write a page of results: the command, the commit and the date, tables and pictures."""
    from immax.bench.page import write_page
    from immax.cli.output_files import check_output

    check_output(out, [results] if words is None else [results, words])
    write_page(_read(results), out, command, words, reference)


def _plain(counts: dict[str, int]) -> str:
    return ", ".join(f"{number} {state}" for state, number in counts.items())


def _read(path: Path) -> PlanResults:
    from immax.bench.result_file import read_results
    from immax.bench.store import StoreError

    try:
        return read_results(path)
    except (StoreError, FileNotFoundError):
        raise
    except Exception as error:  # bytes within a store or a file that were overwritten
        text = str(error).splitlines()[0] if str(error) else repr(error)
        raise StoreError(f"{str(path)!r} is damaged: {text}") from error


def _format_of(out: Path) -> Format:
    """Return the format of a file by its ending."""
    from immax.errors import WrongCall

    endings = {
        ".csv": Format.csv,
        ".md": Format.markdown,
        ".tex": Format.latex,
        ".xz": Format.results,
    }
    if out.suffix.lower() not in endings:
        raise WrongCall(f"{out} must end in {', '.join(endings)}, or --format must be given")
    return endings[out.suffix.lower()]


def _tables(results: PlanResults, metric: str, reference: str) -> list[Table]:
    from immax.bench.plan_file import PlanError
    from immax.bench.results import Results
    from immax.bench.tables import result_tables
    from immax.evaluation.metrics import METRICS
    from immax.validation import nearest

    if metric not in METRICS:
        raise PlanError(f"unknown metric {metric!r}{nearest(metric, METRICS)}")
    return result_tables(Results(results.rounded().done("final")), metric, reference)
