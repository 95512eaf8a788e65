"""What scorers require, and the scores that they give."""

import numpy as np
import pytest
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    f1_score,
    get_scorer,
    log_loss,
    make_scorer,
)

from immax import IMMAXClassifierCV
from immax.search.predictions import HeldOutPredictions, HeldOutScores
from immax.search.scoring import Scorer, group_means, resolve_scoring

RNG = np.random.default_rng(0)
CLASSES = np.array([0, 1, 2])
X = RNG.normal(size=(60, 4))
Y = RNG.integers(0, 3, 60)
WEIGHT = RNG.integers(1, 4, 60).astype(float)
MODEL = HeldOutPredictions(
    HeldOutScores(CLASSES, RNG.normal(size=(60, 3)), np.array([0.5, 0.3, 0.2]), "logistic")
)
ALL = [np.arange(60)]


def probe(scoring, weight=None):
    return Scorer.probe(scoring, X, Y, weight, CLASSES)


def features_of(groups):
    return lambda number: X[groups[number]]


def unweighted(y, predicted):
    return np.mean(y == predicted)


def by_labels(estimator, X, y):
    return np.mean(estimator.predict(X) == y)


def by_own_score(estimator, X, y):
    return estimator.score(X, y)


def by_probability(estimator, X, y):
    return estimator.predict_proba(X)[np.arange(len(y)), y].mean()


@pytest.mark.parametrize(
    ("scoring", "uses_labels"),
    [
        (None, True),
        ("accuracy", True),
        ("balanced_accuracy", True),
        ("f1_macro", True),
        ("neg_log_loss", False),
        ("roc_auc_ovr", False),
        ("top_k_accuracy", False),
        (make_scorer(f1_score, average="macro"), True),
        (make_scorer(log_loss, response_method="predict_proba", greater_is_better=False), False),
        (by_labels, True),
        (by_own_score, True),
        (by_probability, False),
    ],
)
def test_whether_labels_are_used(scoring, uses_labels):
    assert probe(scoring).uses_labels is uses_labels


@pytest.mark.parametrize(
    ("scoring", "uses_weights"),
    [("balanced_accuracy", True), (make_scorer(unweighted), False), (by_labels, False)],
)
def test_whether_weights_are_used(scoring, uses_weights):
    scorer = probe(scoring, weight=WEIGHT)
    assert scorer.uses_weights is uses_weights
    (score,) = scorer.score_groups(MODEL, features_of(ALL), Y, WEIGHT, ALL)
    predicted = MODEL.predict(X)
    if uses_weights:
        expected = balanced_accuracy_score(Y, predicted, sample_weight=WEIGHT)
    else:
        expected = accuracy_score(Y, predicted)
    assert score == pytest.approx(expected)


@pytest.mark.parametrize("weight", [None, WEIGHT])
@pytest.mark.parametrize(
    "scoring",
    ["accuracy", "neg_log_loss", "balanced_accuracy", "f1_macro", "matthews_corrcoef", "f1_micro"],
)
def test_the_quick_ones_are_those_of_scikit_learn(scoring, weight):
    groups = [np.arange(0, 30), np.arange(30, 60)]
    quick = probe(scoring, weight=weight)
    assert quick.per_sample is not None or quick.aim is not None
    slow = Scorer(get_scorer(scoring), quick.uses_labels)
    np.testing.assert_allclose(
        quick.score_groups(MODEL, features_of(groups), Y, weight, groups),
        slow.score_groups(MODEL, features_of(groups), Y, weight, groups),
    )


def test_groups_are_scored_by_themselves():
    groups = [np.arange(0, 25), np.arange(25, 60)]
    found = probe("balanced_accuracy").score_groups(MODEL, None, Y, None, groups)
    predicted = MODEL.predict(X)
    expected = [balanced_accuracy_score(Y[rows], predicted[rows]) for rows in groups]
    np.testing.assert_allclose(found, expected)
    np.testing.assert_allclose(group_means(Y, WEIGHT, ALL), np.average(Y, weights=WEIGHT))


@pytest.mark.parametrize("classes", [[0, 1], [1, 2], [-1, 1]])
def test_the_class_of_f1_is_that_of_the_label_one(classes):
    y = np.array(classes)[(Y > 0).astype(int)]
    model = HeldOutPredictions(
        HeldOutScores(np.array(classes), RNG.normal(size=(60, 1)), np.ones(2), "logistic")
    )
    scorer = Scorer.probe("f1", X, y, None, np.array(classes))
    assert scorer.aim is not None
    found = scorer.score_groups(model, None, y, None, ALL)
    assert found[0] == pytest.approx(f1_score(y, model.predict(X)))


@pytest.mark.parametrize(
    ("scoring", "only_labels"),
    [("accuracy", True), ("f1_macro", True), (by_labels, True), (by_probability, False)],
)
def test_whether_nothing_but_labels_is_used(scoring, only_labels):
    assert probe(scoring).only_labels is only_labels


def test_errors_of_a_scorer_are_shown_before_any_fit():
    with pytest.raises(ValueError, match="multiclass"):
        probe("f1")

    def broken(estimator, X, y):
        raise AttributeError("nonsense")

    with pytest.raises(AttributeError, match="nonsense"):
        probe(broken)


@pytest.mark.parametrize("scoring", ["best", 3, ["accuracy"], accuracy_score])
def test_what_is_refused(scoring):
    with pytest.raises(ValueError, match="scor"):
        resolve_scoring(scoring)


def score_a_part(model, X, y):
    rows = X[:, 0] > 0
    return float(np.mean(model.predict(X[rows]) == y[rows]))


def score_other_rows(model, X, y):
    return float(np.mean(model.predict(X + 1) == y))


@pytest.mark.parametrize("scoring", [score_a_part, score_other_rows])
def test_predictions_of_other_rows_are_refused(scoring):
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 2
    with pytest.raises(ValueError, match=r"predictions of other rows than it was given"):
        IMMAXClassifierCV(scoring=scoring, lams=[1e-2], cv=3).fit(X, y)


def test_a_copy_of_the_rows_will_do():
    def score_by_copy(model, X, y):
        return float(np.mean(model.predict(X.copy())[X[:, 0] > 0] == y[X[:, 0] > 0]))

    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 2
    search = IMMAXClassifierCV(scoring=score_by_copy, lams=[1e-2], cv=3).fit(X, y)
    assert 0 <= search.best_score_ <= 1
