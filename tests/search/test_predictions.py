"""Known scores as a fitted classifier."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.metrics import get_scorer

from immax.decisions import Rule
from immax.links import immax_proba
from immax.search.predictions import HeldOutPredictions, HeldOutScores, log_probabilities

RNG = np.random.default_rng(0)
RHO = np.array([0.5, 0.3, 0.2])
SCORES = RNG.normal(size=(40, 3))
LABELS = np.array(["a", "b", "c"])


def test_labels_scores_and_probabilities():
    model = HeldOutPredictions(HeldOutScores(LABELS, SCORES, RHO, "logistic"))
    proba = immax_proba(SCORES, RHO, "logistic")
    np.testing.assert_array_equal(model.decision_function(None), SCORES)
    np.testing.assert_allclose(model.predict_proba(None), proba)
    np.testing.assert_array_equal(model.predict(None), LABELS[SCORES.argmax(axis=1)])
    bayes = model.with_rule("bayes")
    np.testing.assert_array_equal(bayes.predict(None), LABELS[proba.argmax(axis=1)])
    assert (bayes.predict(None) != model.predict(None)).any()
    assert bayes.predict_proba(None) is model.predict_proba(None)


def test_it_cannot_be_changed():
    model = HeldOutPredictions(HeldOutScores(LABELS, SCORES, RHO, "logistic"))
    with pytest.raises(FrozenInstanceError):
        model.rule = "bayes"
    assert is_classifier(model)


def test_two_classes_have_one_score():
    model = HeldOutPredictions(HeldOutScores(LABELS[:2], SCORES[:, :1], RHO[:2], "logistic"))
    assert model.decision_function(None).shape == (40,)
    assert model.predict_proba(None).shape == (40, 2)
    y = LABELS[:2][(SCORES[:, 0] > 0).astype(int)]
    assert get_scorer("accuracy")(model, None, y) == 1
    assert get_scorer("roc_auc")(model, None, y) == 1


def test_the_hinge_has_no_probabilities():
    model = HeldOutPredictions(HeldOutScores(LABELS, SCORES, RHO, "hinge"))
    assert not hasattr(model, "predict_proba")
    assert hasattr(model, "decision_function")


def test_each_sample_by_its_own_model():
    rho = np.array([RHO, RHO[::-1]])
    index = RNG.integers(0, 2, 40)
    held_out = HeldOutScores(LABELS, SCORES, rho, "logistic", index)
    for model in (0, 1):
        rows = np.flatnonzero(index == model)
        expected = immax_proba(SCORES[rows], rho[model], "logistic")
        np.testing.assert_allclose(held_out.proba[rows], expected)
        np.testing.assert_allclose(held_out.subset(rows).proba, expected)


def test_log_probabilities_are_those_of_the_own_class():
    model = HeldOutPredictions(HeldOutScores(LABELS, 1e3 * SCORES, RHO, "logistic"))
    y = RNG.integers(0, 3, 40)
    expected = np.log(np.maximum(model.predict_proba(None)[np.arange(40), y], 2.3e-16))
    np.testing.assert_allclose(log_probabilities(model, LABELS[y]), expected, rtol=0.01)
    assert np.isfinite(expected).all()


def test_class_weights_are_divided_out():
    weights = np.array([1.0, 4.0, 9.0])
    plain = HeldOutScores(LABELS, SCORES, RHO, "logistic").proba
    odds = HeldOutScores(LABELS, SCORES, RHO, "logistic", weights=weights).proba / plain * weights
    np.testing.assert_allclose(odds, np.repeat(odds[:, :1], 3, axis=1))


def test_calibrated_scores_have_probabilities():
    y = RNG.integers(0, 3, 40)
    scores = HeldOutScores(LABELS, SCORES, RHO, "hinge").calibrated(y, None)
    model = HeldOutPredictions(scores)
    np.testing.assert_allclose(model.predict_proba(None).sum(axis=1), 1)
    np.testing.assert_array_equal(
        model.subset(np.arange(5)).predict_proba(None), model.predict_proba(None)[:5]
    )


def test_labels_by_a_fitted_rule():
    model = HeldOutPredictions(HeldOutScores(LABELS, SCORES, RHO, "logistic"))
    rule = Rule(LABELS, np.diag([1.0, 0.0, 0.0]), np.full(3, 1 / 3))
    assert set(model.with_rule(rule).predict(None)) == {"a"}
