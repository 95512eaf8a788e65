"""Boosted trees of LightGBM in ONNX."""

import numpy as np
import pytest
from onnx_models import assert_same, evaluate
from sklearn.datasets import make_classification

from immax.onnx import to_onnx
from immax.onnx.lightgbm_trees import add_lightgbm_scores

pytest.importorskip("lightgbm", reason="needs lightgbm")
from immax.boosting import IMMAXLGBMClassifier


def sample(classes, missing):
    X, y = make_classification(
        300, 6, n_informative=5, n_redundant=0, n_classes=classes, random_state=0
    )
    X[np.random.default_rng(0).random(X.shape) < missing] = np.nan
    return X, y


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_trees(classes, missing):
    X, y = sample(classes, missing)
    model = IMMAXLGBMClassifier(n_estimators=12, num_leaves=6, n_jobs=1, verbose=-1).fit(X, y)
    X[::7, 1] = np.nan  # also where no training sample lacked it
    scores = evaluate(X, lambda graph, h: add_lightgbm_scores(graph, h, model))
    expected = model.decision_function(X).reshape(len(X), -1)
    np.testing.assert_allclose(scores, expected, atol=1e-5)
    assert_same(model, to_onnx(model), X)


def test_zero_as_missing_is_refused():
    X, y = sample(2, 0.1)
    model = IMMAXLGBMClassifier(n_estimators=2, zero_as_missing=True, verbose=-1).fit(X, y)
    with pytest.raises(NotImplementedError, match="zero_as_missing"):
        to_onnx(model)
