"""Boosters of the libraries themselves."""

import json
import pickle

import lightgbm
import numpy as np
import pytest
import xgboost
from catboost import CatBoostClassifier, Pool
from sklearn.datasets import make_classification

from immax.boosting import (
    IMMAXCatBoostClassifier,
    IMMAXLGBMClassifier,
    IMMAXXGBClassifier,
    objective,
    proba,
)
from immax.boosting.boosters import booster_scores, find_description, has_description
from immax.boosting.lightgbm_text import add_constants, set_parameter
from immax.links import immax_proba
from immax.losses import catalog

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")


def data(c):
    return make_classification(
        300, 6, n_informative=4, n_classes=c, weights=[0.8] + [0.2 / (c - 1)] * (c - 2)
    )


def xgb(X, y, **params):
    return IMMAXXGBClassifier(n_estimators=5, n_jobs=1, power=0.8, **params).fit(X, y)


def lgb(X, y):
    return IMMAXLGBMClassifier(n_estimators=5, n_jobs=1, verbose=-1, power=0.8).fit(X, y)


def cat(X, y):
    params = {"iterations": 5, "thread_count": 1, "allow_writing_files": False}
    return IMMAXCatBoostClassifier(power=0.8, **params).fit(X, y)


@pytest.mark.parametrize("c", [2, 3])
def test_raw_boosters_of_files_have_scores_that_go_with_the_margins(c, tmp_path):
    X, y = data(c)
    path = str(tmp_path / "model")
    model = xgb(X, y)
    model.save_model(path + ".ubj")
    booster = xgboost.Booster(model_file=path + ".ubj")
    expected = model.predict_proba(X)
    for raw in (
        booster.predict(xgboost.DMatrix(X)),
        booster.predict(xgboost.DMatrix(X), output_margin=True),
    ):
        np.testing.assert_allclose(immax_proba(raw, model.margins_), expected, atol=1e-6)
    for one in (booster, model, model.get_booster()):
        np.testing.assert_array_equal(proba(one, X), expected)
    np.testing.assert_array_equal(proba(booster, xgboost.DMatrix(X)), expected)
    np.testing.assert_array_equal(json.loads(booster.attr("immax"))["temperature"], model.margins_)
    model = lgb(X, y)
    model.save_model(path + ".txt")
    booster = lightgbm.Booster(model_file=path + ".txt")
    expected = model.predict_proba(X)
    for raw in (booster.predict(X), booster.predict(X, raw_score=True)):
        np.testing.assert_allclose(immax_proba(raw, model.margins_), expected, atol=1e-9)
    for one in (booster, model, model.booster_):
        np.testing.assert_allclose(proba(one, X), expected, atol=1e-12)
    model = cat(X, y)
    expected = model.predict_proba(X)
    for kind in ("cbm", "json"):
        model.save_model(path, format=kind)
        plain = CatBoostClassifier().load_model(path, format=kind)
        raw = plain.predict(X, prediction_type="RawFormulaVal")
        np.testing.assert_allclose(immax_proba(raw, model.margins_), expected, atol=1e-9)
        np.testing.assert_allclose(proba(plain, X), expected, atol=1e-12)
        np.testing.assert_allclose(proba(plain, Pool(X)), expected, atol=1e-12)


@pytest.mark.parametrize("c", [2, 3])
def test_a_plain_xgbclassifier_refuses_our_files(c, tmp_path):
    X, y = data(c)
    model, file = xgb(X, y), tmp_path / "model.json"
    expected = model.predict_proba(X)
    again = IMMAXXGBClassifier(n_jobs=1)
    for save in (model.save_model, model.get_booster().save_model):
        save(file)
        # XGBoost before 3.2 raises another TypeError with newer versions of scikit-learn.
        with pytest.raises(TypeError, match=r"got: IMMAXXGBClassifier|_estimator_type"):
            xgboost.XGBClassifier().load_model(file)
        again.load_model(file)
        np.testing.assert_array_equal(again.predict_proba(X), expected)
        again.get_booster().save_model(file)
        with pytest.raises(TypeError, match=r"got: IMMAXXGBClassifier|_estimator_type"):
            xgboost.XGBClassifier().load_model(file)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(again)).predict_proba(X), expected)
    more = IMMAXXGBClassifier(n_estimators=5, n_jobs=1).fit(X, y, xgb_model=model.get_booster())
    assert more.get_booster().num_boosted_rounds() > model.get_booster().num_boosted_rounds()


