"""Candidates whose decisions serve an aim.

The fits of a search are made once: the out-of-fold probabilities of each of its cells give the best
rule of the cell, and cells are compared by what they are worth after it. Methods without
probabilities get them from their out-of-fold scores, by logistic regression.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import (
    BaseCrossValidator,
    GridSearchCV,
    ParameterGrid,
    StratifiedKFold,
    TunedThresholdClassifierCV,
)

from immax.arrays import Array, Features
from immax.compare.decided_model import CalibratedScores, find_scores
from immax.compare.judge import Judge
from immax.decisions.aims import Aim
from immax.decisions.fitting import fit_rule
from immax.decisions.priors import adjust_prior
from immax.decisions.rules import Rule
from immax.evaluation.meta_estimators import PowerSearch

__all__ = ["DecidedSearch", "serve_aim"]


def serve_aim(
    model: Any, judge: Judge, y: Array, n_folds: int, seed: int, *, balanced: bool = False
) -> Any:
    """Return a classifier, or a search for one, whose decisions serve the aim of a judge.

    Parameters
    ----------
    model : classifier
    judge : Judge
    y : ndarray of shape (n,)
        The labels that it will be fitted to.
    n_folds : int
        The inner folds; fewer if a class has fewer samples.
    seed : int
        Of the folds.
    balanced : bool, default=False
        As for ``DecidedSearch``.

    Returns
    -------
    classifier
        The model itself if the judge has no aim.
    """
    if judge.aim is None:
        return model
    if isinstance(model, TunedThresholdClassifierCV):  # has decisions of its own
        return model.set_params(scoring=make_scorer(judge.score_labels))
    if "aim" in model.get_params():
        model.set_params(aim=judge.aim, scoring=None)  # searches for decisions by itself
    rarest = int(np.unique(y, return_counts=True)[1].min())
    folds = StratifiedKFold(min(n_folds, rarest), shuffle=True, random_state=seed)
    return DecidedSearch(model, judge, folds, balanced)


class _Cell(NamedTuple):
    score: float
    params: Mapping[str, Any]
    rule: Rule


class DecidedSearch(ClassifierMixin, BaseEstimator):
    """A candidate with the decision rule that serves an aim best.

    Parameters
    ----------
    search : classifier
        The candidate: a search over a grid, a search of its own kind, or a plain classifier.
    judge : Judge
        With an aim.
    cv : splitter
        The inner folds.
    balanced : bool, default=False
        Whether the candidate is trained as if all classes were equally frequent. Its probabilities
        are then adjusted to the class shares before a rule is fitted, and the rule is one for the
        probabilities as they are.

    Attributes
    ----------
    estimator_ : classifier
        Fitted to all samples, with probabilities.
    rule_ : Rule
    best_params_ : dict
    best_score_ : float
        The aim's value by cross-validation; NaN if nothing was chosen by it.
    classes_ : ndarray of shape (n_classes,)
    """

    def __init__(
        self, search: Any, judge: Judge, cv: BaseCrossValidator, balanced: bool = False
    ) -> None:
        self.search = search
        self.judge = judge
        self.cv = cv
        self.balanced = balanced

    def fit(self, X: Array, y: Array) -> Self:
        """Choose hyper-parameters and the rule, and fit to all samples.

        Parameters
        ----------
        X : ndarray of shape (n, d)
        y : ndarray of shape (n,)

        Returns
        -------
        DecidedSearch
        """
        self.classes_, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
        splits = list(self.cv.split(X, y))
        model, grid = _grid_of(self.search)
        if model is None:
            searched = clone(self.search).fit(X, y)
            own = getattr(searched, "best_rule_", None)
            if isinstance(own, Rule):
                self.estimator_, self.rule_ = searched, own
                self.best_params_ = {"power": float(searched.best_parameters_[0])}
                self.best_score_ = float(searched.best_score_)
                return self
            model, grid = getattr(searched, "best_estimator_", searched), {}
        else:
            searched = None
        points: Sequence[Mapping[str, Any]] = list(ParameterGrid(dict(grid)))
        if searched is None and self._needs_no_samples(model, points, counts):
            # One sample for each class, as heavy as the class, is all that the rule depends on.
            each = np.arange(len(counts))
            rule = self._rule(np.eye(len(counts)), each, counts, counts.astype(np.float64))
            best = _Cell(np.nan, points[0], rule)
            calibration = None
        else:
            cells = [self._cell(model, params, X, y, codes, counts, splits) for params in points]
            # The first of equals: grids begin with the strongest penalty or equal margins.
            place = int(np.argmax([round(cell.score, 12) for cell, _ in cells]))
            best, calibration = cells[place]
        self.best_params_, self.best_score_, self.rule_ = dict(best.params), best.score, best.rule
        fitted = searched or clone(model).set_params(**best.params).fit(X, y)
        self.estimator_ = fitted if calibration is None else CalibratedScores(fitted, calibration)
        return self

    @property
    def _aim(self) -> Aim:
        aim = self.judge.aim
        if aim is None:
            raise ValueError("the judge has no aim that decisions could serve")
        return aim

    def _needs_no_samples(self, model: Any, points: Sequence[object], counts: Array) -> bool:
        """Whether there is nothing to choose, and the aim has a rule that depends on no samples."""
        if len(points) > 1 or not hasattr(model, "predict_proba"):
            return False
        return self._aim.gains(self.classes_, counts / counts.sum()) is not None

    def _cell(
        self,
        model: Any,
        params: Mapping[str, Any],
        X: Array,
        y: Array,
        codes: Array,
        counts: Array,
        splits: Sequence[tuple[Array, Array]],
    ) -> tuple[_Cell, LogisticRegression | None]:
        """Return what a cell of the grid is worth after its best rule, and its calibration."""
        outputs = None
        for train, test in splits:
            fitted = clone(model).set_params(**params).fit(X[train], y[train])
            own = find_scores(fitted, X[test])
            outputs = np.zeros((len(y), own.shape[1])) if outputs is None else outputs
            outputs[test] = own
        assert outputs is not None
        calibration = None
        if not hasattr(model, "predict_proba"):
            calibration = LogisticRegression(max_iter=1000).fit(outputs, y)
            outputs = calibration.predict_proba(outputs)
        rule = self._rule(outputs, codes, counts)
        decisions = rule.decide(outputs)
        score = np.mean(
            [
                self.judge.measure(codes[test], decisions[test], outputs[test], len(counts))
                for _, test in splits
            ]
        )
        return _Cell(self.judge.sign * float(score), params, rule), calibration

    def _rule(self, proba: Array, codes: Array, counts: Array, weight: Array | None = None) -> Rule:
        """Return the rule for the aim, for the probabilities as they are."""
        prior = counts / counts.sum()
        odds = prior * len(counts) if self.balanced else np.ones(len(counts))
        adjusted = adjust_prior(proba, np.ones(len(counts)), prior) if self.balanced else proba
        labels = self.classes_[codes]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of constraints that a fold cannot meet
            rule = fit_rule(
                adjusted, labels, self._aim, classes=self.classes_, sample_weight=weight
            )
        return replace(rule, gains=rule.gains * odds[:, None])

    def predict_proba(self, X: Features) -> Array:
        """Return the probabilities of the classifier.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        ndarray of shape (n, c)
        """
        return np.asarray(self.estimator_.predict_proba(X))

    def predict(self, X: Features) -> Array:
        """Return labels by the rule.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)
        """
        return self.rule_.predict(self.predict_proba(X))


def _grid_of(search: Any) -> tuple[Any, Mapping[str, Sequence[Any]]]:
    """Return the classifier and the grid of a search over a grid; None for other searches."""
    if isinstance(search, GridSearchCV):
        return search.estimator, search.param_grid
    if isinstance(search, PowerSearch):
        return search.model, {"power": list(search.powers)}
    if hasattr(search, "cv"):
        return None, {}
    return search, {}
