"""Classifiers of scores with probabilities."""

import numpy as np
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from immax.decisions.calibrated_scores import CalibratedScores, find_scores


def test_probabilities_come_from_scores_and_labels_from_the_classifier():
    X, y = load_iris(return_X_y=True)
    machine = LinearSVC().fit(X, y)
    calibration = LogisticRegression().fit(machine.decision_function(X), y)
    model = CalibratedScores(machine, calibration)
    expected = calibration.predict_proba(machine.decision_function(X))
    np.testing.assert_array_equal(model.predict_proba(X), expected)
    np.testing.assert_array_equal(model.predict(X), machine.predict(X))
    assert model.classes_.tolist() == [0, 1, 2]


def test_scores_of_two_classes_are_one_column():
    X, y = load_iris(return_X_y=True)
    machine = LinearSVC().fit(X[:100], y[:100])
    np.testing.assert_array_equal(find_scores(machine, X)[:, 0], machine.decision_function(X))
    logistic = LogisticRegression().fit(X[:100], y[:100])
    np.testing.assert_array_equal(find_scores(logistic, X), logistic.predict_proba(X))
