"""The search of ``immax fit``: for a metric, an aim, or any scorer of scikit-learn."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import typer
from sklearn.metrics import get_scorer_names
from sklearn.pipeline import Pipeline

from immax import IMMAXClassifierCV
from immax.compare.protocol import Protocol
from immax.compare.target import encode_target
from immax.evaluation.estimators import describe_parameters
from immax.evaluation.metrics import METRICS
from immax.tabular import fit_prepared, prepare, read_training_table

if TYPE_CHECKING:
    from immax.arrays import Array
    from immax.cli.aim_options import AimOptions
    from immax.decisions import Aim
    from immax.tabular import ReadingOptions, Schema

__all__ = ["FitSettings", "FittedTable", "Search", "describe_fit", "fit_in_memory", "make_search"]


class Search(NamedTuple):
    """A search that is not fitted yet, and what it is for.

    Attributes
    ----------
    model : IMMAXClassifierCV
    name : str
        The name of the metric or aim.
    sign : float
        1, or -1 if the search maximises what is to be low, such as costs.
    """

    model: IMMAXClassifierCV
    name: str
    sign: float = 1.0


class FitSettings(NamedTuple):
    """The options of a fit other than its aim."""

    loss: str
    penalty: str
    folds: int
    seed: int


class FittedTable(NamedTuple):
    """A pipeline fitted to a table, and what a model file says of it."""

    model: Pipeline
    schema: Schema
    counts: Array
    search: Search


def fit_in_memory(
    path: Path,
    target: str,
    reading: ReadingOptions,
    options: AimOptions,
    settings: FitSettings,
) -> FittedTable:
    """Search, and fit the choice to all rows.

    Parameters
    ----------
    path : Path
        The table.
    target : str
        The column of the labels.
    reading : ReadingOptions
    options : AimOptions
    settings : FitSettings

    Returns
    -------
    FittedTable
    """
    table = read_training_table(path, target, reading)
    for notice in table.notices:
        typer.echo(f"immax: {notice}", err=True)
    classes, codes = encode_target(table.y)
    labels = classes[codes]
    loss, penalty, folds, seed = settings
    search = make_search(loss, options, labels, folds, seed, penalty)
    prepared = fit_prepared(prepare(table.schema), search.model, table.X, labels)
    return FittedTable(prepared, table.schema, np.bincount(codes), search)


def make_search(
    loss: str, options: AimOptions, y: Array, folds: int, seed: int, penalty: str = "l2"
) -> Search:
    """Return the search for margins, λ and decisions that the options ask for.

    Parameters
    ----------
    loss : str
    options : AimOptions
    y : ndarray of shape (n,)
        Labels.
    folds : int
        Of the cross-validation; fewer if a class has fewer rows.
    seed : int
    penalty : {"l2", "l1", "elasticnet", "group"}, default="l2"
        Of the models.

    Returns
    -------
    Search

    Raises
    ------
    WrongCall
        If the options cannot be understood, or do not suit the classes.
    """
    classes, counts = np.unique(y, return_counts=True)
    folds = min(folds, int(counts.min()))
    name = options.metric
    if name is not None and name not in METRICS and name in get_scorer_names():
        return Search(_search(loss, folds, seed, penalty, scoring=name), name)
    purpose = options.resolve(classes)
    scorer = Protocol(purpose.metric, aim=purpose.aim).scorer(classes, counts)
    if scorer.aim is not None:
        model = _search(loss, folds, seed, penalty, aim=scorer.aim)
        return Search(model, purpose.name, scorer.sign)
    selector = "balanced_accuracy" if loss == "hinge" and scorer.needs_proba else scorer.selector
    return Search(_search(loss, folds, seed, penalty, scoring=selector), purpose.name)


def _search(
    loss: str,
    folds: int,
    seed: int,
    penalty: str,
    *,
    scoring: str | None = None,
    aim: Aim | None = None,
) -> IMMAXClassifierCV:
    return IMMAXClassifierCV(
        loss, penalty=penalty, scoring=scoring, cv=folds, random_state=seed, aim=aim
    )


def describe_fit(fitted: IMMAXClassifierCV, sign: float = 1.0) -> dict[str, Any]:
    """Return what a fitted search has chosen, as JSON holds it.

    Parameters
    ----------
    fitted : IMMAXClassifierCV
    sign : float, default=1.0
        As in ``Search``.

    Returns
    -------
    dict
    """
    return {
        "score": sign * float(fitted.best_score_),
        **describe_parameters(fitted.best_parameters_),
        "lam": float(fitted.best_lam_),
        "rule": str(fitted.best_rule_),
    }
