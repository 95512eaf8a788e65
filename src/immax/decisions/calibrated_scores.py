"""Fitted classifiers of scores, with probabilities by logistic regression on them."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from immax.arrays import Array, Features
from immax.decisions.fitted_wrapper import FittedWrapper

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


class CalibratedScores(FittedWrapper):
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

    def predict_proba(self, X: Features) -> Array:
        return np.asarray(self.calibration.predict_proba(find_scores(self.model, X)))
