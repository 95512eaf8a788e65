"""Searches whose fits serve several aims at once.

A fit to the training part of a fold does not depend on what decisions are for. So one grid search
makes the fits, and every aim chooses among them for itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid, check_cv

from immax.arrays import Array, Features
from immax.decisions.fitting import fit_rule
from immax.decisions.rules import Rule
from immax.evaluation.meta_estimators import Classifier, CrossValidation
from immax.evaluation.metrics import METRICS, Metric

__all__ = ["AimSearch", "AimedClassifier", "DecidedClassifier", "PerAim"]


class AimedClassifier(Protocol):
    """What is fitted once and holds a classifier for each of several aims."""

    def fit(self, X: Features, y: Array) -> AimedClassifier:
        """Fit to samples and their labels."""

    def for_aim(self, metric: str) -> Classifier:
        """Return the fitted classifier of an aim, by the name of its metric."""


@dataclass(frozen=True, eq=False)
class DecidedClassifier:
    """A fitted classifier whose labels are those of a rule.

    Attributes
    ----------
    model : classifier
        With ``predict_proba``.
    rule : Rule
    """

    model: Classifier
    rule: Rule

    @property
    def classes_(self) -> Array:
        """The labels."""
        return self.rule.classes

    def fit(self, X: Features, y: Array) -> Self:
        """Fit the classifier again; the rule stays as it is."""
        self.model.fit(X, y)
        return self

    def predict_proba(self, X: Features) -> Array:
        """Return the classifier's probabilities."""
        return np.asarray(self.model.predict_proba(X))  # type: ignore[attr-defined]

    def predict(self, X: Features) -> Array:
        """Return labels by the rule."""
        return self.rule.predict(self.predict_proba(X))


@dataclass(frozen=True)
class _HeldOut:
    """Predictions of all samples by models that were not fitted to them."""

    labels: Array
    proba: Array | None


class AimSearch:
    """A grid search whose fits serve several aims.

    Parameters
    ----------
    model : classifier
    grid : mapping of str to sequence
        Values of its parameters.
    cv : splitter, or sequence of pairs of indices
        Test parts do not overlap.
    metrics : sequence of str
        Names of ``METRICS``, each of which stands for an aim.
    decide : bool, default=False
        Whether labels are those of the rule that serves the aim best, fitted to the out-of-fold
        probabilities as in ``DecisionClassifierCV``; if not, those that the classifier predicts.

    Attributes
    ----------
    best_params_ : dict of str to dict
        For each metric, the choice.
    """

    def __init__(
        self,
        model: Classifier,
        grid: Mapping[str, Sequence[object]],
        cv: CrossValidation,
        metrics: Sequence[str],
        *,
        decide: bool = False,
    ) -> None:
        self.model = model
        self.grid = grid
        self.cv = cv
        self.metrics = metrics
        self.decide = decide

    def fit(self, X: Array, y: Array) -> AimSearch:
        """Search, and fit what the aims have chosen to all samples."""
        classes, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
        splits = list(check_cv(self.cv, y, classifier=True).split(X, y))
        points = list(ParameterGrid(dict(self.grid)))
        best: dict[str, tuple[float, int, Rule | None]] = {}
        for number, params in enumerate(points):
            if len(points) == 1 and not self.decide:
                best = dict.fromkeys(self.metrics, (0.0, 0, None))
                break
            held_out = self._held_out(X, y, classes, splits, params)
            for name in self.metrics:
                score, rule = self._score(METRICS[name], classes, codes, counts, splits, held_out)
                if name not in best or score > best[name][0] + 1e-12:
                    best[name] = score, number, rule
        fitted: dict[int, Classifier] = {}
        self._models: dict[str, Classifier] = {}
        for name, (_, number, rule) in best.items():
            if number not in fitted:
                fitted[number] = clone(self.model).set_params(**points[number]).fit(X, y)
            model = fitted[number]
            self._models[name] = model if rule is None else DecidedClassifier(model, rule)
        self.best_params_ = {name: points[number] for name, (_, number, _) in best.items()}
        return self

    def for_aim(self, metric: str) -> Classifier:
        """Return the fitted classifier of an aim.

        Parameters
        ----------
        metric : str
            One of ``metrics``.

        Returns
        -------
        classifier
        """
        return self._models[metric]

    def _held_out(
        self,
        X: Array,
        y: Array,
        classes: Array,
        splits: Sequence[tuple[Array, Array]],
        params: Mapping[str, object],
    ) -> _HeldOut:
        labels = np.zeros(len(y), dtype=np.intp)
        proba: Array | None = np.zeros((len(y), len(classes)))
        for train, test in splits:
            model = clone(self.model).set_params(**params).fit(X[train], y[train])
            labels[test] = np.searchsorted(classes, model.predict(X[test]))
            if proba is not None and hasattr(model, "predict_proba"):
                proba[test] = model.predict_proba(X[test])
            else:
                proba = None
        return _HeldOut(labels, proba)

    def _score(
        self,
        metric: Metric,
        classes: Array,
        codes: Array,
        counts: Array,
        splits: Sequence[tuple[Array, Array]],
        held_out: _HeldOut,
    ) -> tuple[float, Rule | None]:
        """Return the mean score over folds, and the rule if there is one."""
        labels, proba, rule = held_out.labels, held_out.proba, None
        if proba is None and metric.needs_proba:
            return -np.inf, None
        if self.decide and proba is not None and metric.make_aim is not None:
            rows = np.concatenate([test for _, test in splits])
            aim = metric.make_aim(counts)
            rule = fit_rule(proba[rows], classes[codes[rows]], aim, classes=classes)
            labels = rule.decide(proba)
        given = np.empty((len(codes), 0)) if proba is None else proba
        values = [
            metric.compute(codes[test], labels[test], given[test], len(classes))
            for _, test in splits
        ]
        return metric.sign * float(np.mean(values)), rule


class PerAim:
    """A classifier for each of several aims, each fitted by itself.

    Parameters
    ----------
    make : callable
        From the name of a metric to a classifier.
    metrics : sequence of str
    """

    def __init__(self, make: Callable[[str], Classifier], metrics: Sequence[str]) -> None:
        self.make = make
        self.metrics = metrics

    def fit(self, X: Features, y: Array) -> PerAim:
        """Fit all classifiers."""
        self._models = {name: self.make(name).fit(X, y) for name in self.metrics}
        return self

    def for_aim(self, metric: str) -> Classifier:
        """Return the fitted classifier of an aim, as in ``AimSearch.for_aim``."""
        return self._models[metric]
