"""``immax fit``, ``predict`` and ``explain``: model files."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from immax.cli.aim_options import AIM_HELP, BUDGET_HELP, COSTS_HELP, MATRIX_HELP, AimOptions
from immax.cli.table_options import DateFormat, Decimal, Kinds, reading_options

__all__ = ["Loss", "commands"]

commands = typer.Typer()

Table = Annotated[Path, typer.Argument(help="A table: CSV, TSV, Parquet, Feather or JSON lines.")]
Model = Annotated[Path, typer.Argument(help="A model file.")]
ModelSize = Annotated[
    int,
    typer.Option(min=1, help="The largest size of the model file in MiB, packed and unpacked."),
]


class Loss(StrEnum):
    """The losses that ``immax fit`` can minimise."""

    logistic = "logistic"
    hinge = "hinge"
    exponential = "exponential"


class PenaltyName(StrEnum):
    """The penalties of ``immax fit``."""

    l2 = "l2"
    l1 = "l1"
    elasticnet = "elasticnet"
    group = "group"


@commands.command()
def fit(
    file: Table,
    target: Annotated[str, typer.Option("--target", "-t", help="The column of the labels.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="The model file to write.")] = Path(
        "model.skops"
    ),
    loss: Annotated[Loss, typer.Option(help="The loss to minimise.")] = Loss.logistic,
    penalty: Annotated[
        PenaltyName, typer.Option(help="The penalty; all but l2 keep few features.")
    ] = PenaltyName.l2,
    metric: Annotated[
        str | None,
        typer.Option(
            help="What the search is for: a metric of immax compare, or a scikit-learn scorer; by "
            "default the accuracy.",
            show_default=False,
        ),
    ] = None,
    aim: Annotated[str | None, typer.Option(help=AIM_HELP, show_default=False)] = None,
    costs: Annotated[str | None, typer.Option(help=COSTS_HELP, show_default=False)] = None,
    cost_matrix: Annotated[Path | None, typer.Option(help=MATRIX_HELP, show_default=False)] = None,
    budget: Annotated[str | None, typer.Option(help=BUDGET_HELP, show_default=False)] = None,
    folds: Annotated[int, typer.Option(min=2, help="The folds of the cross-validation.")] = 5,
    seed: Annotated[int, typer.Option(help="The seed of the search.")] = 0,
    date_format: DateFormat = None,
    decimal: Decimal = None,
    kind: Kinds = None,
    stream: Annotated[
        bool | None,
        typer.Option(
            "--stream/--no-stream",
            help="Read a Parquet file or folder in batches, in little memory: the search uses a "
            "sample of the rows, and the fit all of them. By default, if it does not fit in "
            "memory.",
            show_default=False,
        ),
    ] = None,
    search_rows: Annotated[
        int, typer.Option(min=100, help="The rows of the search, if the table is streamed.")
    ] = 100_000,
    as_json: Annotated[bool, typer.Option("--json", help="Print the choice as JSON.")] = False,
) -> None:
    """Fit IMMAX to a table; margins, λ and the decision rule are selected by cross-validation."""
    from immax.cli.aimed_fit import FitSettings, describe_fit, fit_in_memory
    from immax.cli.output_files import check_model_output
    from immax.cli.streamed_fit import fit_streamed, must_stream
    from immax.io import save_model

    options = AimOptions(metric, aim, costs, cost_matrix, budget)
    reading = reading_options(date_format, decimal, kind)
    check_model_output(out, file)
    settings = FitSettings(loss.value, penalty.value, folds, seed)
    if must_stream(file) if stream is None else stream:
        fitted = fit_streamed(file, target, reading, options, settings, search_rows)
    else:
        fitted = fit_in_memory(file, target, reading, options, settings)
    name, sign = fitted.search.name, fitted.search.sign
    save_model(
        fitted.model, out, schema=fitted.schema, target=target, metric=name, counts=fitted.counts
    )
    choice = {"model": str(out), "metric": name, **describe_fit(fitted.model[-1], sign)}
    if as_json:
        typer.echo(json.dumps(choice))
        return
    weights = f" with weights of power {power:.2f}" if (power := choice.get("weight_power")) else ""
    typer.echo(
        f"{name} {choice['score']:.4f} by cross-validation, power {choice['power']:.2f}"
        f"{weights}, lambda {choice['lam']:g}, rule {choice['rule']}; written to {out}"
    )


@commands.command()
def predict(
    model: Model,
    file: Table,
    proba: Annotated[
        bool, typer.Option("--proba", help="Predict probabilities instead of labels.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--out",
            help="The file to write; its ending tells the format: .csv, .tsv, .jsonl (also with "
            ".gz, .bz2 or .xz), .parquet or .feather; for a folder of Parquet files also a "
            "folder, with a file for each. By default, standard output.",
        ),
    ] = None,
    rows: Annotated[
        int, typer.Option(help="The number of rows to read at a time.", min=1)
    ] = 50_000,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON lines, not CSV.")] = False,
    spreadsheet: Annotated[
        bool,
        typer.Option(
            "--spreadsheet",
            help="Put an apostrophe before labels that a spreadsheet would take for formulas, "
            "because they begin with =, +, - or @.",
        ),
    ] = False,
    max_model_size: ModelSize = 512,
) -> None:
    """Predict labels or probabilities for the rows of a table of any length."""
    from immax.cli.folder_predictions import is_folder_output, write_folder
    from immax.cli.predictions import write_predictions

    if out is not None and is_folder_output(file, out) and not (as_json or spreadsheet):
        write_folder(model, file, proba, out, rows, max_model_size * 2**20)
        return
    write_predictions(
        model,
        file,
        proba,
        out,
        rows,
        as_json,
        spreadsheet=spreadsheet,
        max_bytes=max_model_size * 2**20,
    )


@commands.command()
def explain(
    model: Model,
    file: Annotated[
        Path | None, typer.Argument(help="A table with labels, for a certificate.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the description as JSON.")] = False,
    top: Annotated[int, typer.Option(help="The number of coefficients to show.", min=0)] = 10,
    max_model_size: ModelSize = 512,
) -> None:
    """Describe a model: its classes, margins, threshold and coefficients."""
    from immax.cli.description import describe_model, description_text
    from immax.io import load_model

    description = describe_model(load_model(model, max_bytes=max_model_size * 2**20), file)
    typer.echo(json.dumps(description) if as_json else description_text(description, top))
