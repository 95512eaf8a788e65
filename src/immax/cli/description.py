"""What a model file says, for people and for programs."""

from __future__ import annotations

from copy import copy
from pathlib import Path
from typing import Any

import numpy as np

from immax.datasets import read_table
from immax.io import ModelFile
from immax.margins import theory_margins
from immax.tabular import as_labels
from immax.theory import certificate

__all__ = ["explanation", "shown"]


def explanation(file: ModelFile, table: Path | None) -> dict[str, Any]:
    """Classes, counts, margins, thresholds, coefficients; with data, also a certificate."""
    steps = getattr(file.model, "steps", None)
    last = steps[-1][1] if steps else file.model
    machine = getattr(last, "best_estimator_", last)
    classes = [str(name) for name in file.model.classes_]
    content: dict[str, Any] = {
        "estimator": type(getattr(last, "model", last)).__name__,
        "target": file.target,
        "metric": file.metric,
        "versions": file.about.get("versions", {}),
        "classes": classes,
        "score": getattr(last, "best_score_", None),
        "lam": getattr(machine, "lam", None),
        "rule": getattr(machine, "rule", None),
    }
    if file.about.get("counts"):
        content |= _counts(np.array(file.about["counts"], dtype=float))
    margins = getattr(machine, "margins_", None)
    if margins is not None:
        content["margins"] = np.asarray(margins, dtype=float).tolist()
        if len(classes) == 2:
            content["threshold"] = float(margins[1] / np.sum(margins))
    if hasattr(machine, "coef_") and steps:
        names = file.model[:-1].get_feature_names_out()
        content["coefficients"] = {
            str(name): column.tolist()
            for name, column in zip(names, np.asarray(machine.coef_).T, strict=True)
        }
    if hasattr(machine, "gap_"):
        content |= {"objective": machine.objective_, "gap": machine.gap_}
    if table is not None:
        content |= _on_data(file, machine, table, classes)
    return content


def _counts(counts: Any) -> dict[str, Any]:
    """Of the classes, with the theory's margins for them."""
    theory = theory_margins(counts).tolist() if (counts > 0).all() else None
    return {"counts": counts.tolist(), "theory": theory}


def _on_data(file: ModelFile, machine: Any, table: Path, classes: list[str]) -> dict[str, Any]:
    X, y = read_table(table, file.target)
    if file.schema is not None:
        file.schema.check(X)
    own = as_labels(y)
    labels = own.astype(str)
    counts = np.array([float((labels == name).sum()) for name in classes])
    found = _counts(counts)
    found["accuracy"] = float(np.mean(np.asarray(file.model.predict(X)).astype(str) == labels))
    steps = getattr(file.model, "steps", None)
    features = file.model[:-1].transform(X) if steps else X
    by_score = copy(machine).set_params(rule="score") if hasattr(machine, "rule") else machine
    try:
        found["certificate"] = str(certificate(by_score, features, own))
    except (TypeError, AttributeError):
        found["certificate"] = "No certificate: there is one for linear and kernel machines only."
    return found


def _class_table(content: dict[str, Any]) -> list[str]:
    """A line for each class, with what is known of it."""
    columns = (
        ("margin", "margins", ".4f"),
        ("samples", "counts", "g"),
        ("theory", "theory", ".4f"),
    )
    known = [column for column in columns if content.get(column[1])]
    lines = [f"{'class':20}" + "".join(f" {name:>9}" for name, _, _ in known)]
    for k, name in enumerate(content["classes"]):
        values = [f"{content[key][k]:{form}}" for _, key, form in known]
        lines.append(f"{name[:20]:20}" + "".join(f" {value:>9}" for value in values))
    return lines


def shown(content: dict[str, Any], top: int) -> str:
    """As text."""
    lines = [f"{content['estimator']} of {content['target'] or 'labels'}"]
    if content["score"] is not None:
        lines.append(f"{content['metric']} {content['score']:.4f} by cross-validation")
    if content["lam"]:
        lines.append(f"lambda {content['lam']:g}, rule {content['rule']}")
    lines += ["", *_class_table(content)]
    if "threshold" in content:
        name = content["classes"][1]
        lines.append(
            f"by score, {name} is said where its probability is above the threshold "
            f"{content['threshold']:.4f}"
        )
    if "gap" in content:
        lines.append(
            f"objective {content['objective']:.6g}, within {content['gap']:.2g} of the best"
        )
    if "accuracy" in content:
        lines += ["", f"accuracy on this data {content['accuracy']:.4f}", content["certificate"]]
    if content.get("coefficients") and top:
        lines += ["", "largest coefficients"]
        sizes = {name: max(map(abs, row)) for name, row in content["coefficients"].items()}
        for name in sorted(sizes, key=lambda own: -sizes[own])[:top]:
            values = " ".join(f"{value:+.4f}" for value in content["coefficients"][name])
            lines.append(f"{name[:30]:30} {values}")
    return "\n".join(line for line in lines)
