"""Rules in ONNX against rules in NumPy, ties included."""

import numpy as np
import pytest
from onnx_models import evaluate

from immax.decisions import Rule
from immax.links import by_score, decide
from immax.onnx.decisions import add_labels, add_rule, by_cost, by_highest, by_sign, by_threshold
from immax.onnx.graph import Output

PROBA = np.array([[0.5, 0.5, 0.0], [0.2, 0.3, 0.5], [0.9, 0.05, 0.05], [0.25, 0.25, 0.5]])


def indices(values, build):
    return evaluate(values, lambda graph, X: Output(build(graph, X), "int64"))


def test_ties_go_to_the_highest_class():
    assert indices(PROBA, by_highest).tolist() == [1, 2, 0, 2]
    scores = np.array([[-1.0], [0.0], [2.0]])
    assert indices(scores, by_sign).tolist() == by_score(scores[:, 0]).tolist()


@pytest.mark.parametrize("positive", [0, 1])
def test_a_threshold_is_reached_by_equal_values(positive):
    values = np.array([[0.2], [0.3], [0.4]])
    found = indices(values, lambda graph, p: by_threshold(graph, p, 0.3, positive))
    assert found.tolist() == [1 - positive, positive, positive]


@pytest.mark.parametrize("costs", [None, [1.0, 5.0, 2.0], [[0, 1, 2], [4, 0, 1], [1, 1, 0]]])
def test_costs(costs):
    found = indices(PROBA, lambda graph, p: by_cost(graph, p, costs, 3))
    assert found.tolist() == decide(PROBA, costs).tolist()


def test_a_rule():
    rule = Rule(np.arange(3), np.diag([1.0, 3.0, 0.5]), np.array([0.5, 0.3, 0.2]))
    found = indices(PROBA, lambda graph, p: add_rule(graph, p, rule))
    assert found.tolist() == rule.decide(PROBA).tolist()


def test_rules_that_depend_on_other_rows_or_abstain_are_refused():
    pair, prior = np.arange(2), np.array([0.5, 0.5])
    counted = Rule(pair, np.eye(2), prior, count=3)
    abstaining = Rule(pair, np.eye(2, 3), prior)
    for rule, message in ((counted, "other rows"), (abstaining, "abstains")):
        with pytest.raises(NotImplementedError, match=message):
            evaluate(PROBA[:, :2], lambda graph, p, rule=rule: add_rule(graph, p, rule))


def test_labels_of_numbers():
    def build(graph, X):
        return add_labels(graph, by_highest(graph, X), np.array([10, 20, 30]))

    assert evaluate(PROBA, build).tolist() == [20, 30, 10, 30]
