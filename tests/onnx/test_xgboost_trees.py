"""Boosted trees of XGBoost in ONNX."""

import numpy as np
import pytest
from onnx_models import assert_same, evaluate
from sklearn.datasets import make_classification

from immax.onnx import to_onnx
from immax.onnx.xgboost_trees import add_xgboost_scores

pytest.importorskip("xgboost", reason="needs xgboost")
from xgboost import XGBClassifier
from xgboost.callback import EarlyStopping

from immax.boosting import IMMAXXGBClassifier

SMALL = {"n_estimators": 10, "max_depth": 3, "n_jobs": 1}


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


@pytest.mark.parametrize("save_best", [False, True])
def test_a_callback_that_stops_training(save_best):
    X, y = sample(2)
    stop = EarlyStopping(rounds=3, save_best=save_best)
    model = IMMAXXGBClassifier(n_estimators=80, max_depth=5, callbacks=[stop], n_jobs=1)
    model.fit(X[:200], y[:200], eval_set=[(X[200:], y[200:])], verbose=False)
    assert save_best or model.best_iteration + 1 < model.get_booster().num_boosted_rounds()
    assert_same(model, to_onnx(model), X)


@pytest.mark.parametrize("missing", [-999.0, 0.0, 0.1])
def test_another_number_for_missing_values(missing):
    X, y = sample(2)
    X[np.isnan(X)] = missing
    model = IMMAXXGBClassifier(missing=missing, **SMALL).fit(X, y)
    X[::5, 0] = np.nan  # missing as well
    assert_same(model, to_onnx(model), X)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(
    "options",
    [
        {"booster": "dart", "rate_drop": 0.5, "random_state": 0},
        {"booster": "dart", "rate_drop": 0.5, "random_state": 0, "early_stopping_rounds": 2},
        {"num_parallel_tree": 3, "subsample": 0.5, "random_state": 0},
        {"num_parallel_tree": 3, "subsample": 0.5, "early_stopping_rounds": 2, "random_state": 0},
        {"tree_method": "exact", "gamma": 2.0},  # nodes that were pruned
    ],
)
def test_other_ensembles(classes, options):
    X, y = sample(classes)
    model = IMMAXXGBClassifier(**SMALL, **options)
    model.fit(X[:200], y[:200], eval_set=[(X[200:], y[200:])], verbose=False)
    assert_same(model, to_onnx(model), X)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"booster": "gblinear", "max_depth": None}, "booster='gblinear' cannot be exported"),
        ({"multi_strategy": "multi_output_tree"}, "multi_strategy='multi_output_tree' cannot"),
        ({"feature_types": ["c", *"qqqqq"], "enable_categorical": True}, "splits of categories"),
    ],
)
def test_what_cannot_be_exported_is_named(options, message):
    X, y = sample(3)
    X[:, 0] = y  # a feature that is split in any case
    model = IMMAXXGBClassifier(**{**SMALL, **options}).fit(X, y)
    with pytest.raises(NotImplementedError, match=message):
        to_onnx(model)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("base_score", [None, 0.3])
def test_the_library_s_own_classifier(classes, base_score):
    X, y = sample(classes)
    model = XGBClassifier(**SMALL, base_score=base_score, early_stopping_rounds=2)
    model.fit(X[:200], y[:200], eval_set=[(X[200:], y[200:])], verbose=False)
    assert_same(model, to_onnx(model), X)


@pytest.mark.parametrize("objective", ["binary:hinge", "reg:squarederror"])
def test_other_objectives_of_the_library_are_refused(objective):
    X, y = sample(2)
    model = XGBClassifier(**SMALL, objective=objective).fit(X, y)
    with pytest.raises(NotImplementedError, match=f"objective='binary:logistic'.*{objective}"):
        to_onnx(model)


def test_several_targets_are_refused():
    X, y = sample(2)
    several = XGBClassifier(**SMALL).fit(X, np.column_stack([y, 1 - y]))
    with pytest.raises(NotImplementedError, match="one target"):
        to_onnx(several)
