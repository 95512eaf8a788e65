"""The search of ``immax fit``: for a metric, an aim, or any scorer of scikit-learn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.metrics import get_scorer_names

from immax import IMMAXClassifierCV
from immax.compare.decided_search import DecidedSearch, serve_aim
from immax.compare.judge import make_judge
from immax.compare.protocol import Protocol
from immax.evaluation.metrics import METRICS

if TYPE_CHECKING:
    from immax.arrays import Array
    from immax.cli.aim_options import AimOptions

__all__ = ["Search", "describe_fit", "make_search"]


class Search(NamedTuple):
    """A search that is not fitted yet, and the name of what it is for."""

    model: Any
    name: str


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
        return Search(_search(loss, name, folds, seed, penalty), name)
    purpose = options.resolve(classes)
    judge = make_judge(Protocol(purpose.metric, aim=purpose.aim), classes, counts)
    scorer = "balanced_accuracy" if loss == "hinge" and judge.needs_proba else judge.scorer
    search = _search(loss, scorer, folds, seed, penalty)
    return Search(serve_aim(search, judge, y, folds, seed), purpose.name)


def _search(loss: str, scorer: str, folds: int, seed: int, penalty: str) -> IMMAXClassifierCV:
    return IMMAXClassifierCV(loss, penalty=penalty, scoring=scorer, cv=folds, random_state=seed)


def describe_fit(fitted: Any) -> dict[str, Any]:
    """Return what a fitted search has chosen, as JSON holds it.

    Parameters
    ----------
    fitted : IMMAXClassifierCV or DecidedSearch

    Returns
    -------
    dict
    """
    search, score, rule = fitted, fitted.best_score_, getattr(fitted, "best_rule_", None)
    if isinstance(fitted, DecidedSearch):
        search = getattr(fitted.estimator_, "model", fitted.estimator_)
        score, rule = fitted.judge.sign * fitted.best_score_, fitted.rule_
    return {
        "score": float(score),
        "power": float(search.best_parameters_[0]),
        "lam": float(search.best_lam_),
        "rule": str(rule),
    }
