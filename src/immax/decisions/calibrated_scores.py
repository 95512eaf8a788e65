"""Fitted classifiers of scores, with probabilities by logistic regression on them."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression

from immax.arrays import Array, Features

__all__ = ["CalibratedScores", "find_scores"]


def find_scores(model: Any, X: Features) -> Array:
    """Return the probabilities of a classifier, or its scores if it has none, as columns.

    Parameters
    ----------
    model : classifier
    X : array-like of shape (n, d)

    Returns
    -------
    ndarray of shape (n, c), or (n, 1) for the scores of two classes
    """
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X), dtype=np.float64)
    scores = np.asarray(model.decision_function(X), dtype=np.float64)
    return scores[:, None] if scores.ndim == 1 else scores


class CalibratedScores(ClassifierMixin, BaseEstimator):
    """A fitted classifier of scores with probabilities by logistic regression on them.

    Parameters
    ----------
    model : classifier
        Fitted, with ``decision_function``.
    calibration : LogisticRegression
        Fitted to out-of-fold scores.
    """

    def __init__(self, model: Any, calibration: LogisticRegression) -> None:
        self.model = model
        self.calibration = calibration

    @property
    def classes_(self) -> Array:
        """Return the labels."""
        return np.asarray(self.model.classes_)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: Features, y: ArrayLike) -> Self:
        """Fit the classifier again; the calibration is kept.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,)

        Returns
        -------
        CalibratedScores
        """
        self.model.fit(X, y)
        return self

    def predict_proba(self, X: Features) -> Array:
        """Return probabilities.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        ndarray of shape (n, c)
        """
        return np.asarray(self.calibration.predict_proba(find_scores(self.model, X)))

    def predict(self, X: Features) -> Array:
        """Return the labels of the classifier itself.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)
        """
        return np.asarray(self.model.predict(X))
