"""The scores and the norm of fitted models."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.model_selection import GridSearchCV

from immax import IMMAXClassifier, IMMAXClassifierCV
from immax.theory.hypotheses import hypothesis, unwrap_search

X, Y = make_blobs(120, centers=[[-2, 0], [2, 0]], random_state=0)


def test_a_linear_model():
    model = IMMAXClassifier().fit(X, Y)
    found = hypothesis(model, X)
    np.testing.assert_allclose(found.scores, model.decision_function(X))
    w = np.append(model.coef_[0], model.intercept_)
    assert found.norm == pytest.approx(np.sqrt(sum(v**2 for v in w)))
    np.testing.assert_allclose(found.squares, 1 + (X**2).sum(axis=1))


def test_searches_stand_for_what_they_have_chosen():
    for search in (
        IMMAXClassifierCV(lams=[1e-2], cv=3).fit(X, Y),
        GridSearchCV(IMMAXClassifier(), {"lam": [1e-2, 1e-1]}, cv=3).fit(X, Y),
    ):
        assert unwrap_search(search) == (search.best_estimator_, None)
        np.testing.assert_allclose(
            hypothesis(search, X).scores, hypothesis(search.best_estimator_, X).scores
        )
