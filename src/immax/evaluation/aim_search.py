"""Searches whose fits serve several aims.

A fit to the training part of a fold does not depend on what decisions are for. So one grid search
makes the fits, and every aim chooses among them for itself: with a rule for its decisions, which is
fitted to the out-of-fold probabilities of the same fits, or with the labels that classifiers
predict by themselves.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, Protocol

import numpy as np
from joblib import Memory
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import ParameterGrid, check_cv

from immax.arrays import Array, Features
from immax.decisions.aims import Aim
from immax.decisions.calibrated_scores import CalibratedScores, find_scores
from immax.decisions.decided_model import DecidedModel
from immax.decisions.fitting import fit_rule
from immax.decisions.priors import adjust_prior
from immax.decisions.rules import Rule
from immax.evaluation.held_out_scorer import HeldOutScorer
from immax.evaluation.meta_estimators import Classifier, CrossValidation
from immax.search.base import MarginSearch

__all__ = ["AimSearch", "AimedClassifier", "PerAim"]

MARGIN = 1e-12  # by which a score is better than another one; else the first of them is taken


class AimedClassifier(Protocol):
    """What is fitted once and holds a classifier for each of several aims."""

    def fit(self, X: Features, y: Array) -> AimedClassifier:
        """Fit to samples and their labels.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n, d)
            Features.
        y : ndarray of shape (n,)
            Labels.

        Returns
        -------
        AimedClassifier
            The fitted object itself.
        """

    def for_aim(self, name: str) -> Classifier:
        """Return the fitted classifier of an aim.

        Parameters
        ----------
        name : str
            The name of the aim's scorer.

        Returns
        -------
        classifier
        """


@dataclass(frozen=True, eq=False)
class _Sample:
    """The samples of a search, and its folds."""

    X: Array
    y: Array
    classes: Array
    codes: Array
    counts: Array
    splits: Sequence[tuple[Array, Array]]

    @property
    def tested(self) -> Array:
        """The samples of all test parts."""
        return np.concatenate([test for _, test in self.splits])


class _FoldPredictions(NamedTuple):
    """Labels of the test part of a fold, and probabilities or scores."""

    labels: Array
    outputs: Array | None
    has_proba: bool


@dataclass(frozen=True, eq=False)
class _HeldOut:
    """Predictions of all samples by models that were not fitted to them."""

    labels: Array
    proba: Array | None
    calibration: LogisticRegression | None = None


@dataclass(frozen=True, eq=False)
class _Choice:
    """What an aim has chosen: a point of the grid, its score and the rule of its decisions."""

    point: int
    score: float
    rule: Rule | None = None
    calibration: LogisticRegression | None = None


class AimSearch:
    """A grid search whose fits serve several aims.

    Parameters
    ----------
    model : classifier
    grid : mapping of str to sequence
        Values of its parameters.
    cv : splitter, or sequence of pairs of indices
        Test parts do not overlap.
    scorers : sequence of HeldOutScorer
        What is asked of the choice, each with an aim of its own.
    decide : bool, default=False
        Whether labels are those of the rule that serves the aim best, fitted to the out-of-fold
        probabilities as in ``DecisionClassifierCV``; if not, those that the classifier predicts.
    calibrate : bool, default=False
        Whether a classifier without probabilities gets them from its out-of-fold scores, by
        logistic regression.
    balanced : bool, default=False
        Whether the classifier is trained as if all classes were equally frequent. Its
        probabilities are then adjusted to the class shares before a rule is fitted, and the rule
        is one for the probabilities as they are.
    halve : bool, default=False
        Whether only the better half of the points of the grid, by the first of the scorers on the
        first fold, is tried on the others.

    Attributes
    ----------
    best_params_ : dict of str to dict
        For the name of each scorer, the choice.
    best_scores_ : dict of str to float
        The mean of the folds, higher is better; NaN if there was nothing to choose.
    """

    def __init__(
        self,
        model: Classifier,
        grid: Mapping[str, Sequence[object]],
        cv: CrossValidation,
        scorers: Sequence[HeldOutScorer],
        *,
        decide: bool = False,
        calibrate: bool = False,
        balanced: bool = False,
        halve: bool = False,
    ) -> None:
        self.model = model
        self.grid = grid
        self.cv = cv
        self.scorers = scorers
        self.decide = decide
        self.calibrate = calibrate
        self.balanced = balanced
        self.halve = halve

    def fit(self, X: Array, y: Array) -> AimSearch:
        """Search, and fit what the aims have chosen to all samples.

        Parameters
        ----------
        X : ndarray of shape (n, d)
        y : ndarray of shape (n,)
            Labels.

        Returns
        -------
        AimSearch
        """
        classes, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
        splits = list(check_cv(self.cv, y, classifier=True).split(X, y))
        sample = _Sample(X, y, classes, codes, counts, splits)
        points = list(ParameterGrid(dict(self.grid)))
        best = self._choose_without_fits(sample) if len(points) == 1 else {}
        if not best:
            best = self._choose(sample, points)
        fitted: dict[int, Classifier] = {}
        self._models: dict[str, Classifier] = {}
        for name, choice in best.items():
            if choice.point not in fitted:
                fitted[choice.point] = clone(self.model).set_params(**points[choice.point])
                fitted[choice.point].fit(X, y)
            model: Any = fitted[choice.point]
            if choice.calibration is not None:
                model = CalibratedScores(model, choice.calibration)
            self._models[name] = model if choice.rule is None else DecidedModel(model, choice.rule)
        self.best_params_ = {name: points[choice.point] for name, choice in best.items()}
        self.best_scores_ = {name: choice.score for name, choice in best.items()}
        return self

    def for_aim(self, name: str) -> Classifier:
        """Return the fitted classifier of an aim.

        Parameters
        ----------
        name : str
            Of one of ``scorers``.

        Returns
        -------
        classifier
            A ``DecidedModel`` if its labels are those of a rule.
        """
        return self._models[name]

    def _choose_without_fits(self, sample: _Sample) -> dict[str, _Choice]:
        """Return the choices if there is one point, and no rule depends on its probabilities."""
        if not self.decide:
            return {scorer.name: _Choice(0, np.nan) for scorer in self.scorers}
        shares = sample.counts / sample.counts.sum()
        closed = all(
            scorer.aim is not None and scorer.aim.gains(sample.classes, shares) is not None
            for scorer in self.scorers
        )
        if not (closed and hasattr(self.model, "predict_proba")):
            return {}
        if len(sample.tested) < len(sample.y):
            return {}  # rules have the class shares of the samples that were tested
        # One sample for each class, as heavy as the class, is all that the rules depend on.
        each, weight = np.arange(len(shares)), sample.counts.astype(np.float64)
        return {
            scorer.name: _Choice(
                0, np.nan, self._fit_rule(scorer.aim, np.eye(len(shares)), each, sample, weight)
            )
            for scorer in self.scorers
            if scorer.aim is not None
        }

    def _choose(self, sample: _Sample, points: Sequence[Mapping[str, Any]]) -> dict[str, _Choice]:
        @cache
        def predict(number: int, fold: int) -> _FoldPredictions:
            return self._predict_fold(sample, points[number], *sample.splits[fold])

        numbers = list(range(len(points)))
        if self.halve:
            first = replace(sample, splits=sample.splits[:1])
            scores = [
                self._score(self.scorers[0], first, self._pool(first, [predict(number, 0)]))[0]
                for number in numbers
            ]
            order = sorted(numbers, key=lambda number: -scores[number])
            numbers = sorted(order[: -(-len(order) // 2)])
        best: dict[str, _Choice] = {}
        for number in numbers:
            parts = [predict(number, fold) for fold in range(len(sample.splits))]
            held_out = self._pool(sample, parts)
            for scorer in self.scorers:
                score, rule = self._score(scorer, sample, held_out)
                known = best.get(scorer.name)
                if known is None or score > known.score + MARGIN:
                    best[scorer.name] = _Choice(number, score, rule, held_out.calibration)
        return best

    def _predict_fold(
        self, sample: _Sample, params: Mapping[str, Any], train: Array, test: Array
    ) -> _FoldPredictions:
        model = clone(self.model).set_params(**params).fit(sample.X[train], sample.y[train])
        X = sample.X[test]
        has_proba = hasattr(model, "predict_proba")
        outputs = find_scores(model, X) if has_proba or self.calibrate else None
        return _FoldPredictions(np.asarray(model.predict(X)), outputs, has_proba)

    def _pool(self, sample: _Sample, parts: Sequence[_FoldPredictions]) -> _HeldOut:
        """Put the predictions of folds together, and calibrate scores."""
        n = len(sample.y)
        labels = np.zeros(n, dtype=np.intp)
        for (_, test), part in zip(sample.splits, parts, strict=True):
            labels[test] = np.searchsorted(sample.classes, part.labels)
        if parts[0].outputs is None:
            return _HeldOut(labels, None)
        outputs = np.zeros((n, parts[0].outputs.shape[1]))
        for (_, test), part in zip(sample.splits, parts, strict=True):
            outputs[test] = part.outputs
        if parts[0].has_proba:
            return _HeldOut(labels, outputs)
        rows = sample.tested
        calibration = LogisticRegression(max_iter=1000).fit(outputs[rows], sample.y[rows])
        return _HeldOut(labels, calibration.predict_proba(outputs), calibration)

    def _score(
        self, scorer: HeldOutScorer, sample: _Sample, held_out: _HeldOut
    ) -> tuple[float, Rule | None]:
        """Return the mean score over folds, and the rule if there is one."""
        labels, proba, rule = held_out.labels, held_out.proba, None
        if proba is None and scorer.needs_proba:
            return -np.inf, None
        if self.decide and proba is not None and scorer.aim is not None:
            rows = sample.tested
            rule = self._fit_rule(scorer.aim, proba[rows], sample.codes[rows], sample)
            labels = labels.copy()
            labels[rows] = rule.decide(proba[rows])
        values = [
            scorer.measure(
                sample.codes[test],
                labels[test],
                None if proba is None else proba[test],
                len(sample.classes),
            )
            for _, test in sample.splits
        ]
        return scorer.sign * float(np.mean(values)), rule

    def _fit_rule(
        self, aim: Aim, proba: Array, codes: Array, sample: _Sample, weight: Array | None = None
    ) -> Rule:
        """Return the rule for the aim, for the probabilities as they are."""
        labels, shares = sample.classes[codes], sample.counts / sample.counts.sum()
        adjusted = adjust_prior(proba, np.ones(len(shares)), shares) if self.balanced else proba
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of constraints that a fold cannot meet
            # Weights come with samples that stand for classes, whose probabilities mean nothing.
            prior = None if weight is None else shares
            rule = fit_rule(adjusted, labels, aim, weight, classes=sample.classes, prior=prior)
        if not self.balanced:
            return rule
        return replace(rule, gains=rule.gains * (shares * len(shares))[:, None])


class PerAim:
    """A search for each of several aims, which share the fits of folds.

    Parameters
    ----------
    make : callable
        From a scorer to a search.
    scorers : sequence of HeldOutScorer
    """

    def __init__(
        self, make: Callable[[HeldOutScorer], MarginSearch], scorers: Sequence[HeldOutScorer]
    ) -> None:
        self.make = make
        self.scorers = scorers

    def fit(self, X: Features, y: Array) -> PerAim:
        """Fit all searches.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n, d)
            Features.
        y : ndarray of shape (n,)
            Labels.

        Returns
        -------
        self
        """
        self._models = {}
        with TemporaryDirectory() as place:
            memory = Memory(place, verbose=0)
            for scorer in self.scorers:
                model = self.make(scorer).set_params(memory=memory)
                self._models[scorer.name] = model.fit(X, y).set_params(memory=None)
        return self

    def for_aim(self, name: str) -> Classifier:
        """Return the fitted classifier of an aim.

        Parameters
        ----------
        name : str
            The name of the aim's scorer.

        Returns
        -------
        classifier
        """
        return self._models[name]
