"""``immax fit``, ``predict`` and ``explain``: model files."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from immax.cli.errors import explained

__all__ = ["explain", "fit", "predict"]

Table = Annotated[Path, typer.Argument(help="CSV, TSV, Parquet, Feather or JSON lines.")]
Model = Annotated[Path, typer.Argument(help="A model file.")]


class Loss(StrEnum):
    """Of the search."""

    logistic = "logistic"
    hinge = "hinge"
    exponential = "exponential"


def fit(
    file: Table,
    target: Annotated[str, typer.Option("--target", "-t", help="The column of the labels.")],
    out: Annotated[Path, typer.Option("-o", "--out", help="The model file.")] = Path("model.skops"),
    loss: Annotated[Loss, typer.Option(help="What is minimised.")] = Loss.logistic,
    metric: Annotated[
        str, typer.Option(help="What the search looks at: any of scikit-learn's scorers.")
    ] = "accuracy",
    folds: Annotated[int, typer.Option(min=2)] = 5,
    seed: int = 0,
    as_json: Annotated[bool, typer.Option("--json")] = False,
) -> None:
    """Fit IMMAX to a table, its margins, λ and rule found by cross-validation."""
    import numpy as np
    from sklearn.pipeline import Pipeline

    from immax import IMMAXClassifierCV
    from immax.datasets import read_table
    from immax.io import save_model
    from immax.tabular import as_labels, describe_columns, prepare

    with explained():
        X, y = read_table(file, target)
        schema = describe_columns(X)
        for column in schema.left_out():
            typer.echo(f"immax: left out {column.name!r}: {column.why}", err=True)
        search = IMMAXClassifierCV(loss.value, scoring=metric, cv=folds, random_state=seed)
        model = Pipeline([*prepare(schema).steps, ("model", search)])
        labels = as_labels(y)
        model.fit(X, labels)
        counts = np.unique(labels, return_counts=True)[1]
        save_model(model, out, schema=schema, target=target, metric=metric, counts=counts)
    found = {
        "model": str(out),
        "metric": metric,
        "score": search.best_score_,
        "power": float(search.best_parameters_[0]),
        "lam": search.best_lam_,
        "rule": search.best_rule_,
    }
    if as_json:
        typer.echo(json.dumps(found))
    else:
        typer.echo(
            f"{metric} {found['score']:.4f} by cross-validation, power {found['power']:.2f}, "
            f"lambda {found['lam']:g}, rule {found['rule']}; written to {out}"
        )


def predict(
    model: Model,
    file: Table,
    proba: Annotated[bool, typer.Option("--proba", help="Probabilities, not labels.")] = False,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="CSV or Parquet; else standard output.")
    ] = None,
    rows: Annotated[int, typer.Option(help="Read at a time.", min=1)] = 50_000,
    as_json: Annotated[bool, typer.Option("--json", help="JSON lines instead of CSV.")] = False,
) -> None:
    """Labels or probabilities for the rows of a table, however long it is."""
    from immax.cli.predictions import write_predictions

    with explained():
        write_predictions(model, file, proba, out, rows, as_json)


def explain(
    model: Model,
    file: Annotated[Path | None, typer.Argument(help="Data with labels, for certificates.")] = None,
    as_json: Annotated[bool, typer.Option("--json")] = False,
    top: Annotated[int, typer.Option(help="Coefficients to show.", min=0)] = 10,
) -> None:
    """What a model is: classes, margins beside the theory's, thresholds, coefficients."""
    from immax.cli.description import explanation, shown
    from immax.io import load_model

    with explained():
        content: dict[str, Any] = explanation(load_model(model), file)
    typer.echo(json.dumps(content) if as_json else shown(content, top))