def test_early_stopping_is_taken_into_account():
    X, y = data(2)
    model = IMMAXXGBClassifier(n_estimators=50, n_jobs=1, early_stopping_rounds=2)
    model.fit(X[:200], y[:200], eval_set=[(X[200:], y[200:])], verbose=False)
    assert model.best_iteration < 47
    np.testing.assert_array_equal(proba(model.get_booster(), X), model.predict_proba(X))


@pytest.mark.parametrize("c", [2, 3])
def test_boosters_of_your_own_training_loop(c):
    X, y = data(c)
    spec = catalog.immax(np.bincount(y))
    params = {"base_score": 0.0, **({} if c == 2 else {"num_class": c})}
    booster = xgboost.train(params, xgboost.DMatrix(X, y), 5, obj=objective(spec, "xgboost"))
    expected = immax_proba(booster_scores(booster, X), spec.temperature)
    np.testing.assert_allclose(proba(booster, X, spec), expected, atol=1e-6)
    assert not has_description(booster)
    with pytest.raises(ValueError, match=r"does not say what its loss was.*pass the loss as spec"):
        proba(booster, X)
    params = {"objective": objective(spec, "lightgbm"), "verbose": -1}
    params |= {} if c == 2 else {"num_class": c}
    booster = lightgbm.train(params, lightgbm.Dataset(X, y), 5)
    expected = immax_proba(booster.predict(X, raw_score=True), spec.temperature)
    np.testing.assert_allclose(proba(booster, X, spec), expected)
    with pytest.raises(ValueError, match="does not say what its loss was"):
        find_description(booster)


def test_other_objects_are_refused():
    with pytest.raises(TypeError, match=r"xgboost\.Booster.*got int"):
        proba(3, [[1.0]])


@pytest.mark.parametrize("c", [2, 3])
def test_files_of_the_first_version(c, tmp_path):
    """XGBoost's had sigmoids, LightGBM's lacked the constants; a file beside them held the loss."""
    X, y = data(c)

    def write_beside(path, loss):
        content = {"format": 1, **loss.to_dict()}
        path.with_name(path.name + ".immax.json").write_text(json.dumps(content))

    model, path = xgb(X, y), tmp_path / "x.json"
    booster = model.get_booster()
    booster.set_attr(immax=None)
    booster.save_model(path)
    content = json.loads(path.read_text())
    learner = content["learner"]
    name = "binary:logistic" if c == 2 else "multi:softprob"
    learner["objective"] = {"name": name, "reg_loss_param": {"scale_pos_weight": "1"}}
    if c == 2:
        base = 1 / (1 + np.exp(-model.loss_.constants[0]))
        learner["learner_model_param"]["base_score"] = f"[{base:.9g}]"
    else:
        learner["objective"] = {"name": name, "softmax_multiclass_param": {"num_class": str(c)}}
    path.write_text(json.dumps(content))
    write_beside(path, model.loss_)
    again = IMMAXXGBClassifier(rule="bayes")
    again.load_model(path)
    np.testing.assert_allclose(again.predict_proba(X), model.predict_proba(X), atol=1e-6)
    assert again.rule_.aim == "accuracy"

    model, path = lgb(X, y), tmp_path / "l.txt"
    booster = model.booster_
    expected = model.predict_proba(X)
    add_constants(booster, -model.loss_.constants)
    set_parameter(booster, "immax", "")
    text = booster.model_to_string().replace("[immax: ]\n", "")
    path.write_text(text)
    write_beside(path, model.loss_)
    again = IMMAXLGBMClassifier()
    again.load_model(path)
    np.testing.assert_allclose(again.predict_proba(X), expected, atol=1e-9)

    model, path = cat(X, y), tmp_path / "c.cbm"
    del model.get_metadata()["immax"]
    CatBoostClassifier.save_model(model, str(path))
    write_beside(path, model.loss_)
    again = IMMAXCatBoostClassifier().load_model(path)
    np.testing.assert_allclose(again.predict_proba(X), model.predict_proba(X), atol=1e-9)
