"""Rules: decisions, files, and other class shares."""

import copy
import json
import pickle

import numpy as np
import pandas as pd
import pytest

from immax.decisions import BalancedAccuracy, Budget, Costs, GMean, PrecisionAt, fit_rule
from immax.decisions.rules import Rule, check_proba, threshold_gains
from immax.links import decide


def two(threshold, positive=1, prior=(0.99, 0.01), **options):
    return Rule(np.array(["ok", "fraud"]), threshold_gains(threshold, positive), prior, **options)


def test_a_threshold_decides_from_its_value_on():
    """At the threshold itself the higher index wins, as in the paper."""
    p = np.array([0.1, 0.25, 0.3])
    assert two(0.25).predict(np.c_[1 - p, p]).tolist() == ["ok", "fraud", "fraud"]
    assert two(0.25).threshold == pytest.approx(0.25)
    assert two(0.25, positive=0).predict(np.c_[p, 1 - p]).tolist() == ["fraud", "fraud", "ok"]


def test_thresholds_beyond_one_and_zero_never_and_always_predict():
    proba = np.array([[0.0, 1.0], [0.5, 0.5], [1.0, 0.0]])
    assert two(1 + 1e-6).threshold == pytest.approx(1 + 1e-6, rel=1e-9)
    assert (two(1 + 1e-6).predict(proba) == "ok").all()
    assert (two(-1e-6, positive=0).predict(proba) == "ok").all()


def test_weights_and_costs_are_the_same_rule():
    rng = np.random.default_rng(0)
    proba = rng.dirichlet(np.ones(4), 300)
    costs = np.array([1.0, 2.0, 3.0, 10.0])
    matrix = np.where(np.eye(4, dtype=bool), 0, costs[:, None])
    by_weight = Rule(np.arange(4), np.diag(costs), np.ones(4))
    by_cost = Rule(np.arange(4), -matrix, np.ones(4))
    np.testing.assert_array_equal(by_weight.decide(proba), by_cost.decide(proba))
    np.testing.assert_array_equal(by_cost.decide(proba), decide(proba, costs))
    np.testing.assert_allclose(by_cost.weights, costs / 10)
    matrix[0, 1] = 7
    assert Rule(np.arange(4), -matrix, np.ones(4)).weights is None


def test_abstention():
    rule = Rule(np.array(["a", "b"]), -np.array([[0, 1, 0.2], [1, 0, 0.2]]), [0.5, 0.5])
    labels = rule.predict([[0.95, 0.05], [0.6, 0.4], [0.1, 0.9]])
    assert labels.tolist() == ["a", None, "b"]
    assert rule.threshold is None


def test_a_count_takes_the_most_probable_rows():
    p = np.array([0.2, 0.9, 0.3, 0.8, 0.1])
    assert two(0.5, count=2).predict(np.c_[1 - p, p]).tolist() == [
        "ok",
        "fraud",
        "ok",
        "fraud",
        "ok",
    ]
    assert (two(0.5, count=9).predict(np.c_[1 - p, p]) == "fraud").all()


def test_other_class_shares():
    """Costs under other shares: the same as adjusting the probabilities first."""
    from immax.decisions.priors import adjust_prior

    rng = np.random.default_rng(1)
    proba = rng.dirichlet(np.ones(3), 500)
    prior, actual = np.array([0.6, 0.3, 0.1]), np.array([0.2, 0.3, 0.5])
    rule = Rule(np.arange(3), np.diag([1.0, 2.0, 3.0]), prior, "costs")
    new = rule.for_prior(actual)
    np.testing.assert_array_equal(
        new.decide(proba), rule.decide(adjust_prior(proba, prior, actual))
    )
    np.testing.assert_allclose(new.prior, actual)
    labels = rule.classes.tolist()
    assert rule.for_prior(dict(zip(labels, actual, strict=True))) == new
    assert rule.for_prior(pd.Series(actual, labels)[::-1]) == new
    with pytest.raises(ValueError, match=r"unknown labels: \['other'\], classes without a share"):
        rule.for_prior({"other": 1})
    there_and_back = new.for_prior(prior)
    np.testing.assert_array_equal(there_and_back.decide(proba), rule.decide(proba))
    balanced = Rule(np.arange(3), np.diag(1 / prior), prior, "balanced_accuracy")
    twice = balanced.for_prior(actual).for_prior([0.1, 0.1, 0.8])
    np.testing.assert_array_equal(balanced.for_prior(actual).decide(proba), balanced.decide(proba))
    np.testing.assert_array_equal(twice.decide(proba), balanced.decide(proba))


