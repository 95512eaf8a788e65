"""The scores and the norm of fitted models."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs
from sklearn.model_selection import GridSearchCV

from immax import IMMAXClassifier, IMMAXClassifierCV
from immax.theory import rademacher_l1
from immax.theory.certificates import _Parts
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


@pytest.mark.parametrize("c", [2, 3])
@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_array])
def test_a_model_with_the_l1_norm(convert, c):
    X, y = make_blobs(120, centers=np.eye(3)[:c, :], n_features=3, random_state=0)
    model = IMMAXClassifier(penalty="l1", lam=1e-3).fit(convert(X), y)
    found = hypothesis(model, convert(X))
    weights = [*model.coef_.ravel(), *model.intercept_]
    assert found.norm == pytest.approx(sum(abs(v) for v in weights))
    largest = np.array([max(1.0, *(abs(v) for v in row)) for row in X])
    np.testing.assert_allclose(found.squares, largest**2)
    assert found.n_blocks == len(weights)
    # The certificate's complexity is the theorem's, with a feature of ones for the biases, and with
    # the squares of every sample in place of the largest of its class.
    rho = np.arange(1.0, c + 1)
    parts = _Parts(found.scores, y, np.sqrt(found.squares), c, 0.05, None, "sharp", found.n_blocks)
    moment = sum(largest[i] ** 2 / rho[y[i]] ** 2 for i in range(len(y)))
    scores = 1 if c == 2 else c
    expected = np.sqrt(2 * scores * moment * np.log(2 * len(weights))) / len(y)
    assert parts.complexity(rho) == pytest.approx(expected)
    wider = np.column_stack([X, np.ones(len(y))])
    assert expected <= float(rademacher_l1(wider, y, rho, 1.0))


def test_a_model_with_groups():
    X, y = make_blobs(120, centers=np.eye(4)[:3], n_features=4, random_state=0)
    groups = ["a", "b", "b", "a"]
    model = IMMAXClassifier(penalty="group", groups=groups, lam=1e-3).fit(X, y)
    found = hypothesis(model, X)
    norm, largest = np.sqrt(np.sum(model.intercept_**2)), np.ones(len(y))
    for name in "ab":
        inside = [j for j in range(4) if groups[j] == name]
        norm += np.sqrt(2 * np.sum(model.coef_[:, inside] ** 2))
        largest = np.maximum(largest, np.sum(X[:, inside] ** 2, axis=1) / 2)
    assert found.norm == pytest.approx(norm)
    np.testing.assert_allclose(found.squares, largest)
    assert found.n_blocks == 3


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
