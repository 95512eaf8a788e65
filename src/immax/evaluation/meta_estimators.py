"""Classifiers around other classifiers: class weights, and a search over powers and rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, Self, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.metrics import get_scorer, log_loss
from sklearn.model_selection import BaseCrossValidator, check_cv
from sklearn.utils.metaestimators import available_if

from immax.arrays import Array, Features
from immax.search.scoring import Scoring

__all__ = ["ClassWeighted", "Classifier", "CrossValidation", "PowerSearch"]

CrossValidation: TypeAlias = BaseCrossValidator | Sequence[tuple[Array, Array]]
"""A splitter of scikit-learn, or pairs of indices of training and test samples."""


class Classifier(Protocol):
    """What is asked of every classifier."""

    def fit(self, X: Features, y: Array) -> Self:
        """Fit to samples and their labels.

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

    def predict(self, X: Features) -> Array:
        """Return the labels of samples.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n, d)
            Features.

        Returns
        -------
        ndarray of shape (n,)
        """


class ClassWeighted(ClassifierMixin, BaseEstimator):
    """A classifier whose samples are weighted by a power of the size of their class.

    Parameters
    ----------
    model : classifier
        Its ``fit`` takes ``sample_weight``.
    power : float, default=-1.0
        Of the class counts; -1 gives balanced weights. Weights have mean one.
    """

    def __init__(self, model: Classifier, power: float = -1.0) -> None:
        self.model = model
        self.power = power

    def fit(self, X: Features, y: Array) -> ClassWeighted:
        """Fit to samples and their labels.

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
        self.classes_, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
        weight = (counts.astype(np.float64) ** self.power)[codes]
        weight /= weight.mean()
        self.model_ = clone(self.model).fit(X, y, sample_weight=weight)
        return self

    def predict(self, X: Features) -> Array:
        """Return the labels of samples.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n, d)
            Features.

        Returns
        -------
        ndarray of shape (n,)
        """
        return self.model_.predict(X)

    @available_if(lambda self: hasattr(self.model_, "predict_proba"))
    def predict_proba(self, X: Features) -> Array:
        """Return the class probabilities of samples, if the classifier has them.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n, d)
            Features.

        Returns
        -------
        ndarray of shape (n, n_classes)
        """
        return self.model_.predict_proba(X)


class PowerSearch(ClassifierMixin, BaseEstimator):
    """A grid search over powers and rules, in which a fit serves both rules.

    Ties go to the lower held-out log-loss, as in ``IMMAXClassifierCV``.

    Parameters
    ----------
    model : classifier
        With parameters ``power`` and ``rule``.
    powers : sequence of float
    cv : splitter, or iterable of pairs of indices
    scoring : str or callable
        A scorer of scikit-learn.
    halve : bool, default=False
        Whether only the better half of the powers is tried on the next fold, until one is left.
    """

    def __init__(
        self,
        model: Classifier,
        powers: Iterable[float],
        cv: CrossValidation,
        scoring: Scoring,
        halve: bool = False,
    ) -> None:
        self.model = model
        self.powers = powers
        self.cv = cv
        self.scoring = scoring
        self.halve = halve

    def fit(self, X: Array, y: Array) -> PowerSearch:
        """Choose a power and a rule by cross-validation, and fit to all samples.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            Features.
        y : ndarray of shape (n,)
            Labels.

        Returns
        -------
        self
        """
        score, rules = get_scorer(self.scoring), ("score", "bayes")
        splits = list(check_cv(self.cv, y, classifier=True).split(X, y))
        scores: dict[float, list[list[float]]] = {power: [] for power in self.powers}
        losses: dict[float, list[float]] = {power: [] for power in self.powers}
        for train, test in splits:
            for power, own in scores.items():
                model = clone(self.model).set_params(power=power).fit(X[train], y[train])
                proba = model.predict_proba(X[test])
                losses[power].append(log_loss(y[test], proba, labels=model.classes_))
                own.append([score(model.set_params(rule=rule), X[test], y[test]) for rule in rules])
            if self.halve and len(scores) > 1:
                better = _better_half(scores, losses)
                scores = {power: own for power, own in scores.items() if power in better}
                if len(scores) == 1:
                    break
        results = {
            (power, rule): (round(float(np.mean(column)), 12), -float(np.mean(losses[power])))
            for power, own in scores.items()
            for rule, column in zip(rules, zip(*own, strict=True), strict=True)
        }
        power, rule = max(results, key=results.__getitem__)
        self.best_params_ = {"power": power, "rule": rule}
        self.best_score_ = results[power, rule][0]
        self.best_estimator_ = clone(self.model).set_params(**self.best_params_).fit(X, y)
        self.classes_ = self.best_estimator_.classes_
        return self

    def predict(self, X: Features) -> Array:
        """Return the labels of samples by the best estimator.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n, d)
            Features.

        Returns
        -------
        ndarray of shape (n,)
        """
        return self.best_estimator_.predict(X)

    def predict_proba(self, X: Features) -> Array:
        """Return the class probabilities of samples by the best estimator.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n, d)
            Features.

        Returns
        -------
        ndarray of shape (n, n_classes)
        """
        return self.best_estimator_.predict_proba(X)


def _better_half(
    scores: Mapping[float, Sequence[Sequence[float]]], losses: Mapping[float, Sequence[float]]
) -> Sequence[float]:
    """Return the powers with the best mean scores of their better rules so far."""

    def rank(power: float) -> tuple[float, float]:
        means = np.mean(scores[power], axis=0)
        return -round(float(np.max(means)), 12), float(np.mean(losses[power]))

    order = sorted(scores, key=rank)
    return order[: -(-len(order) // 2)]
