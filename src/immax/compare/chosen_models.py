"""What a search has chosen: the part that predicts, and the linear models inside it."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import FixedThresholdClassifier

from immax.decisions.decided_model import DecidedModel

__all__ = ["linear_models", "without_search"]


def without_search(model: BaseEstimator) -> BaseEstimator:
    """Return the part of a fitted search that predicts.

    Parameters
    ----------
    model : estimator

    Returns
    -------
    estimator
    """
    if isinstance(model, DecidedModel):
        return DecidedModel(without_search(model.model), model.rule)
    if hasattr(model, "best_threshold_"):
        return _with_fixed_threshold(model)
    if hasattr(model, "best_parameters_"):
        return model  # a search for margins has attributes that ``immax explain`` shows
    best = getattr(model, "best_estimator_", model)
    return best[-1] if hasattr(best, "steps") else best  # samplers are for training alone


def _with_fixed_threshold(model: BaseEstimator) -> FixedThresholdClassifier:
    """Return a classifier with the threshold that was tuned."""
    inner = without_search(model.estimator_)
    fixed = FixedThresholdClassifier(
        FrozenEstimator(inner), threshold=float(model.best_threshold_), response_method="auto"
    )
    # Fitting a frozen estimator only sets the classes.
    return fixed.fit(np.zeros((2, inner.n_features_in_)), inner.classes_)


def linear_models(model: BaseEstimator) -> list[Any]:
    """Return the linear models that make the predictions of a classifier.

    Parameters
    ----------
    model : estimator
        What ``without_search`` returns for a method that streams.

    Returns
    -------
    list of estimator
        LogisticRegression, IMMAXClassifier or BaselineClassifier; a search for margins has
        another one for its probabilities.
    """
    if isinstance(model, DecidedModel):
        return linear_models(model.model)
    if isinstance(model, FixedThresholdClassifier):
        return linear_models(model.estimator.estimator)
    if hasattr(model, "best_parameters_"):
        best, probable = model.best_estimator_, model.probability_estimator_
        return [best] if probable is best else [best, probable]
    return [model]