def test_recalls_do_not_depend_on_the_shares_and_budgets_depend_on_more():
    rng = np.random.default_rng(0)
    p = rng.beta(0.3, 3, 20_000)
    y = (rng.uniform(size=p.size) < p).astype(int)
    proba, prior = np.c_[1 - p, p], np.bincount(y) / y.size
    actual = np.array([1 - 5 * prior[1], 5 * prior[1]])
    for aim in (GMean(), PrecisionAt(0.8), BalancedAccuracy(), Budget(count=30)):
        rule = fit_rule(proba, y, aim)
        adapted = rule.for_prior(actual)
        np.testing.assert_array_equal(adapted.decide(proba), rule.decide(proba))
        np.testing.assert_allclose(adapted.prior, actual)
    with pytest.raises(ValueError, match="budget of 5 % for other class shares depends on"):
        fit_rule(proba, y, Budget(0.05)).for_prior(actual)
    weight = (actual / prior)[y]  # as the message says
    flagged = fit_rule(proba, y, Budget(0.05), sample_weight=weight).decide(proba) == 1
    assert weight[flagged].sum() / weight.sum() == pytest.approx(0.05, abs=1e-3)


def test_dictionaries():
    for rule in (two(0.3, aim="f1"), two(0.3, count=4)):
        again = Rule.from_dict(json.loads(json.dumps(rule.to_dict())))
        assert again == rule
        assert hash(again) == hash(rule)
    assert two(0.3) != two(0.4)


def test_rules_are_immutable():
    rule = two(0.3)
    with pytest.raises(ValueError, match="read-only"):
        rule.gains[0, 0] = 5
    with pytest.raises(AttributeError):
        rule.aim = "other"


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda r: pickle.loads(pickle.dumps(r))]
)
def test_copies_are_immutable(copied):
    rule = two(0.3)
    again = copied(rule)
    assert again == rule
    for name in ("classes", "gains", "prior"):
        assert not getattr(again, name).flags.writeable


@pytest.mark.parametrize(
    ("proba", "message"),
    [
        ([0.5, 0.5], "shape"),
        ([[1.0]], "shape"),
        ([[0.5, 0.6]], "sum to one; row 0 sums to 1.1"),
        ([[np.nan, 1.0]], "finite"),
        ([[-0.5, 1.5]], "negative"),
        ([[0.2, 0.3, 0.5]], "2 classes"),
    ],
)
def test_wrong_probabilities(proba, message):
    with pytest.raises(ValueError, match=message):
        check_proba(proba, 2)


@pytest.mark.parametrize(
    "options",
    [
        {"gains": np.eye(3), "prior": [0.5, 0.5]},
        {"gains": np.eye(2), "prior": [0.5, 0.0]},
        {"gains": np.full((2, 2), np.inf), "prior": [0.5, 0.5]},
        {"gains": np.eye(2), "prior": [0.5, 0.5], "positive": 2},
    ],
)
def test_wrong_rules(options):
    with pytest.raises(ValueError, match="must be"):
        Rule(np.arange(2), **options)
    with pytest.raises(ValueError, match="one per class"):
        two(0.5).for_prior([0.5, 0.2, 0.3])


@pytest.mark.parametrize("aim", ["accuracy", "balanced_accuracy", "f1_macro", "costs", "abstain"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_array_of_gains_is_the_whole_rule(aim, n_classes):
    """As another program would apply it: the last of the largest entries of a product."""
    rng = np.random.default_rng(0)
    proba = rng.dirichlet(np.ones(n_classes), 200)
    y = rng.integers(n_classes, size=200)
    costs = 1.0 - np.eye(n_classes)
    if aim == "abstain":
        aim = Costs(costs, abstain=0.3)
    elif aim == "costs":
        aim = Costs(costs * 7)
    rule = fit_rule(proba, y, aim)
    for row, decision in zip(proba, rule.decide(proba), strict=True):
        values = [sum(row[k] * rule.gains[k, j] for k in range(n_classes))
                  for j in range(rule.gains.shape[1])]  # fmt: skip
        best = max(values)
        assert values[decision] == pytest.approx(best)
        later = values[decision + 1 :]
        assert not later or max(later) < best + 1e-12
