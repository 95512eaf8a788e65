"""What decisions are for, from the options of ``immax compare`` and ``immax fit``."""

from __future__ import annotations

import csv
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from immax.errors import WrongCall

if TYPE_CHECKING:
    from immax.arrays import Array
    from immax.decisions import Aim

__all__ = ["AIM_HELP", "BUDGET_HELP", "COSTS_HELP", "MATRIX_HELP", "AimOptions", "Purpose"]

AIM_HELP = (
    "What decisions are for, such as balanced_accuracy, f1, mcc, gmean, 'recall at precision 0.9' "
    "or 'precision at recall 0.8'; every method gets the decision rule that serves it best."
)
COSTS_HELP = "What an error on each class costs, such as fraud=10,ok=1."
MATRIX_HELP = (
    "A CSV file of costs: a row for each true class and a column for each predicted one, with the "
    "classes in its first column and its first line."
)
BUDGET_HELP = "How many rows can be followed up: a share such as 1%, or a number of rows."


@dataclass(frozen=True)
class Purpose:
    """What methods are ranked and fitted for: a metric, or an aim that has none."""

    metric: str
    aim: Aim | None

    @property
    def name(self) -> str:
        """Return the name that model files hold."""
        return self.metric if self.aim is None else self.aim.name


@dataclass(frozen=True)
class AimOptions:
    """The options, of which at most one is given.

    Parameters
    ----------
    metric, aim, costs : str or None
    cost_matrix : Path or None
    budget : str or None
    """

    metric: str | None = None
    aim: str | None = None
    costs: str | None = None
    cost_matrix: Path | None = None
    budget: str | None = None

    def __post_init__(self) -> None:
        given = [f"--{name.replace('_', '-')}" for name, value in vars(self).items() if value]
        if len(given) > 1:
            raise WrongCall(f"{' and '.join(given)} contradict each other: give one of them")

    def resolve(self, classes: Array, default: str = "accuracy") -> Purpose:
        """Return what the options mean for the classes of a table.

        Parameters
        ----------
        classes : ndarray of shape (n_classes,)
        default : str, default="accuracy"
            The metric if there is no option.

        Returns
        -------
        Purpose

        Raises
        ------
        WrongCall
            If an option cannot be understood, or does not suit the classes.
        """
        from immax.decisions import Costs
        from immax.evaluation.metrics import METRICS
        from immax.validation import nearest

        name = self.metric or self.aim
        try:
            if self.costs is not None:
                return Purpose("accuracy", Costs(_parse_costs(self.costs, classes)))
            if self.cost_matrix is not None:
                return Purpose("accuracy", Costs(_read_matrix(self.cost_matrix, classes)))
            if self.budget is not None:
                return Purpose("accuracy", _parse_budget(self.budget))
            if name is None:
                return Purpose(default, None)
            if name in METRICS:
                return Purpose(name, None)
            if self.metric is not None:
                raise WrongCall(f"unknown metric {name!r}{nearest(name, METRICS)}")
            return Purpose("accuracy", _parse_aim(name))
        except WrongCall:
            raise
        except ValueError as error:
            raise WrongCall(str(error)) from error


def _parse_aim(text: str) -> Aim:
    from immax.decisions import PrecisionAt, RecallAt, resolve_aim

    parts = re.fullmatch(
        r"\s*(recall|precision)[ _]at[ _](recall|precision)[ _=]+([\d.]+)\s*", text
    )
    if parts is None or parts[1] == parts[2]:
        return resolve_aim(text)
    value = float(parts[3])
    return RecallAt(value) if parts[1] == "recall" else PrecisionAt(value)


def _parse_costs(text: str, classes: Array) -> dict[object, float]:
    costs: dict[str, float] = {}
    for part in text.split(","):
        label, sign, value = part.rpartition("=")
        if label.strip() in costs:
            raise WrongCall(f"--costs names {label.strip()!r} more than once; got {text!r}")
        try:
            costs[label.strip()] = float(value)
        except ValueError:
            sign = ""
        if not sign:
            raise WrongCall(f"--costs must be like fraud=10,ok=1; got {text!r}")
    return dict(zip(classes.tolist(), _in_order(costs, classes, "--costs"), strict=True))


def _in_order(values: dict[str, float], classes: Array, option: str) -> list[float]:
    """Return the values of the classes, whose labels may be numbers."""
    names = [str(label) for label in classes.tolist()]
    unknown = [name for name in values if name not in names]
    missing = [name for name in names if name not in values]
    if unknown or missing:
        raise WrongCall(
            f"{option} must name each of the classes {', '.join(map(repr, names))}; "
            + (f"unknown: {', '.join(map(repr, unknown))}" if unknown else "")
            + ("; " if unknown and missing else "")
            + (f"missing: {', '.join(map(repr, missing))}" if missing else "")
        )
    return [values[name] for name in names]


def _read_matrix(path: Path, classes: Array) -> list[list[float]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        lines = [line for line in csv.reader(file) if any(cell.strip() for cell in line)]
    if len(lines) < 2:
        raise WrongCall(f"{path} has no costs: {MATRIX_HELP}")
    predicted = [name.strip() for name in lines[0][1:]]
    for kind, names in (("columns", predicted), ("rows", [line[0].strip() for line in lines[1:]])):
        twice = [name for name, times in Counter(names).items() if times > 1]
        if twice:
            raise WrongCall(f"{path} has several {kind} for {', '.join(map(repr, twice))}")
    rows: dict[str, list[float]] = {}
    for line in lines[1:]:
        try:
            values = dict(zip(predicted, map(float, line[1:]), strict=True))
        except ValueError:
            raise WrongCall(
                f"{path}: the line of {line[0]!r} must have {len(predicted)} numbers after it"
            ) from None
        rows[line[0].strip()] = _in_order(values, classes, str(path))
    order = _in_order(dict.fromkeys(rows, 0.0), classes, str(path))
    return [rows[str(label)] for label, _ in zip(classes.tolist(), order, strict=True)]


def _parse_budget(text: str) -> Aim:
    from immax.decisions import Budget

    parts = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(%?)\s*", text)
    if parts is None:
        raise WrongCall(f"--budget must be a share such as 1% or a number of rows; got {text!r}")
    value = float(parts[1])
    if parts[2]:
        return Budget(share=value / 100)
    if value != int(value):
        raise WrongCall(
            f"--budget {text} is neither a share nor a number of rows; is {value:.0%} meant?"
        )
    return Budget(count=int(value))
