"""Boosters of LightGBM that are changed as text."""

import pickle

import lightgbm
import numpy as np
import pytest
from sklearn.datasets import make_classification

from immax.boosting.lightgbm_text import add_constants, get_parameter, set_parameter


def train(c, **params):
    X, y = make_classification(300, 6, n_informative=4, n_classes=c, random_state=0)
    own = {"objective": "binary"} if c == 2 else {"objective": "multiclass", "num_class": c}
    params = {**own, "verbose": -1, "num_threads": 1, "feature_pre_filter": False, **params}
    return X, lightgbm.train(params, lightgbm.Dataset(X, y), 4)


@pytest.mark.parametrize("linear", [False, True])
@pytest.mark.parametrize("c", [2, 3])
def test_constants_are_added_to_scores_and_contributions(c, linear):
    X, booster = train(c, linear_tree=linear)
    before = booster.predict(X, raw_score=True)
    constants = np.array([0.7, -0.3, 1e-3])[: 1 if c == 2 else 3]
    add_constants(booster, constants)
    after = booster.predict(X, raw_score=True)
    np.testing.assert_allclose(after, before + constants.squeeze(), atol=1e-8)
    X[::3, 0] = np.nan  # where linear trees return constants
    fresh = train(c, linear_tree=linear)[1].predict(X, raw_score=True)
    np.testing.assert_allclose(
        booster.predict(X, raw_score=True), fresh + constants.squeeze(), atol=1e-8
    )
    if not linear:
        parts = booster.predict(X, pred_contrib=True).reshape(len(X), -1, X.shape[1] + 1)
        expected = booster.predict(X, raw_score=True)
        np.testing.assert_allclose(parts.sum(axis=-1).squeeze(), expected, atol=1e-9)


def test_a_single_leaf_has_its_constant():
    X, booster = train(2, min_data_in_leaf=1000)
    add_constants(booster, np.array([-1.5]))
    assert np.ptp(booster.predict(X, raw_score=True)) == 0
    add_constants(booster, np.array([0.25]))
    again = lightgbm.Booster(model_str=booster.model_to_string())
    assert again.predict(X, raw_score=True)[0] == booster.predict(X, raw_score=True)[0]


def test_parameters_survive_copies_and_files(tmp_path):
    X, booster = train(2)
    before = booster.predict(X)
    assert get_parameter(booster, "note") is None
    set_parameter(booster, "note", '{"first": [1]}')
    set_parameter(booster, "note", '{"second": "]"}')
    booster.save_model(tmp_path / "model.txt")
    for one in (
        booster,
        lightgbm.Booster(model_file=tmp_path / "model.txt"),
        pickle.loads(pickle.dumps(booster)),
    ):
        assert get_parameter(one, "note") == '{"second": "]"}'
        assert one.model_to_string().count("[note: ") == 1
        np.testing.assert_array_equal(one.predict(X), before)


def test_the_best_iteration_is_kept():
    _, booster = train(2)
    booster.best_iteration = 3
    set_parameter(booster, "note", "1")
    assert booster.best_iteration == 3
