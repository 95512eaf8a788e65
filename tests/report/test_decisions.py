"""The part of the page about decisions."""

import json
from dataclasses import replace

import numpy as np
import pytest

from immax.compare.results import PooledPredictions
from immax.decisions import Budget, Costs, fit_rule
from immax.report import decisions
from immax.report.decisions import describe_decisions, rarest_class, sweep_rule


@pytest.fixture(scope="module")
def section(comparison, answer, pipeline):
    return describe_decisions(comparison, answer, {"immax": pipeline})


def test_the_rule_and_its_value(section, answer):
    assert section.method == "IMMAX logistic"
    assert section.positive == "rare"
    assert section.value == answer.row("immax").measures["accuracy"]
    assert section.rule.startswith("predict rare when its probability is at least 0.5")
    assert "threshold of rare" in section.curve.text
    assert "Net benefit" in section.benefit.text


def test_the_slider_starts_at_the_rule_and_counts_all_rows(section, comparison):
    content = json.loads(section.slider)
    assert content["positions"][content["start"]] == 0.5
    assert content["positions"] == sorted(content["positions"])
    assert {sum(table) for table in content["tables"]} == {60}
    _, _, proba = comparison.pooled("immax")
    at_rule = np.array(content["tables"][content["start"]]).reshape(2, 2)
    assert at_rule[1, 1] == int(((proba[:, 1] >= 0.5) & (comparison.codes == 1)).sum())
    assert content["costs"] == [1.0, 3.0]
    assert content["rare"] == 1


def test_other_frequencies_of_the_rarest_class(section):
    assert [one.times for one in section.shares] == [0.5, 1.0, 2.0]
    assert section.shares[2].share == pytest.approx(0.5)
    assert section.shares[1].kept == section.shares[1].adapted
    assert section.shares[2].rule == "predict rare when its probability is at least 0.25"


def test_budgets_hold_for_other_frequencies():
    rng = np.random.default_rng(0)
    p = rng.beta(0.3, 3, 5000)
    y = (rng.uniform(size=p.size) < p).astype(int)
    proba, aim = np.c_[1 - p, p], Budget(0.05)
    rule = fit_rule(proba, y, aim)
    pooled = PooledPredictions(y, rule.decide(proba), proba)
    shares = decisions._other_shares(aim, rule, pooled, 1)
    assert [one.times for one in shares] == [0.5, 1.0, 2.0, 5.0]
    assert all(one.adapted > 0 for one in shares)  # below zero, the budget is not kept
    assert [one.kept > 0 for one in shares] == [True, True, False, False]


def test_methods_without_probabilities_have_no_decisions_to_show(comparison, answer):
    assert describe_decisions(comparison, replace(answer, recommended="svm"), {}) is None


def test_many_classes_vary_the_weight_of_the_rarest():
    rng = np.random.default_rng(0)
    y = rng.choice(3, 300, p=[0.7, 0.25, 0.05])
    proba = rng.dirichlet([5, 2, 1], 300)
    rule = fit_rule(proba, y, "balanced_accuracy")
    sweep = sweep_rule(rule, proba, y, 2)
    assert sweep.positions[sweep.start] == pytest.approx(1)
    np.testing.assert_array_equal(sweep.tables.sum(axis=(1, 2)), 300)
    decided = np.bincount(y * 3 + rule.decide(proba), minlength=9).reshape(3, 3)
    np.testing.assert_array_equal(sweep.tables[sweep.start], decided)
    predicted = sweep.tables[:, :, 2].sum(axis=1)
    assert (np.diff(predicted) >= 0).all()


def test_a_number_of_rows_has_one_position():
    proba = np.array([[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]])
    rule = fit_rule(proba, [0, 0, 1], Budget(count=1))
    sweep = sweep_rule(rule, proba, np.array([0, 0, 1]), 1)
    assert sweep.positions.size == 1
    assert sweep.tables[0].tolist() == [[2, 0], [0, 1]]


def test_costs_of_errors_are_those_of_the_aim_or_of_the_frequencies():
    counts = np.array([90, 10])
    assert decisions._costs_of_errors(Costs([1.0, 7.0]), counts) == [1.0, 7.0]
    assert rarest_class(counts) == 1
    assert rarest_class(np.array([5, 5])) == 1
    assert rarest_class(np.array([5, 3, 9])) == 1


def test_more_weight_of_the_rarest_class_never_predicts_it_less_by_costs():
    rng = np.random.default_rng(0)
    y = rng.choice(3, 300, p=[0.7, 0.25, 0.05])
    proba = rng.dirichlet([5, 2, 1], 300)
    for costs in ([1.0, 2.0, 10.0], [[0, 1, 2], [1, 0, 3], [9, 8, 0]]):
        rule = fit_rule(proba, y, Costs(costs))
        sweep = sweep_rule(rule, proba, y, 2)
        decided = np.bincount(y * 3 + rule.decide(proba), minlength=9).reshape(3, 3)
        np.testing.assert_array_equal(sweep.tables[sweep.start], decided)
        predicted = sweep.tables[:, :, 2].sum(axis=1)
        assert (np.diff(predicted) >= 0).all()
        assert predicted[0] < decided[:, 2].sum() < predicted[-1]


def test_values_for_other_shares_have_the_name_of_what_they_are(comparison, answer, section):
    assert section.shares_title == section.title
    own = describe_decisions(comparison, replace(answer, title="log loss"), {})
    assert (own.title, own.shares_title) == ("log loss", "accuracy")
