"""A method of a comparison, fitted to all rows, as something that can be saved."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import Pipeline

from immax.compare.protocol import Comparison, make_candidate
from immax.evaluation.candidates import CANDIDATES
from immax.tabular import prepare

__all__ = ["CodedLabels", "refit"]


class CodedLabels(ClassifierMixin, BaseEstimator):
    """A fitted classifier of 0, 1, …, and the labels that these stand for.

    Parameters
    ----------
    model : estimator
    classes : ndarray
    """

    def __init__(self, model: Any, classes: Any) -> None:
        self.model = model
        self.classes = classes

    @property
    def classes_(self) -> Any:
        return self.classes

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: Any, y: Any) -> CodedLabels:
        """Fit the model again."""
        self.model.fit(X, np.searchsorted(self.classes, y))
        return self

    def predict(self, X: Any) -> Any:
        """Labels."""
        return np.asarray(self.classes)[np.asarray(self.model.predict(X))]

    def predict_proba(self, X: Any) -> Any:
        """Probabilities, in the order of the labels."""
        return self.model.predict_proba(X)


def refit(found: Comparison, name: str) -> Pipeline:
    """Preprocessing and model in one pipeline, fitted to all rows and to the labels as they are."""
    coded = CANDIDATES[name].codes
    y = found.codes if coded else found.classes[found.codes]
    steps = prepare(found.schema)
    features = steps.fit_transform(found.X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a grid's corners that do not converge
        model = make_candidate(name, y, found.protocol).fit(features, y)
    return Pipeline(
        [*steps.steps, ("model", CodedLabels(model, found.classes) if coded else _bare(model))]
    )


def _bare(model: Any) -> Any:
    """Without what is needed to fit it, but not to predict."""
    if hasattr(model, "best_threshold_"):
        return _fixed(model)
    best = getattr(model, "best_estimator_", None)
    if best is None or hasattr(model, "best_parameters_"):
        return model  # a search for margins says what it found
    return best[-1] if hasattr(best, "steps") else best


def _fixed(model: Any) -> Any:
    """A threshold that was tuned, and is no longer searched for."""
    inner = _bare(model.estimator_)
    fixed = FixedThresholdClassifier(
        FrozenEstimator(inner), threshold=float(model.best_threshold_), response_method="auto"
    )
    # Fitting what is frozen only notes the classes.
    return fixed.fit(np.zeros((2, inner.n_features_in_)), inner.classes_)
