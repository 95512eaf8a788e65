"""Out-of-fold probabilities, with the labels as they are."""

from functools import partial

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold, cross_val_predict
from sklearn.svm import SVC

from immax.decisions.out_of_fold import fold_proba, out_of_fold_proba

X, y = make_classification(200, 5, weights=[0.8], random_state=0)
FOLDS = StratifiedKFold(4)


def out_of_fold(estimator, X, y, cv=FOLDS, **params):
    return out_of_fold_proba(partial(fold_proba, estimator, X, y, params), y, cv.split(X, y))


def test_they_are_scikit_learns():
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
    found = out_of_fold(LogisticRegression(), X, y, sample_weight=weight)
    expected = cross_val_predict(
        LogisticRegression(),
        X,
        y,
        cv=FOLDS,
        method="predict_proba",
        params={"sample_weight": weight},
    )
    np.testing.assert_allclose(found, expected)


def test_parameters_by_label_mean_the_same_in_every_fold():
    expected = out_of_fold(LogisticRegression(class_weight={0: 10, 1: 1}), X, y)
    for names in (np.array([1, 2]), np.array(["common", "rare"])):
        weights = dict(zip(names.tolist(), (10, 1), strict=True))
        found = out_of_fold(LogisticRegression(class_weight=weights), X, names[y])
        np.testing.assert_allclose(found, expected)


def test_columns_are_in_the_order_of_the_sorted_labels():
    class Reversed(LogisticRegression):
        def fit(self, X, y):
            super().fit(X, y)
            self.classes_ = self.classes_[::-1]
            return self

        def predict_proba(self, X):
            return super().predict_proba(X)[:, ::-1]

    expected = out_of_fold(LogisticRegression(), X, y)
    np.testing.assert_allclose(out_of_fold(Reversed(), X, y), expected)


def test_precomputed_kernels():
    class Machine(SVC):
        def predict_proba(self, X):
            p = 1 / (1 + np.exp(-self.decision_function(X)))
            return np.c_[1 - p, p]

    expected = out_of_fold(Machine(kernel="linear"), X, y)
    found = out_of_fold(Machine(kernel="precomputed"), X @ X.T, y)
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_processes():
    expected = out_of_fold(LogisticRegression(), X, y)
    predict = partial(fold_proba, LogisticRegression(), X, y, {})
    np.testing.assert_allclose(out_of_fold_proba(predict, y, FOLDS.split(X, y), 2), expected)


def test_what_is_refused():
    with pytest.raises(ValueError, match="must test every sample once"):
        out_of_fold(LogisticRegression(), X, y, ShuffleSplit(2, random_state=0))
    with pytest.raises(ValueError, match=r"has no sample of \[1\]"):
        out_of_fold(LogisticRegression(), X, np.sort(y), KFold(2))
