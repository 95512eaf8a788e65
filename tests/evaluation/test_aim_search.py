"""Searches whose fits serve several aims, against searches for one."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import LinearSVC

from immax import IMMAXClassifierCV
from immax.decisions import DecidedModel, DecisionClassifierCV
from immax.evaluation.aim_search import AimSearch, PerAim
from immax.evaluation.held_out_scorer import score_by_metric
from immax.evaluation.metrics import METRICS
from immax.search.cells import linear_path

AIMS = ("balanced_accuracy", "f1", "cost_10_to_1", "log_loss")
GRID = {"C": [1e-4, 1e-2, 1.0]}


def scorers(y, *names):
    return [score_by_metric(METRICS[name], np.bincount(y)) for name in names]


def sample(n_classes=2):
    weights = [0.85, 0.15] if n_classes == 2 else [0.7, 0.2, 0.1]
    return make_classification(
        300, 8, n_informative=5, n_classes=n_classes, weights=weights, flip_y=0.1, random_state=0
    )


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("metric", AIMS)
def test_each_aim_chooses_as_a_search_of_its_own(metric, n_classes):
    X, y = sample(n_classes)
    cv = StratifiedKFold(4, shuffle=True, random_state=0)
    search = AimSearch(LogisticRegression(), GRID, cv, scorers(y, *AIMS)).fit(X, y)
    alone = GridSearchCV(LogisticRegression(), GRID, cv=cv, scoring=METRICS[metric].score)
    assert search.best_params_[metric] == alone.fit(X, y).best_params_
    np.testing.assert_array_equal(search.for_aim(metric).predict(X), alone.predict(X))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("metric", ["balanced_accuracy", "f1", "cost_10_to_1"])
def test_a_search_of_one_point_with_rules_is_decision_classifier_cv(metric, n_classes):
    X, y = sample(n_classes)
    cv = StratifiedKFold(4, shuffle=True, random_state=0)
    search = AimSearch(LogisticRegression(), {}, cv, scorers(y, *AIMS), decide=True).fit(X, y)
    aim = METRICS[metric].make_aim(np.bincount(y))
    alone = DecisionClassifierCV(LogisticRegression(), aim, cv=cv).fit(X, y)
    own = search.for_aim(metric)
    assert isinstance(own, DecidedModel)
    assert own.rule == alone.rule_
    np.testing.assert_array_equal(own.predict(X), alone.predict(X))
    np.testing.assert_allclose(own.predict_proba(X), alone.predict_proba(X))


def test_rules_and_parameters_are_chosen_together():
    X, y = sample()
    cv = StratifiedKFold(4, shuffle=True, random_state=0)
    search = AimSearch(LogisticRegression(), GRID, cv, scorers(y, "f1"), decide=True).fit(X, y)
    scores = {}
    for C in GRID["C"]:
        one = AimSearch(LogisticRegression(C=C), {}, cv, scorers(y, "f1"), decide=True).fit(X, y)
        rule = one.for_aim("f1").rule
        proba = np.empty((len(y), 2))
        for train, test in cv.split(X, y):
            proba[test] = LogisticRegression(C=C).fit(X[train], y[train]).predict_proba(X[test])
        labels = rule.predict(proba)
        f1 = METRICS["f1"].compute
        scores[C] = np.mean([f1(y[t], labels[t], proba, 2) for _, t in cv.split(X, y)])
    assert search.best_params_["f1"] == {"C": max(scores, key=scores.get)}


def test_a_classifier_without_probabilities_serves_aims_of_labels():
    X, y = sample()
    search = AimSearch(LinearSVC(), GRID, 3, scorers(y, "f1", "log_loss")).fit(X, y)
    assert set(search.for_aim("f1").predict(X)) == {0, 1}


@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_without_probabilities_are_calibrated(n_classes):
    X, y = sample(n_classes)
    asked = scorers(y, "balanced_accuracy")
    search = AimSearch(LinearSVC(), GRID, 3, asked, decide=True, calibrate=True).fit(X, y)
    own = search.for_aim("balanced_accuracy")
    assert own.predict_proba(X).shape == (300, n_classes)
    np.testing.assert_array_equal(own.predict(X), own.rule.predict(own.predict_proba(X)))
    assert np.isfinite(search.best_scores_["balanced_accuracy"])


def test_balanced_classifiers_are_not_corrected_twice():
    """Argmax of class-weighted probabilities is the rule for the balanced accuracy already."""
    X, y = sample()
    inner = LogisticRegression(class_weight="balanced")
    asked = scorers(y, "balanced_accuracy")
    search = AimSearch(inner, {}, 3, asked, decide=True, balanced=True).fit(X, y)
    own = search.for_aim("balanced_accuracy")
    assert own.rule.threshold == pytest.approx(0.5)
    np.testing.assert_array_equal(own.predict(X), inner.fit(X, y).predict(X))


class Counting(LogisticRegression):
    fits = 0

    def fit(self, X, y):
        Counting.fits += 1
        return super().fit(X, y)


def test_nothing_is_fitted_to_folds_for_rules_that_depend_on_no_samples():
    X, y = sample()
    for names, expected in ((("balanced_accuracy",), 1), (("balanced_accuracy", "f1"), 4)):
        Counting.fits = 0
        AimSearch(Counting(), {}, 3, scorers(y, *names), decide=True).fit(X, y)
        assert Counting.fits == expected


def test_only_some_of_the_folds_may_be_used():
    X, y = sample()
    folds = list(StratifiedKFold(4, shuffle=True, random_state=0).split(X, y))[:2]
    search = AimSearch(LogisticRegression(), GRID, folds, scorers(y, "f1"), decide=True).fit(X, y)
    assert 0 < search.best_scores_["f1"] <= 1


def test_a_race_fits_the_better_half_to_the_other_folds():
    X, y = sample()
    Counting.fits = 0
    grid, asked = {"C": [1e-4, 1e-3, 1e-2, 1.0]}, scorers(y, "f1")
    halved = AimSearch(Counting(), grid, 3, asked, decide=True, halve=True).fit(X, y)
    assert Counting.fits == 4 + 2 * 2 + 1
    kept = {"C": [1e-2, 1.0]}
    assert halved.best_params_["f1"]["C"] in kept["C"]
    both = AimSearch(LogisticRegression(), kept, 3, asked, decide=True).fit(X, y)
    assert halved.for_aim("f1").rule == both.for_aim("f1").rule


def test_searches_of_several_aims_share_the_fits(monkeypatch):
    X, y = sample()
    fits = []

    def counted(*arguments):
        fits.append(arguments)
        return linear_path(*arguments)

    monkeypatch.setattr("immax.search.cells.linear_path", counted)

    def make(scorer):
        return IMMAXClassifierCV(aim=scorer.aim, lams=[0.01, 0.1], n_margins=3, cv=3)

    names = ("f1", "mcc", "balanced_accuracy")
    shared = PerAim(make, scorers(y, *names)).fit(X, y)
    assert len(fits) == 3  # one for each fold
    for name, scorer in zip(names, scorers(y, *names), strict=True):
        own, alone = shared.for_aim(name), make(scorer).fit(X, y)
        assert own.memory is None
        assert own.best_score_ == alone.best_score_
        np.testing.assert_array_equal(own.predict(X), alone.predict(X))
    assert len(fits) == 3 * 4
