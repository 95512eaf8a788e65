"""Rules that are shifts of the scores."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_classification

from immax import BaselineClassifier, IMMAXClassifier
from immax.decisions import Rule
from immax.theory.decision_shifts import decision_shift
from immax.theory.hypotheses import hypothesis
from immax.theory.margin_losses import predictions


def two(n=400):
    return make_classification(n, 5, weights=[0.8], flip_y=0.2, random_state=0)


def three(n=400):
    return make_blobs(n, centers=2 * np.eye(3), random_state=0)


def check(model, X):
    """The hypothesis's highest score is what the model predicts."""
    found = hypothesis(model, X)
    np.testing.assert_array_equal(model.classes_[predictions(found.scores)], model.predict(X))


@pytest.mark.parametrize("costs", [None, [1.0, 7.0], [[0.0, 1.0], [4.0, 0.5]]])
@pytest.mark.parametrize("loss", ["logistic", "exponential"])
def test_two_classes(loss, costs):
    X, y = two()
    check(IMMAXClassifier(loss, rule="bayes", costs=costs).fit(X, y), X)


@pytest.mark.parametrize("method", ["ce", "rw", "la", "ldam", "vs", "focal"])
def test_two_classes_of_the_baselines(method):
    X, y = two()
    check(BaselineClassifier(method, rule="bayes", lam=1e-2).fit(X, y), X)


@pytest.mark.parametrize("costs", [None, [1.0, 4.0, 2.0]])
def test_more_classes_with_equal_margins(costs):
    X, y = three()
    check(IMMAXClassifier(margins="equal", rule="bayes", costs=costs).fit(X, y), X)
    check(IMMAXClassifier(margins=[0.5] * 3, rule="bayes", costs=costs).fit(X, y), X)
    for method in ("ce", "rw", "la", "bs", "cb"):
        check(BaselineClassifier(method, rule="bayes", costs=costs).fit(X, y), X)


def test_rules_that_are_not_shifts_are_refused():
    X, y = three()
    y = np.where((y == 2) & (np.arange(400) % 5 > 0), 0, y)
    model = IMMAXClassifier(rule="bayes").fit(X, y)
    with pytest.raises(ValueError, match=r"not a rule of highest scores.*rule='score'"):
        hypothesis(model, X)
    pairs = np.arange(9.0).reshape(3, 3) * (1 - np.eye(3))
    model = IMMAXClassifier(margins="equal", rule="bayes", costs=pairs).fit(X, y)
    with pytest.raises(ValueError, match="not of each pair of classes"):
        hypothesis(model, X)
    X, y = two()
    model = IMMAXClassifier(rule="bayes", costs=[[1.0, 0.0], [1.0, 0.0]]).fit(X, y)
    with pytest.raises(ValueError, match="one class is always predicted"):
        hypothesis(model, X)


def test_rules_of_aims():
    X, y = two()
    model = IMMAXClassifier().fit(X, y)
    rule = Rule(model.classes_, np.diag([0.2, 0.8]), np.array([0.8, 0.2]))
    scores = model.decision_function(X)
    shifted = scores + decision_shift(model, scores, rule)
    np.testing.assert_array_equal(
        shifted >= 0, 0.8 * model.predict_proba(X)[:, 1] >= 0.2 * model.predict_proba(X)[:, 0]
    )
    budget = Rule(model.classes_, np.eye(2), np.array([0.8, 0.2]), count=10)
    with pytest.raises(ValueError, match="a rule with a budget"):
        decision_shift(model, scores, budget)
    assert decision_shift(model, scores) == 0
