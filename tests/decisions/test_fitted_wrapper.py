"""Classifiers around a fitted one."""

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import check_is_fitted

from immax.decisions.fitted_wrapper import FittedWrapper

X, Y = load_iris(return_X_y=True)


class Plain(FittedWrapper):
    """Changes nothing."""

    def __init__(self, model):
        self.model = model


def test_the_model_does_everything():
    model = LogisticRegression(max_iter=1000).fit(X, Y)
    plain = Plain(model)
    check_is_fitted(plain)
    assert is_classifier(plain)
    assert plain.classes_.tolist() == [0, 1, 2]
    np.testing.assert_array_equal(plain.predict(X), model.predict(X))
    np.testing.assert_array_equal(plain.predict_proba(X), model.predict_proba(X))
    assert plain.score(X, Y) == model.score(X, Y)
    again = clone(plain).fit(X[:100], Y[:100])
    assert again.classes_.tolist() == [0, 1]
    assert plain.classes_.tolist() == [0, 1, 2]
