"""Class weights around a classifier, and a search over powers and rules."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from immax.evaluation.meta_estimators import ClassWeighted, PowerSearch


@pytest.fixture
def data():
    return make_classification(200, 5, weights=[0.8], flip_y=0.1, random_state=0)


def test_power_minus_one_is_balanced_weights(data):
    X, y = data
    model = ClassWeighted(LogisticRegression()).fit(X, y)
    expected = LogisticRegression(class_weight="balanced").fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), expected.predict_proba(X), atol=1e-4)
    np.testing.assert_array_equal(model.predict(X), expected.predict(X))
    assert model.classes_.tolist() == [0, 1]
    whole = ClassWeighted(LogisticRegression(), power=-1).fit(X, y)
    np.testing.assert_array_equal(whole.predict_proba(X), model.predict_proba(X))


def test_probabilities_are_there_only_if_the_classifier_has_them(data):
    assert not hasattr(ClassWeighted(LinearSVC()).fit(*data), "predict_proba")


class Stub(ClassifierMixin, BaseEstimator):
    """Scores and probabilities by the power; the rule "bayes" always predicts class 0."""

    def __init__(self, power=0.0, rule="score"):
        self.power, self.rule = power, rule

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        right = X[:, 0].astype(int)
        return right if self.rule == "score" and self.power < 2 else np.zeros_like(right)

    def predict_proba(self, X):
        p = 0.5 + 0.2 * self.power
        own = np.where(X[:, 0] == 1, p, 1 - p)
        return np.column_stack([1 - own, own])


def test_ties_go_to_the_lower_log_loss():
    y = np.arange(20) % 2
    X = y[:, None].astype(float)
    search = PowerSearch(Stub(), (0.0, 1.0, 0.5, 2.0), 2, "accuracy").fit(X, y)
    assert search.best_params_ == {"power": 1.0, "rule": "score"}
    assert search.best_score_ == 1.0
    np.testing.assert_array_equal(search.predict(X), y)


def test_a_race_keeps_the_better_half_after_each_fold(monkeypatch):
    y = np.arange(20) % 2
    X = y[:, None].astype(float)
    fits = []
    fit = Stub.fit
    monkeypatch.setattr(
        Stub, "fit", lambda self, *data: fits.append(self.power) or fit(self, *data)
    )
    search = PowerSearch(Stub(), (0.0, 1.0, 0.5, 2.0), 3, "accuracy", halve=True).fit(X, y)
    assert fits == [0.0, 1.0, 0.5, 2.0, 1.0, 0.5, 1.0]  # the last fit is to all samples
    assert search.best_params_ == {"power": 1.0, "rule": "score"}
