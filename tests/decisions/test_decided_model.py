"""Fitted classifiers with rules."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from immax import IMMAXClassifierCV
from immax.decisions import Costs, DecidedModel, DecisionClassifierCV, fit_rule, rule_of
from immax.decisions.calibrated_scores import CalibratedScores, find_scores
from immax.io import load_model, save_model


def test_labels_are_those_of_the_rule_also_after_saving(tmp_path):
    X, y = load_iris(return_X_y=True)
    machine = LinearSVC().fit(X, y)
    scores = find_scores(machine, X)
    assert scores.shape == (150, 3)
    calibrated = CalibratedScores(machine, LogisticRegression().fit(scores, y))
    rule = fit_rule(calibrated.predict_proba(X), y, "gmean")
    model = DecidedModel(calibrated, rule)
    expected = rule.predict(calibrated.predict_proba(X))
    np.testing.assert_array_equal(model.predict(X), expected)
    np.testing.assert_array_equal(calibrated.predict(X), machine.predict(X))
    save_model(model, tmp_path / "model.skops")
    again = load_model(tmp_path / "model.skops").model
    np.testing.assert_array_equal(again.predict(X), expected)
    assert str(again.rule_) == str(rule)
    assert not again.rule_.gains.flags.writeable
    assert again.classes_.tolist() == [0, 1, 2]


@pytest.mark.filterwarnings("ignore:the probabilities refer to:UserWarning")  # weights apart
def test_both_can_be_fitted_again():
    X, y = load_iris(return_X_y=True)
    X, y = X[:100, :2], y[:100]
    calibrated = CalibratedScores(LinearSVC(), LogisticRegression().fit(X[:, :1], y)).fit(X, y)
    rule = fit_rule(calibrated.predict_proba(X), y)
    assert DecidedModel(calibrated, rule).fit(X, y).predict(X).shape == (100,)


def test_the_rule_of_a_model_wherever_it_is():
    X, y = load_iris(return_X_y=True)
    X, y = X[:120], y[:120]
    tuned = DecisionClassifierCV(LogisticRegression(max_iter=1000), "gmean", cv=2).fit(X, y)
    assert rule_of(tuned) is tuned.rule_
    assert rule_of(DecidedModel(tuned.estimator_, tuned.rule_)) is tuned.rule_
    search = IMMAXClassifierCV(lams=[0.1], cv=2, aim="gmean").fit(X, y)
    assert rule_of(search) is search.best_rule_
    assert rule_of(IMMAXClassifierCV(lams=[0.1], n_margins=1, cv=2).fit(X, y)) is None


def test_classifiers_that_abstain_have_no_accuracy():
    X, y = load_iris(return_X_y=True)
    aim = Costs([1.0, 1.0, 1.0], abstain=0.02)
    search = IMMAXClassifierCV(lams=[0.01], cv=2, aim=aim).fit(X, y)
    decided = DecisionClassifierCV(LogisticRegression(max_iter=1000), aim, cv=2).fit(X, y)
    wrapped = DecidedModel(decided.estimator_, decided.rule_)
    for model in (search, decided, wrapped):
        assert None in model.predict(X).tolist()
        with pytest.raises(ValueError, match=r"a cost of not deciding \(abstain\)"):
            model.score(X, y)
    plain = DecisionClassifierCV(LogisticRegression(max_iter=1000), "accuracy", cv=2).fit(X, y)
    assert plain.score(X, y, sample_weight=np.ones(150)) == np.mean(plain.predict(X) == y)
