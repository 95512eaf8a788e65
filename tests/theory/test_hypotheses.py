"""The scores and the norm of fitted models."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.model_selection import GridSearchCV

from immax import IMMAXClassifier, IMMAXClassifierCV
from immax.theory.hypotheses import hypothesis, unwrap_search
from immax.theory.margin_losses import predictions

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
        assert unwrap_search(search) == (search.best_estimator_, None, None)
        np.testing.assert_allclose(
            hypothesis(search, X).scores, hypothesis(search.best_estimator_, X).scores
        )


@pytest.mark.parametrize(("loss", "aim"), [("logistic", "f1"), ("hinge", "f1"), ("logistic", None)])
def test_rules_that_a_search_has_found_for_an_aim(loss, aim):
    """The highest score of the hypothesis is what the search predicts."""
    rng = np.random.default_rng(0)
    y = (rng.random(300) < 0.2).astype(int)
    features = rng.normal(size=(300, 3)) + y[:, None]
    search = IMMAXClassifierCV(loss, aim=aim, lams=[1e-2, 1e-1], cv=3).fit(features, y)
    found = hypothesis(search, features)
    np.testing.assert_array_equal(predictions(found.scores), search.predict(features))
    if aim is not None:
        assert not isinstance(search.best_rule_, str)
