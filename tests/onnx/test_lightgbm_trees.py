"""Boosted trees of LightGBM in ONNX."""

import numpy as np
import pytest
from onnx_models import assert_same, evaluate
from sklearn.datasets import make_classification

from immax.onnx import to_onnx
from immax.onnx.lightgbm_trees import add_lightgbm_scores

pytest.importorskip("lightgbm", reason="needs lightgbm")
from lightgbm import early_stopping

from immax.boosting import IMMAXLGBMClassifier

# LightGBM 4.6 names the columns of an array at the fit, and misses the names later.
pytestmark = pytest.mark.filterwarnings("ignore:X does not have valid feature names")
SMALL = {"n_estimators": 12, "num_leaves": 6, "n_jobs": 1, "verbose": -1}


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


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(
    "options",
    [
        {"boosting_type": "dart", "drop_rate": 0.5},
        {"data_sample_strategy": "goss"},
        {"use_missing": False},
    ],
)
def test_other_ensembles(classes, options):
    X, y = sample(classes, 0.1)
    model = IMMAXLGBMClassifier(**SMALL, **options).fit(X, y)
    assert_same(model, to_onnx(model), X)


def test_early_stopping():
    X, y = sample(2, 0.1)
    model = IMMAXLGBMClassifier(**{**SMALL, "n_estimators": 200})
    stop = early_stopping(3, verbose=False)
    model.fit(X[:200], y[:200], eval_set=[(X[200:], y[200:])], callbacks=[stop])
    assert 0 < model.best_iteration_ < 200
    assert_same(model, to_onnx(model), X)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"zero_as_missing": True}, "zero_as_missing=True cannot be exported"),
        ({"linear_tree": True}, "linear_tree=True cannot be exported"),
    ],
)
def test_what_cannot_be_exported_is_named(options, message):
    model = IMMAXLGBMClassifier(**SMALL, **options).fit(*sample(2, 0.1))
    with pytest.raises(NotImplementedError, match=message):
        to_onnx(model)


def test_splits_of_categories_are_refused():
    X, y = sample(2, 0.0)
    X[:, 0] = 2 * (np.arange(len(X)) % 5) + y
    model = IMMAXLGBMClassifier(**SMALL, min_data_per_group=5)
    model.fit(X, y, categorical_feature=[0])
    with pytest.raises(NotImplementedError, match="splits of categories"):
        to_onnx(model)
