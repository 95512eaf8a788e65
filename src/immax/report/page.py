"""The page of a comparison: one file that needs nothing else."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from immax import __version__
from immax.atomic import write_text
from immax.compare.protocol import INNER_FOLDS
from immax.compare.results import Comparison
from immax.compare.verdict import Answer
from immax.evaluation.candidates import CANDIDATES, PLAIN
from immax.evaluation.environment import describe_environment
from immax.evaluation.metrics import METRICS
from immax.report.pictures import comparison, margins, precision_recall, reliability, surface
from immax.report.tables import class_rows, confusion, data_rows

__all__ = ["About", "render", "write_report"]

SIDE_BY_SIDE = 4  # methods whose classes are shown
MOST_CONFUSED = 12  # classes of a confusion matrix


@dataclass(frozen=True)
class About:
    """Where a comparison comes from."""

    source: str
    target: str
    command: str
    seconds: float
    notices: tuple[str, ...] = ()


def write_report(
    path: Path, found: Comparison, answer: Answer, models: Mapping[str, Any], about: About
) -> None:
    """Write the page, whole or not at all.

    Parameters
    ----------
    path : Path
    found : Comparison
    answer : Answer
    models : mapping
        Pipelines fitted to all rows, by method; "immax" shows its margins and its search.
    about : About
    """
    write_text(path, render(found, answer, models, about))


def render(found: Comparison, answer: Answer, models: Mapping[str, Any], about: About) -> str:
    """The page's text."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ModuleNotFoundError as error:
        raise ImportError('reports need Jinja2: pip install "immax[report]"') from error
    templates = Environment(
        loader=PackageLoader("immax.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    shown = _side_by_side(answer)
    searched = models.get("immax")
    machine = None if searched is None else searched[-1]
    return templates.get_template("page.html").render(
        about=about,
        answer=answer,
        title=f"{about.target} of {about.source}",
        measures=[name for name in METRICS if any(name in row.measures for row in answer.rows)],
        higher={name: metric.higher_is_better for name, metric in METRICS.items()},
        classes=data_rows(found),
        found=found,
        ratio=found.counts.max() / found.counts.min(),
        left_out={CANDIDATES[name].title: why for name, why in found.left_out.items()},
        plain=PLAIN,
        inner_folds=INNER_FOLDS,
        per_class=[(answer.row(name).title, class_rows(found, name)) for name in shown],
        confusions=(
            [(answer.row(name).title, confusion(found, name)) for name in shown]
            if len(found.classes) <= MOST_CONFUSED
            else []
        ),
        figures={
            "comparison": comparison(answer),
            "reliability": reliability(found, answer),
            "precision_recall": precision_recall(found, answer),
            "surface": None if machine is None else surface(machine),
            "margins": None if machine is None else margins(machine, found.counts),
        },
        machine=machine,
        thresholds=_thresholds(machine, found),
        certificate=None if machine is None else _certificate(searched, found),
        environment=describe_environment(),
        version=__version__,
        date=f"{datetime.datetime.now(tz=datetime.UTC):%Y-%m-%d %H:%M} UTC",
    )


def _side_by_side(answer: Answer) -> list[str]:
    """The best methods, with the recommended one, plain logistic regression and IMMAX."""
    names = [row.name for row in answer.rows]
    wanted = [answer.recommended, PLAIN, "immax", *names]
    kept = [name for name in dict.fromkeys(wanted) if name in names][:SIDE_BY_SIDE]
    return sorted(kept, key=names.index)


def _thresholds(machine: Any, found: Comparison) -> list[tuple[str, float]]:
    """For two classes: the probability above which a class is said by its score."""
    if machine is None or len(found.classes) != 2:
        return []
    rho = np.asarray(machine.margins_)
    return list(zip(found.class_names, (rho / rho.sum()).tolist(), strict=True))


def _certificate(pipeline: Any, found: Comparison) -> str:
    """Of predictions by the highest score, which are those that the bounds are for."""
    from immax.theory import certificate

    machine = copy(pipeline[-1].best_estimator_).set_params(rule="score")
    features = pipeline[:-1].transform(found.X)
    return str(certificate(machine, features, found.classes[found.codes]))
