"""Candidates whose decisions serve an aim."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import LinearSVC

from immax.compare import Protocol
from immax.compare.decided_search import DecidedSearch
from immax.compare.judge import make_judge
from immax.compare.protocol import make_candidate
from immax.decisions import Budget, Costs

FOLDS = StratifiedKFold(3, shuffle=True, random_state=0)


@pytest.fixture(scope="module")
def data():
    return make_classification(300, 5, weights=[0.85], class_sep=0.7, random_state=0)


def judge_of(protocol, y):
    return make_judge(protocol, np.unique(y), np.bincount(y))


@pytest.mark.parametrize("aim", [Costs([1.0, 10.0]), Budget(share=0.1), Budget(count=9)])
@pytest.mark.parametrize("name", ["logistic", "weights", "ce", "svm", "xgb", "immax"])
def test_every_candidate_serves_every_aim(data, name, aim):
    X, y = data
    protocol = Protocol(aim=aim)
    model = make_candidate(name, y, protocol, judge_of(protocol, y)).fit(X, y)
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    np.testing.assert_array_equal(model.predict(X), model.rule_.predict(proba))
    positives = int(model.predict(X).sum())
    if aim == Budget(count=9):
        assert positives == 9
    elif isinstance(aim, Budget):
        assert 10 < positives < 90  # of 300, by a threshold for new rows
    else:
        assert model.rule_.aim == "costs"
        assert positives > y.sum()


def test_three_classes_and_scores():
    X, y = make_classification(
        200, 6, n_informative=4, n_classes=3, weights=[0.7, 0.2], random_state=0
    )
    judge = judge_of(Protocol("balanced_accuracy"), y)
    search = GridSearchCV(LinearSVC(), {"C": [0.1, 1.0]})
    model = DecidedSearch(search, judge, FOLDS).fit(X, y)
    assert model.estimator_.predict_proba(X).shape == (200, 3)
    assert model.best_params_["C"] in (0.1, 1.0)
    assert np.isfinite(model.best_score_)


def test_balanced_methods_are_not_corrected_twice(data):
    """Argmax of class-weighted probabilities is the rule for the balanced accuracy already."""
    X, y = data
    judge = judge_of(Protocol("balanced_accuracy"), y)
    inner = LogisticRegression(class_weight="balanced")
    model = DecidedSearch(inner, judge, FOLDS, balanced=True).fit(X, y)
    assert model.rule_.threshold == pytest.approx(0.5)
    np.testing.assert_array_equal(model.predict(X), inner.fit(X, y).predict(X))


def test_cells_are_chosen_after_their_best_rule(data):
    X, y = data
    judge = judge_of(Protocol("f1"), y)
    grid = {"C": [1e-4, 1.0]}
    model = DecidedSearch(GridSearchCV(LogisticRegression(), grid), judge, FOLDS).fit(X, y)
    for C in grid["C"]:
        single = DecidedSearch(GridSearchCV(LogisticRegression(), {"C": [C]}), judge, FOLDS).fit(
            X, y
        )
        assert single.best_score_ <= model.best_score_ + 1e-12


def test_a_judge_without_an_aim_is_refused(data):
    X, y = data
    with pytest.raises(ValueError, match="no aim"):
        DecidedSearch(LogisticRegression(), judge_of(Protocol(), y), FOLDS).fit(X, y)
