"""What to add to a model's scores so that the highest one is the class that it predicts.

The bounds are for predictions by the highest score. A model that predicts by probabilities is
covered where its rule is a shift of the scores, which is a change of the biases: with two classes
always, and with more where all classes have the same margin.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression

from immax.arrays import Array
from immax.links import check_costs

__all__ = ["decision_shift"]

OWN_RULE = (
    "set_params(rule='score') certifies predictions by the highest score, and needs no new fit"
)
RULE_OF_AN_AIM = (
    "its classifier, best_estimator_ or estimator_, has a certificate for predictions by the "
    "highest score (of IMMAXClassifier, with set_params(rule='score'))"
)


def decision_shift(
    model: Any, scores: Array, rule: Any = None, calibration: Any = None
) -> Array | float:
    """Return the shift of the scores that makes the highest score the model's prediction.

    Parameters
    ----------
    model : fitted classifier
        One without the parameter ``rule`` predicts by the highest score.
    scores : ndarray of shape (m,) or (m, c)
        Of a sample.
    rule : Rule, optional
        A rule that takes the place of the model's own, as a search for an aim finds it.
    calibration : ScoreCalibration, optional
        What makes probabilities of scores for the rule, in place of the model's link.

    Returns
    -------
    float or ndarray of shape (c,)
        Zero where the model predicts by the highest score.

    Raises
    ------
    ValueError
        If the rule is not a shift of the scores. The message names the alternatives.
    """
    if rule is None and getattr(model, "rule", "score") == "score":
        return 0.0
    way_out = OWN_RULE if rule is None else RULE_OF_AN_AIM
    proba = _link(model, way_out) if calibration is None else calibration.proba
    gains = _gains(model, rule)
    if scores.ndim == 1:
        return -_threshold(proba, gains, way_out)
    if calibration is not None:
        raise ValueError(
            "the bounds are for decisions by the highest score, and the search decides by "
            f"calibrated probabilities of three classes or more: {way_out}"
        )
    return _class_shifts(model, proba, scores, gains, way_out)


def _link(model: Any, way_out: str) -> Callable[[Array], Array]:
    """Return the function from the scores of a model to its probabilities."""
    if hasattr(model, "_proba"):
        return model._proba
    if isinstance(model, LogisticRegression):
        return _softmax
    raise ValueError(
        f"the bounds need probabilities that follow from the scores, which those of "
        f"{type(model).__name__} are not known to do: {way_out}"
    )


def _softmax(scores: Array) -> Array:
    columns = np.column_stack([-scores / 2, scores / 2]) if scores.ndim == 1 else scores
    return np.asarray(softmax(columns, axis=1))


def _gains(model: Any, rule: Any) -> Array:
    """Return what decision j gains when class k is true, shape (c, c)."""
    c = np.size(model.classes_)
    if rule is not None:
        if getattr(rule, "count", None) is not None or rule.abstains:
            raise ValueError(
                "the bounds are for decisions that depend on the sample alone and are always made; "
                f"a rule with a budget or with abstention is neither: {RULE_OF_AN_AIM}"
            )
        return np.asarray(rule.gains)
    costs: ArrayLike | None = getattr(model, "costs", None)
    return np.eye(c) if costs is None else -check_costs(costs, c)


def _threshold(proba: Callable[[Array], Array], gains: Array, way_out: str) -> float:
    """Return the score from which on class 1 is predicted; the link of two classes increases."""
    one, zero = gains[1, 1] - gains[1, 0], gains[0, 0] - gains[0, 1]
    if not (one > 0 and zero > 0):
        raise ValueError("with these costs one class is always predicted: there is no margin")
    wanted = zero / (zero + one)

    def excess(score: float) -> float:
        return float(proba(np.array([score]))[0, 1]) - wanted

    reach = 1.0
    while excess(-reach) > 0 or excess(reach) < 0:
        reach *= 2
        if reach > 1e9:
            raise ValueError(f"no score has the probability {wanted:g} of class 1: {way_out}")
    return float(brentq(excess, -reach, reach, xtol=1e-12, rtol=1e-12))


def _class_shifts(
    model: Any, proba: Callable[[Array], Array], scores: Array, gains: Array, way_out: str
) -> Array:
    """Return the shifts for c classes, where probabilities are a softmax of shifted scores."""
    c = gains.shape[0]
    losses = gains.diagonal()[:, None] - gains  # of deciding j when k is true
    weights = losses.max(axis=1)
    if not (weights > 0).all() or not np.allclose(losses, weights[:, None] * (1 - np.eye(c))):
        raise ValueError(
            "the bounds are for costs of errors on each class, not of each pair of classes: "
            f"{way_out}"
        )
    sizes = getattr(model, "margins_", None)
    if sizes is None:  # of a method of the catalogue, or of plain logistic regression
        sizes = model.spec_.temperature if hasattr(model, "spec_") else 1.0
    temperature = float(np.mean(sizes))
    rows = scores[:: max(1, len(scores) // 200)]
    rows = rows - rows.max(axis=1, keepdims=True)
    rows = np.maximum(rows, -30 * temperature)  # probabilities that are not zero
    shifts = temperature * np.log(proba(rows)) - rows
    shifts = shifts - shifts.mean(axis=1, keepdims=True)
    if not np.allclose(shifts, shifts[0], atol=1e-6 * temperature):
        raise ValueError(
            "with three classes or more and unequal margins, a rule of probabilities such as "
            "rule='bayes' is not a rule of highest scores, which the bounds are for: "
            f"{way_out}; margins='equal' has a certificate with its rule"
        )
    return np.asarray(shifts.mean(axis=0) + temperature * np.log(weights))
