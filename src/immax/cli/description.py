"""The description of a model file, for people and for programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Required, TypedDict

import numpy as np

from immax.arrays import Array, Vector
from immax.cli.predictions import as_model_input, schema_of
from immax.decisions import DecidedModel, rule_of
from immax.io import ModelFile, ModelFileError
from immax.margins import theory_margins
from immax.tabular import Column, as_labels, read_labelled
from immax.tabular.table_files import open_table
from immax.theory import describe_certificates

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["ModelDescription", "describe_model", "description_text"]


class ModelDescription(TypedDict, total=False):
    """The layout of ``immax explain --json``; what is not known of a model is missing."""

    estimator: Required[str]
    target: Required[str]
    metric: Required[str]
    versions: Required[dict[str, str]]
    classes: Required[list[str]]
    score: Required[float | None]
    lam: Required[float | None]
    rule: Required[str | None]
    counts: list[float]
    theory: list[float] | None
    margins: list[float]
    threshold: float
    coefficients: dict[str, list[float]]
    penalty: str
    kept: list[str]
    objective: float
    gap: float
    accuracy: float
    certificate: str


def describe_model(file: ModelFile, table: Path | None = None) -> ModelDescription:
    """Return the classes, counts, margins, threshold and coefficients of a model.

    Parameters
    ----------
    file : ModelFile
    table : Path, optional
        Data with labels, which add the accuracy on them and a certificate.

    Returns
    -------
    ModelDescription
        The theory's margins have the sum of the model's, or else mean one.
    """
    steps = getattr(file.model, "steps", None)
    last = steps[-1][1] if steps else file.model
    decision = rule_of(last)
    if isinstance(last, DecidedModel):
        last = last.model
    estimator = getattr(last, "best_estimator_", last)
    classes = [str(name) for name in file.model.classes_]
    description: ModelDescription = {
        "estimator": type(getattr(last, "model", last)).__name__,
        "target": file.target,
        "metric": file.metric,
        "versions": file.about.get("versions", {}),
        "classes": classes,
        "score": getattr(last, "best_score_", None),
        "lam": getattr(estimator, "lam", None),
        "rule": getattr(estimator, "rule", None) if decision is None else str(decision),
    }
    total = float(len(classes))
    margins = getattr(estimator, "margins_", None)
    if margins is not None:
        rho = np.asarray(margins, dtype=np.float64)
        total = float(rho.sum())
        description["margins"] = rho.tolist()
        if len(classes) == 2 and decision is None:
            description["threshold"] = float(rho[1] / (rho[0] + rho[1]))
    if file.about.get("counts"):
        _add_counts(description, np.array(file.about["counts"], dtype=np.float64), total)
    preparation = getattr(estimator, "preparation_", file.model[:-1] if steps else None)
    if hasattr(estimator, "coef_") and preparation is not None:
        names = preparation.get_feature_names_out()
        description["coefficients"] = {
            str(name): column.tolist()
            for name, column in zip(names, np.asarray(estimator.coef_).T, strict=True)
        }
        if getattr(estimator, "penalty", "l2") != "l2":
            description["penalty"] = estimator.penalty
            used = np.flatnonzero(np.asarray(estimator.coef_).any(axis=0))
            description["kept"] = [str(names[j]) for j in used]
    if hasattr(estimator, "gap_"):
        description["objective"] = estimator.objective_
        description["gap"] = estimator.gap_
    if table is not None:
        _add_results_on(description, file, table, total)
    return description


def _add_counts(description: ModelDescription, counts: Vector, total: float) -> None:
    """Add the class counts, and the theory's margins for them."""
    description["counts"] = counts.tolist()
    known = bool((counts > 0).all())
    description["theory"] = theory_margins(counts, total=total).tolist() if known else None


def _add_results_on(
    description: ModelDescription, file: ModelFile, table: Path, total: float
) -> None:
    """Add the counts of a table, the accuracy on it and a certificate."""
    X, own = _read_labelled(file, table)
    labels = own.astype(str)
    counts = np.array([float((labels == name).sum()) for name in description["classes"]])
    _add_counts(description, counts, total)
    predicted = np.asarray(file.model.predict(X)).astype(str)
    description["accuracy"] = float(np.mean(predicted == labels))
    description["certificate"] = describe_certificates(file.model, X, own)


def _read_labelled(file: ModelFile, table: Path) -> tuple[DataFrame | Array, Array]:
    """Read the features and labels of a table by the schema of a model."""
    if not file.target:
        raise ModelFileError("the model file does not name the column of the labels")
    schema = schema_of(file, open_table(table))
    kind = {"b": "boolean", "i": "number"}.get(file.model.classes_.dtype.kind, "category")
    labels = schema.labels or Column(file.target, kind)
    X, y = read_labelled(table, schema, labels)
    return as_model_input(file, X), as_labels(y)


def description_text(description: ModelDescription, top: int = 10) -> str:
    """Return a description as lines of text.

    Parameters
    ----------
    description : ModelDescription
    top : int, default=10
        The number of coefficients to show.

    Returns
    -------
    str
    """
    lines = [f"{description['estimator']} of {description['target'] or 'labels'}"]
    if description["score"] is not None:
        lines.append(f"{description['metric']} {description['score']:.4f} by cross-validation")
    if description["lam"]:
        lines.append(f"lambda {description['lam']:g}, rule {description['rule']}")
    lines += ["", *_class_lines(description)]
    if "threshold" in description:
        lines.append(
            f"by score, {description['classes'][1]} is predicted when its probability exceeds the "
            f"threshold {description['threshold']:.4f}"
        )
    if "kept" in description:
        nonzero, number = description["kept"], len(description["coefficients"])
        lines.append(
            f"the {description['penalty']} penalty kept {len(nonzero)} of {number} features"
        )
        lines += [f"    {name}" for name in nonzero]
    if "gap" in description:
        lines.append(
            f"objective {description['objective']:.6g}, within {description['gap']:.2g} of the "
            "optimum"
        )
    if "accuracy" in description:
        lines += ["", f"accuracy on this data {description['accuracy']:.4f}"]
        lines.append(description["certificate"])
    if top:
        lines += _coefficient_lines(description.get("coefficients", {}), top)
    return "\n".join(lines)


def _class_lines(description: ModelDescription) -> list[str]:
    """Return a line for each class, with its margin, count and theoretical margin if known."""
    columns = {
        "margin": [f"{value:.4f}" for value in description.get("margins") or []],
        "samples": [f"{value:g}" for value in description.get("counts") or []],
        "theory": [f"{value:.4f}" for value in description.get("theory") or []],
    }
    known = {name: values for name, values in columns.items() if values}
    lines = [f"{'class':20}" + "".join(f" {name:>9}" for name in known)]
    for k, name in enumerate(description["classes"]):
        lines.append(f"{name[:20]:20}" + "".join(f" {values[k]:>9}" for values in known.values()))
    return lines


def _coefficient_lines(coefficients: dict[str, list[float]], top: int) -> list[str]:
    if not coefficients:
        return []
    lines = ["", "largest coefficients"]
    sizes = {name: max(map(abs, row)) for name, row in coefficients.items()}
    for name in sorted(sizes, key=lambda own: -sizes[own])[:top]:
        values = " ".join(f"{value:+.4f}" for value in coefficients[name])
        lines.append(f"{name[:30]:30} {values}")
    return lines
