"""Predictions of a fitted search."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError

from immax import IMMAXClassifierCV

SMALL = {"n_margins": 4, "lams": [1e-3, 1e-1]}


@pytest.fixture(scope="module")
def binary():
    return make_classification(
        500, 8, n_informative=5, weights=[0.85], class_sep=0.7, flip_y=0.05, random_state=0
    )


def test_without_a_refit_there_is_only_a_choice(binary):
    X, y = binary
    model = IMMAXClassifierCV(**SMALL, refit=False).fit(X, y)
    assert model.best_lam_ in (1e-3, 1e-1)
    with pytest.raises(AttributeError, match="refit=False"):
        model.predict(X)
    with pytest.raises(NotFittedError):
        IMMAXClassifierCV().predict(X)


def test_decisions_are_made_by_the_fit_that_the_rule_is_for(binary):
    X, y = binary
    model = IMMAXClassifierCV(lams=[1e-3, 1e-1], cv=3, aim="f1").fit(X, y)
    proba = model.decision_proba(X)
    np.testing.assert_array_equal(proba, model.best_estimator_.predict_proba(X))
    np.testing.assert_array_equal(model.predict(X), model.best_rule_.predict(proba))
