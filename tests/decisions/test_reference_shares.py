"""The class shares that probabilities refer to."""

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score

from immax.decisions import Costs, DecisionClassifierCV, adjust_prior, fit_rule, reference_shares
from immax.decisions.reference_shares import estimate_reference_shares


def samples(counts, seed=0):
    """Normal classes whose first feature is shifted by 1.5 for each class."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(counts)), counts)
    X = rng.normal(size=(y.size, 3))
    X[:, 0] += 1.5 * y
    return X, y


def shares_of(y):
    return np.bincount(y) / y.size


@pytest.mark.parametrize("counts", [(1900, 100), (1500, 400, 100)])
def test_calibrated_probabilities_refer_to_the_shares_of_the_labels(counts):
    model = LogisticRegression().fit(*samples(counts))
    X, y = samples(counts, seed=1)
    assert (
        estimate_reference_shares(model.predict_proba(X), y, np.ones(y.size), shares_of(y)) is None
    )


@pytest.mark.parametrize("counts", [(1900, 100), (1500, 400, 100)])
def test_class_weights_are_found(counts):
    model = LogisticRegression(class_weight="balanced").fit(*samples(counts))
    X, y = samples(counts, seed=1)
    found = estimate_reference_shares(model.predict_proba(X), y, np.ones(y.size), shares_of(y))
    np.testing.assert_allclose(found, 1 / len(counts), atol=0.06)


def test_held_out_samples_of_other_shares_are_found():
    model = LogisticRegression().fit(*samples((1900, 100)))
    X, y = samples((400, 400), seed=1)
    found = estimate_reference_shares(model.predict_proba(X), y, np.ones(y.size), shares_of(y))
    np.testing.assert_allclose(found, [0.95, 0.05], atol=0.02)


def test_a_few_samples_prove_nothing():
    p = np.array([0.3, 0.4, 0.1, 0.2])
    assert (
        estimate_reference_shares(
            np.c_[1 - p, p], np.array([0, 1, 0, 1]), np.ones(4), np.full(2, 0.5)
        )
        is None
    )


def test_probabilities_of_zero_do_no_harm():
    p = np.r_[np.zeros(500), np.ones(20)]
    y = np.r_[np.zeros(490, int), np.ones(30, int)]
    found = estimate_reference_shares(np.c_[1 - p, p], y, np.ones(520), shares_of(y))
    assert found is None or np.isfinite(found).all()


@pytest.mark.parametrize("aim", ["balanced_accuracy", "accuracy", Costs([1.0, 20.0])])
def test_rules_in_closed_form_take_them_into_account(aim):
    weighted = LogisticRegression(class_weight="balanced").fit(*samples((1900, 100)))
    X, y = samples((1900, 100), seed=1)
    p = weighted.predict_proba(X)
    with pytest.warns(UserWarning, match=r"refer to the class shares .* the labels have 95 : 5 %"):
        rule = fit_rule(p, y, aim)
    undone = adjust_prior(p, [1, 1], [0.95, 0.05])
    right = fit_rule(undone, y, aim).decide(undone)
    assert (rule.decide(p) == right).mean() > 0.98


def test_a_classifier_with_class_weights_keeps_its_balanced_accuracy():
    X, y = samples((1900, 100))
    test, labels = samples((4000, 4000), seed=2)
    with pytest.warns(UserWarning, match="refer to the class shares"):
        model = DecisionClassifierCV(LogisticRegression(class_weight="balanced")).fit(X, y)
    plain = DecisionClassifierCV(LogisticRegression()).fit(X, y)
    own, other = (balanced_accuracy_score(labels, m.predict(test)) for m in (model, plain))
    assert own == pytest.approx(other, abs=0.02)
    assert own > 0.74


def test_a_balanced_held_out_set_does_not_change_what_a_fitted_model_decides():
    fitted = LogisticRegression().fit(*samples((1900, 100)))
    X, y = samples((300, 300), seed=1)
    test, labels = samples((4000, 4000), seed=2)
    with pytest.warns(UserWarning, match="refer to the class shares"):
        model = DecisionClassifierCV(fitted, cv="prefit").fit(X, y)
    assert balanced_accuracy_score(labels, model.predict(test)) > 0.74


def test_given_shares_are_not_estimated():
    fitted = LogisticRegression().fit(*samples((1900, 100)))
    X, y = samples((300, 300), seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rule = fit_rule(fitted.predict_proba(X), y, "balanced_accuracy", prior=[1900, 100])
    assert rule.threshold == pytest.approx(0.05)
    np.testing.assert_allclose(rule.prior, [0.95, 0.05])
    with pytest.raises(ValueError, match="prior must be 2 shares"):
        fit_rule(fitted.predict_proba(X), y, "balanced_accuracy", prior=[1, 2, 3])


def test_probabilities_that_agree_with_the_labels_are_evaluated_a_few_times(monkeypatch):
    evaluations = []
    evaluate = reference_shares._evaluate

    def counted(*arguments):
        evaluations.append(arguments)
        return evaluate(*arguments)

    monkeypatch.setattr(reference_shares, "_evaluate", counted)
    for counts in ((1900, 100), (1500, 400, 100)):
        X, y = samples(counts)
        p = LogisticRegression().fit(X, y).predict_proba(X)
        estimate_reference_shares(p, y, np.ones(y.size), shares_of(y))
    assert len(evaluations) <= 12
