"""Boosted trees of XGBoost in ONNX."""

import numpy as np
import pytest
from onnx_models import assert_same, evaluate
from sklearn.datasets import make_classification

from immax.onnx import to_onnx
from immax.onnx.xgboost_trees import add_xgboost_scores

pytest.importorskip("xgboost", reason="needs xgboost")
from immax.boosting import IMMAXXGBClassifier


def sample(classes):
    X, y = make_classification(
        300, 6, n_informative=5, n_redundant=0, n_classes=classes, random_state=0
    )
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    return X.astype(np.float32).astype(float), y


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("aim", [None, "balanced_accuracy"])
def test_trees_with_missing_values(classes, aim):
    X, y = sample(classes)
    model = IMMAXXGBClassifier(n_estimators=15, max_depth=3, aim=aim, n_jobs=1).fit(X, y)
    scores = evaluate(X, lambda graph, h: add_xgboost_scores(graph, h, model))
    expected = model.decision_function(X).reshape(len(X), -1)
    np.testing.assert_allclose(scores, expected, atol=1e-5)
    assert_same(model, to_onnx(model), X)


def test_early_stopping_and_another_method():
    X, y = sample(3)
    model = IMMAXXGBClassifier(
        n_estimators=30, max_depth=2, method="la", early_stopping_rounds=2, n_jobs=1
    )
    model.fit(X[:200], y[:200], eval_set=[(X[200:], y[200:])], verbose=False)
    assert_same(model, to_onnx(model), X)
