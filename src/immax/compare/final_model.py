"""The model that a comparison recommends, fitted to all rows, in a form that can be saved."""

from __future__ import annotations

from dataclasses import replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import Pipeline

from immax.arrays import Array, Features
from immax.compare.protocol import fit_candidate
from immax.compare.results import Comparison
from immax.decisions.decided_model import DecidedModel
from immax.decisions.fitted_wrapper import FittedWrapper
from immax.evaluation.candidates import CANDIDATES
from immax.tabular import prepare

__all__ = ["CodedLabels", "refit", "without_search"]


class CodedLabels(FittedWrapper):
    """A classifier of the integers 0, 1, … that predicts the labels that they stand for.

    Parameters
    ----------
    model : estimator
        Fitted to the integers.
    classes : ndarray of shape (n_classes,)
        The sorted labels.
    """

    def __init__(self, model: BaseEstimator, classes: Array) -> None:
        self.model = model
        self.classes = classes

    @property
    def classes_(self) -> Array:
        """Return the labels."""
        return self.classes

    def fit(self, X: Features, y: ArrayLike) -> Self:
        self.model.fit(X, np.searchsorted(self.classes, y))
        return self

    def predict(self, X: Features) -> Array:
        return np.asarray(self.classes)[np.asarray(self.model.predict(X))]


def refit(comparison: Comparison, name: str) -> Pipeline:
    """Fit a method to all rows of a comparison.

    Parameters
    ----------
    comparison : Comparison
    name : str
        A name of ``CANDIDATES``.

    Returns
    -------
    Pipeline
        Preprocessing and model, which take tables and predict the original labels.
    """
    coded = CANDIDATES[name].codes
    y = comparison.codes if coded else comparison.classes[comparison.codes]
    steps = prepare(comparison.schema)
    features = steps.fit_transform(comparison.X)
    model = fit_candidate(name, features, y, comparison.protocol, comparison.scorer).model
    if not coded:
        last = without_search(model)
    elif isinstance(model, DecidedModel):
        inner = CodedLabels(without_search(model.model), comparison.classes)
        last = DecidedModel(inner, replace(model.rule, classes=comparison.classes))
    else:
        last = CodedLabels(model, comparison.classes)
    return Pipeline([*steps.steps, ("model", last)])


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
