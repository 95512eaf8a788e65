"""The predictions of a fitted search, by the classifiers that it has chosen."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from immax.arrays import Array, Features
from immax.calibration import ScoreCalibration
from immax.decisions import Rule

__all__ = ["ChosenModel", "MarginClassifier"]


class MarginClassifier(Protocol):
    """A classifier that a search fits to all samples in the end."""

    def fit(self, X: Features, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n, d)
            Features.
        y : array-like of shape (n,)
            Labels.
        sample_weight : array-like of shape (n,), optional
            Sample weights.

        Returns
        -------
        self
        """

    def decision_function(self, X: Features) -> Array:
        """Return the scores of the classes.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n, d)
            Features.

        Returns
        -------
        ndarray of shape (n,) or (n, n_classes)
            For two classes, the score of ``classes_[1]``.
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


def _offers_proba(search: ChosenModel) -> bool:
    if search._loss == "hinge" and not search._calibrates():
        raise AttributeError(
            "the hinge loss does not determine probabilities, so predict_proba does not exist; "
            "with an aim (aim='accuracy', say) they are calibrated on held-out scores"
        )
    return True


class ChosenModel:
    """Predicts by a classifier for decisions, its rule, and one for probabilities."""

    # The defaults are for models that earlier versions saved.
    best_calibration_: ScoreCalibration | None = None
    probability_calibration_: ScoreCalibration | None = None
    best_rule_: str | Rule
    best_estimator_: MarginClassifier
    probability_estimator_: MarginClassifier

    @property
    @abstractmethod
    def _loss(self) -> str:
        """The surrogate."""

    @abstractmethod
    def _calibrates(self) -> bool:
        """Return whether probabilities of the hinge are asked for."""

    def _check_refitted(self) -> None:
        check_is_fitted(self)
        if not hasattr(self, "best_estimator_"):
            raise AttributeError("refit=False: margins were chosen, but no model was fitted to all")

    def decision_function(self, X: Features) -> Array:
        """Return the scores of the classes.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n, d)
            Features.

        Returns
        -------
        ndarray of shape (n,) or (n, n_classes)
            For two classes, the score of ``classes_[1]``.
        """
        self._check_refitted()
        return self.best_estimator_.decision_function(X)

    @available_if(_offers_proba)
    def predict_proba(self, X: Features) -> Array:
        """Return class probabilities, those of ``probability_estimator_``.

        They are the probabilities of the lowest log-loss in cross-validation. Where decisions are
        better by another fit, ``predict`` uses that one, and need not agree with them.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n, d)
            Features.

        Returns
        -------
        ndarray of shape (n, n_classes)
            In the order of ``classes_``.
        """
        self._check_refitted()
        model = getattr(self, "probability_estimator_", self.best_estimator_)
        return _proba(model, self.probability_calibration_, X)

    @available_if(_offers_proba)
    def predict_log_proba(self, X: Features) -> Array:
        """Return logarithms of the class probabilities.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n, d)
            Features.

        Returns
        -------
        ndarray of shape (n, n_classes)
            In the order of ``classes_``.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    @available_if(_offers_proba)
    def decision_proba(self, X: Features) -> Array:
        """Return the class probabilities that decisions are made by, those of ``best_estimator_``.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n, d)
            Features.

        Returns
        -------
        ndarray of shape (n, n_classes)
            In the order of ``classes_``.
        """
        self._check_refitted()
        return _proba(self.best_estimator_, self.best_calibration_, X)

    def predict(self, X: Features) -> Array:
        """Predict labels by the chosen rule.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n, d)
            Features.

        Returns
        -------
        ndarray of shape (n,)
            Labels from ``classes_``.
        """
        self._check_refitted()
        if isinstance(self.best_rule_, str):
            return self.best_estimator_.predict(X)
        return self.best_rule_.predict(self.decision_proba(X))


def _proba(model: Any, calibration: ScoreCalibration | None, X: Features) -> Array:
    """Return the probabilities of a fitted classifier, by its link or by a calibration."""
    if calibration is None:
        return np.asarray(model.predict_proba(X))
    return calibration.proba(model.decision_function(X))
