"""Models without their wrappings: transformers, the classifier, and what is around it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.pipeline import Pipeline

from immax.decisions import DecidedModel, DecisionClassifierCV, Rule
from immax.decisions.calibrated_scores import CalibratedScores
from immax.decisions.fitted_wrapper import FittedWrapper

__all__ = ["Calibrated", "Decided", "Thresholded", "unfold"]


@dataclass(frozen=True)
class Wrapping:
    """What is around a classifier without its transformers, or around another wrapping."""

    model: Any

    @property
    def n_features_in_(self) -> int:
        """The number of features of the classifier inside."""
        return int(self.model.n_features_in_)


@dataclass(frozen=True)
class Decided(Wrapping):
    """A rule for probabilities."""

    rule: Rule


@dataclass(frozen=True)
class Calibrated(Wrapping):
    """A logistic regression that makes probabilities of scores."""

    calibration: LogisticRegression


@dataclass(frozen=True)
class Thresholded(Wrapping):
    """The class with index ``positive`` where its probability or score is the threshold or more."""

    threshold: float | None  # None for 1/2 of probabilities, and 0 of scores
    positive: int
    response: str  # "predict_proba", "decision_function", or "auto" for the first there is


def unfold(model: Any) -> tuple[list[Any], Any]:
    """Return the transformers of a model in order, and what follows them.

    Parameters
    ----------
    model : fitted classifier
        It may be a pipeline, or a wrapper around one.

    Returns
    -------
    steps : list of transformer
    last : classifier, Decided, Calibrated or Thresholded
    """
    if isinstance(model, Pipeline):
        inner, last = unfold(model.steps[-1][1])
        steps = []
        for _, step in model.steps[:-1]:
            steps += [one for _, one in step.steps] if isinstance(step, Pipeline) else [step]
        return steps + inner, last
    if isinstance(model, FrozenEstimator):
        return unfold(model.estimator)
    if isinstance(model, (DecidedModel, DecisionClassifierCV)):
        steps, last = unfold(model.model if isinstance(model, DecidedModel) else model.estimator_)
        return steps, Decided(last, model.rule_)
    if isinstance(model, CalibratedScores):
        steps, last = unfold(model.model)
        return steps, Calibrated(last, model.calibration)
    if isinstance(model, FittedWrapper):
        return unfold(model.model)  # other wrappers give the same classes other labels
    if isinstance(model, (FixedThresholdClassifier, TunedThresholdClassifierCV)):
        steps, last = unfold(getattr(model, "estimator_", model.estimator))
        return steps, _thresholded(last, model)
    preparation = getattr(model, "preparation_", None)  # of a fit to a file or folder
    return [] if preparation is None else [step for _, step in preparation.steps], model


def _thresholded(last: Any, model: Any) -> Thresholded:
    if isinstance(model, FixedThresholdClassifier):
        label = model.pos_label
        threshold = None if model.threshold == "auto" else float(model.threshold)
    else:
        label, threshold = model._curve_scorer._get_pos_label(), float(model.best_threshold_)
    classes = np.asarray(model.classes_)
    positive = 1 if label is None else int(np.flatnonzero(classes == label)[0])
    return Thresholded(last, threshold, positive, model.response_method)
