"""Known scores of held-out samples, as a fitted classifier that scorers accept."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if

from immax.arrays import Array, Features
from immax.calibration import ScoreCalibration, fit_calibration
from immax.class_weights import divide_out
from immax.decisions import Rule
from immax.links import by_score, decide, immax_proba

__all__ = ["HeldOutPredictions", "HeldOutScores", "check_rows", "log_probabilities"]

CELLS = 100  # of a search, more or less


@dataclass(frozen=True, eq=False)
class HeldOutScores:
    """Scores of held-out samples, and the margins of the models that gave them.

    Attributes
    ----------
    classes : ndarray of shape (c,)
        The labels.
    values : ndarray of shape (n, c), or (n, 1) for two classes
        The scores.
    rho : ndarray of shape (c,) or (n_models, c)
        The margins of the model, or of each of several.
    loss : {"logistic", "hinge", "exponential"}
        The surrogate that the models were trained with.
    model_index : ndarray of int, shape (n,), optional
        ``rho[model_index[i]]`` are the margins of the model that scored sample i.
    weights : ndarray of the shape of ``rho``, optional
        Class weights; equal by default.
    calibration : ScoreCalibration, optional
        Gives the probabilities in place of the loss's own link.
    """

    classes: Array
    values: Array
    rho: Array
    loss: str
    model_index: Array | None = None
    weights: Array | None = None
    calibration: ScoreCalibration | None = None

    def calibrated(self, y: Array, weight: Array | None) -> HeldOutScores:
        """Return the scores with probabilities that are fitted to the labels.

        Parameters
        ----------
        y : ndarray of int, shape (n,)
            Class indices.
        weight : ndarray of shape (n,), optional
            Sample weights.

        Returns
        -------
        HeldOutScores
        """
        calibration = fit_calibration(self.values, y, len(self.classes), weight)
        return replace(self, calibration=calibration)

    def subset(self, rows: Array) -> HeldOutScores:
        """Return the scores of some of the samples.

        Parameters
        ----------
        rows : ndarray of int
            The positions of the samples.

        Returns
        -------
        HeldOutScores
        """
        index = None if self.model_index is None else self.model_index[rows]
        part = replace(self, values=self.values[rows], model_index=index)
        if "proba" in self.__dict__:
            part.__dict__["proba"] = self.proba[rows]
        return part

    @property
    def decision(self) -> Array:
        """Scores in the shape that ``decision_function`` returns."""
        return self.values if len(self.classes) > 2 else self.values[:, 0]

    @cached_property
    def proba(self) -> Array:
        """Class probabilities, of shape (n, c)."""
        if self.calibration is not None:
            return self.calibration.proba(self.decision)
        weights = np.ones_like(self.rho) if self.weights is None else self.weights
        if self.model_index is None:
            return self._linked(self.decision, self.rho, weights)
        proba = np.empty((len(self.values), len(self.classes)))
        for model, rho in enumerate(self.rho):
            rows = np.flatnonzero(self.model_index == model)
            if rows.size:
                proba[rows] = self._linked(self.decision[rows], rho, weights[model])
        return proba

    def _linked(self, scores: Array, rho: Array, weights: Array) -> Array:
        return divide_out(immax_proba(scores, rho, self.loss, expected_calls=CELLS), weights)


def _has_probabilities(model: HeldOutPredictions) -> bool:
    return model.held_out.calibration is not None or model.held_out.loss != "hinge"


@dataclass(frozen=True, eq=False, repr=False)
class HeldOutPredictions(ClassifierMixin, BaseEstimator):
    """A fitted classifier, as scorers expect it, whose scores are known.

    Its methods know the predictions for the held-out samples alone, and refuse any others.

    Parameters
    ----------
    held_out : HeldOutScores
        Scores of the samples.
    rule : {"score", "bayes"} or Rule, default="score"
        Whether the label has the highest score or the highest probability, or is that of a rule.
    features : {ndarray, sparse matrix, DataFrame}, optional
        The rows of the samples, as the scorer receives them; by default rows are not compared.
    """

    held_out: HeldOutScores
    rule: str | Rule = "score"
    features: Features | None = None

    @property
    def classes_(self) -> Array:
        """The labels."""
        return self.held_out.classes

    def with_rule(self, rule: str | Rule) -> HeldOutPredictions:
        """Return the predictions of the same scores by another rule.

        Parameters
        ----------
        rule : {"score", "bayes"} or Rule
            The rule.

        Returns
        -------
        HeldOutPredictions
            Without ``features``: rows are not compared.
        """
        return HeldOutPredictions(self.held_out, rule)

    def subset(self, rows: Array) -> HeldOutPredictions:
        """Return the predictions for some of the samples.

        Parameters
        ----------
        rows : ndarray of int
            The positions of the samples.

        Returns
        -------
        HeldOutPredictions
            Without ``features``: rows are not compared.
        """
        return HeldOutPredictions(self.held_out.subset(rows), self.rule)

    def of_rows(self, features: Features) -> HeldOutPredictions:
        """Return the predictions with the rows that they are for.

        Parameters
        ----------
        features : {ndarray, sparse matrix, DataFrame}
            The rows of the samples; all others are refused.

        Returns
        -------
        HeldOutPredictions
        """
        return HeldOutPredictions(self.held_out, self.rule, features)

    def decision_function(self, X: Features) -> Array:
        """Return the scores of the held-out samples.

        Parameters
        ----------
        X : {ndarray, sparse matrix, DataFrame}
            The rows of the samples.

        Returns
        -------
        ndarray of shape (n,) or (n, c)
            For two classes, the score of ``classes_[1]``.

        Raises
        ------
        ValueError
            If X are not the rows that the predictions are for.
        """
        check_rows(X, self.features)
        return self.held_out.decision

    @available_if(_has_probabilities)
    def predict_proba(self, X: Features) -> Array:
        """Return the class probabilities of the held-out samples.

        Parameters
        ----------
        X : {ndarray, sparse matrix, DataFrame}
            The rows of the samples.

        Returns
        -------
        ndarray of shape (n, c)

        Raises
        ------
        ValueError
            If X are not the rows that the predictions are for.
        """
        check_rows(X, self.features)
        return self.held_out.proba

    def predict(self, X: Features) -> Array:
        """Return the labels of the held-out samples by the rule.

        Parameters
        ----------
        X : {ndarray, sparse matrix, DataFrame}
            The rows of the samples.

        Returns
        -------
        ndarray of shape (n,)

        Raises
        ------
        ValueError
            If X are not the rows that the predictions are for.
        """
        check_rows(X, self.features)
        if isinstance(self.rule, Rule):
            return self.rule.predict(self.held_out.proba)
        if self.rule == "bayes":
            return np.asarray(self.classes_[decide(self.held_out.proba)])
        return np.asarray(self.classes_[by_score(self.held_out.decision)])


def check_rows(X: Features, known: Features | None) -> None:
    """Refuse rows whose predictions a search does not know.

    Parameters
    ----------
    X : {ndarray, sparse matrix, DataFrame}
        What a scorer asks predictions for.
    known : {ndarray, sparse matrix, DataFrame}, optional
        The rows whose predictions are known; by default nothing is compared.

    Raises
    ------
    ValueError
        If they are not the same.
    """
    if known is None or X is known:
        return
    same = getattr(X, "shape", None) == known.shape
    if same and sparse.issparse(known):
        same = sparse.issparse(X) and (known != X).nnz == 0
    elif same:
        a, b = np.asarray(X), np.asarray(known)
        same = bool(((a == b) | ((a != a) & (b != b))).all())
    if not same:
        raise ValueError(
            "scoring: the scorer asked for predictions of other rows than it was given. A search "
            "knows the predictions for the held-out rows alone; predict all of them and select "
            "from the result, estimator.predict(X)[rows] in place of estimator.predict(X[rows])"
        )


def log_probabilities(model: HeldOutPredictions, y: Array) -> Array:
    """Return the log-probability of each sample's own class.

    Parameters
    ----------
    model : HeldOutPredictions
        Predictions for the samples.
    y : ndarray of shape (n,)
        Their labels.

    Returns
    -------
    ndarray of shape (n,)
        Probabilities below the machine epsilon are raised to it.
    """
    proba = model.held_out.proba
    own = proba[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    return np.log(np.maximum(own, np.finfo(proba.dtype).eps))
