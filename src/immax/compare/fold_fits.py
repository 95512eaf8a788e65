"""The fit of a method on a fold, which any process can make."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from immax.arrays import Array, Features
from immax.compare.fold_cache import FoldResult
from immax.compare.prepared_folds import PreparedFolds
from immax.compare.protocol import Protocol, Split, fit_candidate
from immax.compare.time_limit import interrupt_at
from immax.decisions.decided_model import rule_of
from immax.evaluation.candidates import CANDIDATES
from immax.tabular import Schema

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["FoldData", "FoldFitter", "FoldTask", "Outcome", "Predictions", "predict_rows"]

Outcome: TypeAlias = FoldResult | Exception
"""What a fit gives: predictions, or why there are none."""


@dataclass(frozen=True, eq=False)
class FoldData:
    """What the fits of all methods on all folds need.

    Attributes
    ----------
    X : DataFrame
    classes : ndarray of shape (n_classes,)
    codes : ndarray of shape (n,)
        The class of each row.
    schema : Schema
    splits : sequence of Split
    protocol : Protocol
    """

    X: DataFrame
    classes: Array
    codes: Array
    schema: Schema
    splits: Sequence[Split]
    protocol: Protocol


@dataclass(frozen=True)
class FoldTask:
    """A method and the number of a fold."""

    method: str
    fold: int


class FoldFitter:
    """Fits methods to the training parts of folds and predicts the test parts.

    Parameters
    ----------
    data : FoldData
    """

    def __init__(self, data: FoldData) -> None:
        self._data = data
        self._scorer = data.protocol.scorer(data.classes, np.bincount(data.codes))
        self._prepared = PreparedFolds(data.X, data.schema, data.splits)

    def attempt(self, task: FoldTask, seconds: float | None = None) -> Outcome:
        """Fit a method on a fold.

        Parameters
        ----------
        task : FoldTask
        seconds : float, optional
            The time after which the fit is abandoned.

        Returns
        -------
        FoldResult or Exception
            TimeoutError if the fit was abandoned, ValueError if the method failed.
        """
        deadline = None if seconds is None else time.monotonic() + seconds
        try:
            with interrupt_at(deadline):
                return self._fit(task)
        except (TimeoutError, ValueError) as error:
            return error

    def _fit(self, task: FoldTask) -> FoldResult:
        data, candidate = self._data, CANDIDATES[task.method]
        fold = self._prepared[task.fold]
        y = data.codes[data.splits[task.fold].train]
        start = time.perf_counter()
        model, chosen = fit_candidate(task.method, fold.train, y, data.protocol, self._scorer)
        has_proba = candidate.proba or self._scorer.aim is not None
        labels, proba, decision_proba = predict_rows(model, fold.test, has_proba)
        seconds = time.perf_counter() - start
        return FoldResult(labels, proba, seconds, chosen, decision_proba)


class Predictions(NamedTuple):
    """Labels and probabilities, and those that labels were decided by if they are others."""

    labels: Array
    proba: Array | None
    decision_proba: Array | None


def predict_rows(model: Any, X: Features, has_proba: bool) -> Predictions:
    """Return the predictions of a fitted method.

    Parameters
    ----------
    model : classifier
    X : ndarray of shape (n, d)
        Features.
    has_proba : bool
        Whether probabilities are wanted.

    Returns
    -------
    Predictions
    """
    labels = np.asarray(model.predict(X))
    proba = model.predict_proba(X) if has_proba else None
    decision_proba = None
    if has_proba and rule_of(model) is not None and hasattr(model, "decision_proba"):
        decision_proba = model.decision_proba(X)
    return Predictions(labels, proba, decision_proba)
