"""Scores of held-out samples to a number, by any of scikit-learn's scorers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import signature
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import get_scorer

from immax.arrays import Array
from immax.links import by_score, decide, immax_proba

__all__ = ["HeldOut", "Scorer", "averages", "log_probability"]

CELLS = 100  # of a search, more or less


class HeldOut(ClassifierMixin, BaseEstimator):
    """A fitted classifier whose scores are known; what it is asked about does not matter.

    Samples may have been scored by different models: ``rho[kinds[i]]`` are the margins of the one
    that scored sample i.
    """

    def __init__(
        self,
        classes: Array,
        scores: Array,
        rho: Array,
        loss: str,
        rule: str = "score",
        kinds: Array | None = None,
    ) -> None:
        self.classes = classes
        self.scores = scores
        self.rho = rho
        self.loss = loss
        self.rule = rule
        self.kinds = kinds
        self._proba: Array | None = None

    def part(self, rows: Array) -> HeldOut:
        """Of some of the samples."""
        kinds = None if self.kinds is None else self.kinds[rows]
        return HeldOut(self.classes, self.scores[rows], self.rho, self.loss, self.rule, kinds)

    @property
    def classes_(self) -> Array:
        return self.classes

    def decision_function(self, X: Any) -> Array:  # noqa: ARG002
        return self.scores if len(self.classes) > 2 else self.scores[:, 0]

    def predict_proba(self, X: Any) -> Array:
        if self.loss == "hinge":
            raise AttributeError("the hinge loss does not determine probabilities")
        if self._proba is None:
            self._proba = self._linked(X)
        return self._proba

    def _linked(self, X: Any) -> Array:
        scores = self.decision_function(X)
        if self.kinds is None:
            return immax_proba(scores, self.rho, self.loss, expected_calls=CELLS)
        proba = np.empty((len(scores), len(self.classes)))
        for kind, rho in enumerate(self.rho):
            rows = np.flatnonzero(self.kinds == kind)
            if rows.size:
                proba[rows] = immax_proba(scores[rows], rho, self.loss, expected_calls=CELLS)
        return proba

    def predict(self, X: Any) -> Array:
        scores = self.decision_function(X)
        if self.rule == "bayes":
            return np.asarray(self.classes[decide(self.predict_proba(X))])
        return np.asarray(self.classes[by_score(scores)])


class Scorer:
    """A scorer by name or function, and what it needs."""

    def __init__(self, scoring: Any, loss: str) -> None:
        self._scorer = get_scorer("accuracy" if scoring is None else scoring)
        asked = getattr(self._scorer, "_response_method", "predict")
        asked = (asked,) if isinstance(asked, str) else tuple(asked)
        if loss == "hinge" and asked == ("predict_proba",):
            raise ValueError(
                f"scoring={scoring!r} needs probabilities, which the hinge loss does not "
                "determine; take loss='logistic', or another scorer"
            )
        self.by_labels = "predict" in asked
        function: Callable[..., Any] = getattr(self._scorer, "_score_func", self._scorer)
        self._weighted = "sample_weight" in signature(function).parameters
        # The most common ones without scikit-learn's checks, which take longer than a fit.
        plain = {None: _right, "accuracy": _right, "neg_log_loss": log_probability}
        self._each = plain.get(scoring) if scoring is None or isinstance(scoring, str) else None

    def groups(
        self, model: HeldOut, X: Any, y: Array, weight: Array | None, groups: Sequence[Array]
    ) -> list[float]:
        """Of groups of samples."""
        if self._each:
            return averages(self._each(model, X, y), weight, groups)
        if len(groups) == 1:
            return [self._of(model, X, y, weight)]
        weights = [None if weight is None else weight[rows] for rows in groups]
        return [
            self._of(model.part(rows), X[rows], y[rows], own)
            for rows, own in zip(groups, weights, strict=True)
        ]

    def _of(self, model: HeldOut, X: Any, y: Array, weight: Array | None) -> float:
        if weight is not None and self._weighted:
            return float(self._scorer(model, X, y, sample_weight=weight))
        return float(self._scorer(model, X, y))


def averages(each: Array, weight: Array | None, groups: Sequence[Array]) -> list[float]:
    """Weighted means over groups of samples."""
    weights = [None if weight is None else weight[rows] for rows in groups]
    pairs = zip(groups, weights, strict=True)
    return [float(np.average(each[rows], weights=own)) for rows, own in pairs]


def _right(model: HeldOut, X: Any, y: Array) -> Array:
    return np.asarray(model.predict(X) == y)


def log_probability(model: HeldOut, X: Any, y: Array) -> Array:
    """Of each sample's own class."""
    proba = model.predict_proba(X)
    own = proba[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    return np.log(np.maximum(own, np.finfo(proba.dtype).eps))
