"""``immax bench``: run plans, and read what they found."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from immax.cli.errors import explained

__all__ = ["bench"]

bench = typer.Typer(help="Experiments from plans: resumable runs, tables.", no_args_is_help=True)

PlanFile = Annotated[Path, typer.Argument(help="A plan, in TOML.", show_default=False)]
StoreFile = Annotated[
    Path | None, typer.Option("--store", help="Results; by default beside the plan's name, .db.")
]


class Format(StrEnum):
    """Of an export."""

    csv = "csv"
    markdown = "markdown"
    latex = "latex"


def _store_path(plan: Path, store: Path | None) -> Path:
    return store or Path(f"{plan.stem}.db")


@bench.command()
def run(
    plan: PlanFile,
    data_dir: Annotated[Path | None, typer.Option(help="Where the data are.")] = None,
    store: StoreFile = None,
    device: Annotated[str, typer.Option(help="For networks: cpu, cuda, cuda:1, mps.")] = "cpu",
    download: Annotated[
        bool, typer.Option("--download", help="Fetch data that are not there.")
    ] = False,
    limit: Annotated[int | None, typer.Option(min=1, help="The most cells to do.")] = None,
    again: Annotated[bool, typer.Option("--again", help="Try failed cells again.")] = False,
    adopt: Annotated[
        bool, typer.Option("--adopt", help="Go on with results of another version of the plan.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Work on a plan's cells until all are done.

    The same command goes on where it was stopped. Several may work on one plan at once.
    """
    from immax.bench.plan import load_plan
    from immax.bench.run import Place, work
    from immax.bench.store import Store
    from immax.cli.progress import Bars

    with explained():
        wanted = load_plan(plan)
        results = Store(_store_path(plan, store), wanted, adopt)
        with Bars(results, wanted.training.epochs) as bars:
            work(
                results,
                Place(None if data_dir is None else str(data_dir), device, download),
                limit=limit,
                again=again,
                on_cell=bars.cell,
                on_epoch=bars.epoch,
            )
        counts = results.counts()
    plain = ", ".join(f"{number} {state}" for state, number in counts.items())
    typer.echo(json.dumps(counts) if as_json else plain)
    if counts["failed"]:
        record = results.records(["failed"])[0]
        last = (record.error or "").strip().splitlines()[-1]
        typer.echo(f"immax: {record.cell.label()} failed: {last}", err=True)
        raise typer.Exit(1)


@bench.command()
def status(
    store: Annotated[Path, typer.Argument(help="A results file.")],
    as_json: Annotated[bool, typer.Option("--json")] = False,
    errors: Annotated[bool, typer.Option("--errors", help="Show what failed, and how.")] = False,
) -> None:
    """How far a plan has come."""
    from immax.bench.store import Store

    with explained():
        results = Store(store)
        counts = results.counts()
        failed = results.records(["failed"])
    if as_json:
        names = [record.cell.label() for record in failed]
        typer.echo(json.dumps({"plan": results.plan_name, **counts, "failures": names}))
        return
    typer.echo(f"{results.plan_name}: {', '.join(f'{n} {s}' for s, n in counts.items())}")
    for record in failed:
        typer.echo(f"failed: {record.cell.label()}")
        if errors:
            typer.echo(record.error)


@bench.command()
def table(
    store: Annotated[Path, typer.Argument(help="A results file.")],
    metric: Annotated[str, typer.Option(help="What to show.")] = "accuracy",
    reference: Annotated[
        str, typer.Option(help="The method that others are compared with.")
    ] = "immax",
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """The results so far, beside the paper's figures where it has them."""
    with explained():
        tables = _tables(store, metric, reference)
    if as_json:
        content = [{"title": t.title, "header": t.header, "rows": t.rows} for t in tables]
        typer.echo(json.dumps(content))
        return
    for one in tables:
        typer.echo(f"{one.title}\n\n{one.markdown()}")


@bench.command()
def export(
    store: Annotated[Path, typer.Argument(help="A results file.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="The file to write.")],
    form: Annotated[Format, typer.Option("--format", help="Of the file.")] = Format.csv,
    metric: Annotated[str, typer.Option(help="For Markdown and LaTeX.")] = "accuracy",
    reference: Annotated[str, typer.Option(help="For Markdown and LaTeX.")] = "immax",
) -> None:
    """All measures as CSV, or the tables as Markdown or LaTeX."""
    from immax.atomic import write_text
    from immax.bench.store import Store
    from immax.bench.tables import long_csv

    with explained():
        if form is Format.csv:
            text = long_csv(Store(store).records(stage="final"))
        else:
            parts = _tables(store, metric, reference)
            text = "\n".join(getattr(part, form.value)() for part in parts)
        write_text(out, text)


@bench.command()
def page(
    store: Annotated[Path, typer.Argument(help="A results file.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="The page to write, in Markdown.")],
    command: Annotated[str, typer.Option(help="The command that made the results.")] = "",
    words: Annotated[
        Path | None, typer.Option(help="What was found, in words: Markdown to put on top.")
    ] = None,
    reference: Annotated[str, typer.Option(help="The method to compare others with.")] = "immax",
) -> None:
    """A page of results: the command, the commit and the date, tables, a picture of the ranks."""
    from immax.bench.page import write_page
    from immax.bench.store import Store

    with explained():
        write_page(Store(store), out, command, words, reference)


def _tables(path: Path, metric: str, reference: str) -> list[Any]:
    from immax.bench.plan import PlanError
    from immax.bench.store import Store
    from immax.bench.tables import Results, result_tables
    from immax.evaluation.metrics import METRICS
    from immax.validation import nearest

    if metric not in METRICS:
        raise PlanError(f"unknown metric {metric!r}{nearest(metric, METRICS)}")
    return result_tables(Results(Store(path).records(stage="final")), metric, reference)
