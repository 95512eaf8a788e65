"""The three estimators as their users meet them."""

import pickle
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
import xgboost
from catboost import CatBoostClassifier, Pool
from lightgbm import LGBMClassifier, early_stopping
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_val_predict
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.fixes import parse_version
from xgboost import XGBClassifier

from immax.boosting import (
    IMMAXCatBoostClassifier,
    IMMAXLGBMClassifier,
    IMMAXXGBClassifier,
)
from immax.datasets import gaussian_mixture
from immax.decisions import Costs, fit_rule
from immax.evaluation.metrics import expected_calibration_error
from immax.io import load_model, save_model
from immax.links import immax_proba
from immax.losses.catalog import METHODS

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")
warnings.filterwarnings("ignore", module="lightgbm")

QUIET = {
    IMMAXXGBClassifier: {"n_estimators": 20, "n_jobs": 1},
    IMMAXLGBMClassifier: {"n_estimators": 20, "verbose": -1, "n_jobs": 1},
    IMMAXCatBoostClassifier: {
        "iterations": 20,
        "verbose": False,
        "learning_rate": 0.2,
        "thread_count": 1,
        "allow_writing_files": False,
    },
}
BASES = {
    IMMAXXGBClassifier: (XGBClassifier, {}),
    IMMAXLGBMClassifier: (LGBMClassifier, {}),
    IMMAXCatBoostClassifier: (CatBoostClassifier, {}),
}
ALL = list(QUIET)
FIVE_ROUNDS = {
    IMMAXXGBClassifier: {"n_estimators": 5},
    IMMAXLGBMClassifier: {"n_estimators": 5},
    IMMAXCatBoostClassifier: {"iterations": 5},
}


def make(kind, **params):
    return kind(**{**QUIET[kind], **params})


def data(c=3, n=600, seed=0):
    share = np.geomspace(1, 0.1, c)
    return make_classification(
        n, 10, n_informative=6, n_classes=c, weights=list(share / share.sum()), random_state=seed
    )


@pytest.mark.parametrize("c", [2, 10])
@pytest.mark.parametrize("kind", [IMMAXXGBClassifier, IMMAXLGBMClassifier])
def test_equal_margins_are_the_librarys_own_objective(kind, c):
    if (
        kind is IMMAXXGBClassifier
        and c > 2
        and parse_version(xgboost.__version__) < parse_version("3.2")
    ):
        pytest.skip("before 3.2 XGBoost's softmax began with equal scores")
    X, y = make_classification(3000, 20, n_informative=12, n_classes=c, random_state=0)
    params = {**QUIET[kind], "n_estimators": 100, "random_state": 0}
    theirs = BASES[kind][0](**params).fit(X, y).predict_proba(X)
    ours = kind(margins="equal", **params).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(ours, theirs, atol=1e-4)


@pytest.mark.parametrize("c", [2, 4])
def test_equal_margins_are_catboosts_own_objective(c):
    X, y = make_classification(600, 10, n_informative=6, n_classes=c, random_state=0)
    params = {**QUIET[IMMAXCatBoostClassifier], "iterations": 100 if c == 2 else 30}
    params |= {"random_seed": 0, "leaf_estimation_backtracking": "No", "bootstrap_type": "No"}
    ours = IMMAXCatBoostClassifier(margins="equal", **params).fit(X, y)
    start = ours.loss_.constants
    baseline = np.full(len(y), start[0]) if c == 2 else np.tile(start, (len(y), 1))
    own = CatBoostClassifier(
        **params,
        loss_function="Logloss" if c == 2 else "MultiClass",
        leaf_estimation_method="Newton",
        leaf_estimation_iterations=10 if c == 2 else 1,
    ).fit(Pool(X, y, baseline=baseline))
    expected = own.predict(X, prediction_type="RawFormulaVal") + baseline
    np.testing.assert_allclose(ours.decision_function(X), expected, atol=1e-4)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ALL)
def test_every_method_of_the_catalogue(kind, method):
    X, y = data(2)
    if kind is IMMAXCatBoostClassifier and method == "equal":
        with pytest.raises(ValueError, match="has a random loss"):
            make(kind, method=method, method_params={"threshold": 0.5}).fit(X, y)
        return
    model = make(kind, method=method).fit(X, y)
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1, atol=1e-5)
    assert np.mean(model.predict(X) == y) > 0.8
    assert (model.margins_ is not None) == (method == "immax")


@pytest.mark.parametrize("labels", [["b", "a", "c"], [5, -1, 3], [True, False]], ids=str)
@pytest.mark.parametrize("kind", ALL)
def test_labels_of_any_kind_survive_round_trips(kind, labels, tmp_path):
    X, y = data(len(labels))
    y = np.array(labels)[y]
    model = make(kind, power=0.2).fit(X, y)
    assert model.classes_.tolist() == sorted(set(labels))
    assert np.mean(model.predict(X) == y) > 0.8
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_allclose(copy.predict_proba(X), model.predict_proba(X))
    path = tmp_path / ("model.json" if kind is IMMAXXGBClassifier else "model.bin")
    model.save_model(path)
    again = make(kind)
    again.load_model(path)
    np.testing.assert_allclose(again.predict_proba(X), model.predict_proba(X), atol=1e-7)
    assert again.predict(X).tolist() == model.predict(X).tolist()
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("kind", ALL)
def test_parameters_are_the_librarys_and_ours(kind):
    model = make(kind, power=0.3, rule="bayes")
    other = clone(model)
    assert other.get_params()["power"] == 0.3
    assert other.get_params()["rule"] == "bayes"
    other.set_params(power=0.1)
    assert (other.power, model.power) == (0.1, 0.3)
    X, y = data(2, 200)
    search = GridSearchCV(model, {"power": [0.0, 0.3]}, cv=2).fit(X, y)
    assert search.best_params_["power"] in (0.0, 0.3)


@pytest.mark.parametrize("kind", ALL)
def test_weights_count_as_repetitions(kind):
    X, y = data(3, 300)
    weight = np.random.default_rng(0).integers(1, 3, len(y))
    rows = np.repeat(np.arange(len(y)), weight)
    extra = {"bootstrap_type": "No"} if kind is IMMAXCatBoostClassifier else {}
    one = make(kind, power=0.3, **extra).fit(X, y, sample_weight=weight)
    two = make(kind, power=0.3, **extra).fit(X[rows], y[rows])
    np.testing.assert_allclose(one.margins_, two.margins_)
    np.testing.assert_allclose(one.loss_.constants, two.loss_.constants, atol=1e-9)
    if kind is IMMAXXGBClassifier:
        np.testing.assert_allclose(one.predict_proba(X), two.predict_proba(X), atol=0.15)


def test_early_stopping():
    X, y = data(3, 900)
    A, B, a, b = X[:600], X[600:], y[:600], y[600:]
    xgb = IMMAXXGBClassifier(n_estimators=400, early_stopping_rounds=5, power=0.2)
    xgb.fit(A, a, eval_set=[(B, b)], verbose=False)
    assert xgb.best_iteration < 399
    history = xgb.evals_result()["validation_0"]["logloss"]
    found = log_loss(b, xgb.predict_proba(B), labels=[0, 1, 2])
    assert found == pytest.approx(min(history), rel=1e-4)
    lgb = IMMAXLGBMClassifier(n_estimators=400, power=0.2, verbose=-1)
    lgb.fit(A, a, eval_set=[(B, b)], callbacks=[early_stopping(5, verbose=False)])
    assert lgb.best_iteration_ < 400
    found = log_loss(b, lgb.predict_proba(B), labels=[0, 1, 2])
    assert found == pytest.approx(min(lgb.evals_result_["valid_0"]["logloss"]), rel=1e-6)
    cat = make(IMMAXCatBoostClassifier, iterations=300, power=0.2)
    cat.fit(A, a, eval_set=(B, b), early_stopping_rounds=5)
    assert cat.tree_count_ < 300


def test_a_class_absent_from_a_validation_set_is_no_trouble():
    X, y = data(3)
    keep = y[400:] != 2
    for kind in ALL:
        make(kind).fit(X[:400], y[:400], eval_set=[(X[400:][keep], y[400:][keep])])


@pytest.mark.parametrize("kind", ALL)
def test_what_is_refused(kind):
    X, y = data(3)
    with pytest.raises(ValueError, match=r"eval_set\[0\] holds the label 7"):
        make(kind).fit(X, y, eval_set=[(X, np.full(len(y), 7))])
    name = "iterations" if kind is IMMAXCatBoostClassifier else "n_estimators"
    with pytest.raises(ValueError, match="must be at least 1"):
        make(kind, **{name: 0}).fit(X, y)
    with pytest.raises(ValueError, match="margins"):
        make(kind, margins=[1.0, 2.0]).fit(X, y)
    with pytest.raises(ValueError, match="did you mean 'focal'"):
        make(kind, method="focl").fit(X, y)
    with pytest.raises(ValueError, match="rule must be one of"):
        make(kind, rule="votes").fit(X, y)
    with pytest.raises(ValueError, match="at least two classes"):
        make(kind).fit(X, np.zeros(len(y)))
    with pytest.raises(ValueError, match="power is for method='immax'"):
        make(kind, method="ce", power=0.1).fit(X, y)
    name = "loss_function" if kind is IMMAXCatBoostClassifier else "objective"
    value = "MultiClass" if kind is IMMAXCatBoostClassifier else "multi:softprob"
    with pytest.raises(ValueError, match="determined by the method"):
        make(kind, **{name: value}).fit(X, y)


@pytest.mark.parametrize("kind", ALL)
def test_missing_values_and_categories(kind):
    X, y = data(2, 400)
    frame = pd.DataFrame(X, columns=[f"f{i}" for i in range(X.shape[1])])
    frame.iloc[::7, 2] = np.nan
    kinds = np.where(X[:, 3] > 0, "red", "blue")
    frame["colour"] = pd.Categorical(kinds) if kind is not IMMAXCatBoostClassifier else kinds
    extra = {"enable_categorical": True} if kind is IMMAXXGBClassifier else {}
    options = {"cat_features": ["colour"]} if kind is IMMAXCatBoostClassifier else {}
    model = make(kind, **extra).fit(frame, y, **options)
    assert np.mean(model.predict(frame) == y) > 0.8
    assert len(model.feature_importances_) == 11


@pytest.mark.parametrize("c", [2, 3])
def test_contributions_add_up_to_scores(c):
    X, y = data(c, 300)
    xgb = make(IMMAXXGBClassifier).fit(X, y)
    parts = xgb.get_booster().predict(xgboost.DMatrix(X), pred_contribs=True)
    if c == 2 or xgboost.__version__ >= "3.2":  # before, with the first class's initial score
        np.testing.assert_allclose(parts.sum(axis=-1), xgb.decision_function(X), atol=1e-4)
    lgb = make(IMMAXLGBMClassifier).fit(X, y)
    parts = lgb.predict(X, pred_contrib=True).reshape(len(X), -1, X.shape[1] + 1)
    np.testing.assert_allclose(np.squeeze(parts.sum(axis=-1)), lgb.decision_function(X), atol=1e-9)
    cat = make(IMMAXCatBoostClassifier, iterations=5).fit(X, y)
    parts = cat.get_feature_importance(Pool(X, y), type="ShapValues")
    np.testing.assert_allclose(parts.sum(axis=-1), cat.decision_function(X), atol=1e-9)


@pytest.mark.parametrize("c", [2, 3])
@pytest.mark.parametrize("kind", ALL)
def test_names_lists_and_callables_of_metrics_see_the_probabilities(kind, c):
    X, y = data(c, 400)
    A, B, a, b = X[:250], X[250:], y[:250], y[250:]
    names = METRICS_OF[kind] if c == 2 else METRICS_OF_MANY[kind]
    if kind is IMMAXXGBClassifier:
        model = make(kind, eval_metric=[*names, log_loss]).fit(
            A, a, eval_set=[(B, b)], verbose=False
        )
        history = model.evals_result()["validation_0"]
        assert history.pop("log_loss")[-1] == pytest.approx(history[names[0]][-1])
    elif kind is IMMAXLGBMClassifier:
        model = make(kind, metric=names[1]).fit(
            A, a, eval_set=[(B, b)], eval_metric=[names[0], _spread]
        )
        history = model.evals_result_["valid_0"]
        proba = model.predict_proba(B)
        seen = proba[:, 1] if c == 2 else proba
        assert history.pop("spread")[-1] == pytest.approx(seen.std())
    else:
        model = make(kind, iterations=5, eval_metric=names[0], custom_metric=names[1:])
        model.fit(A, a, eval_set=(B, b), use_best_model=False)
        history = model.get_evals_result()["validation"]
    assert list(history) == names
    proba = model.predict_proba(B)
    assert history[names[0]][-1] == pytest.approx(log_loss(b, proba, labels=range(c)), rel=1e-4)
    if c == 2:
        expected = roc_auc_score(b, proba[:, 1])
        assert history[names[1]][-1] == pytest.approx(expected, abs=1e-5)
    else:
        expected = np.mean(model.predict(B) != b)
        assert history[names[1]][-1] == pytest.approx(expected, abs=1e-5)


METRICS_OF = {
    IMMAXXGBClassifier: ["logloss", "auc"],
    IMMAXLGBMClassifier: ["binary_logloss", "auc"],
    IMMAXCatBoostClassifier: ["Logloss", "AUC"],
}
METRICS_OF_MANY = {
    IMMAXXGBClassifier: ["mlogloss", "merror"],
    IMMAXLGBMClassifier: ["multi_logloss", "multi_error"],
    IMMAXCatBoostClassifier: ["MultiClass", "ZeroOneLoss"],
}


def _spread(y, proba):
    return "spread", float(np.std(proba)), True


@pytest.mark.parametrize("kind", ALL)
def test_early_stopping_goes_by_the_log_loss_of_the_probabilities(kind):
    X, y = data(2, 400)
    A, B, a, b = X[:250], X[250:], y[:250], y[250:]
    params = {"power": 0.3, "learning_rate": 0.05}
    best = []
    for metrics in (None, METRICS_OF[kind]):
        if kind is IMMAXXGBClassifier:  # which goes by the last metric
            given = None if metrics is None else metrics[::-1]
            model = make(kind, eval_metric=given, early_stopping_rounds=5, **params)
            model.fit(A, a, eval_set=[(B, b)], verbose=False)
            best.append(model.best_iteration)
        elif kind is IMMAXLGBMClassifier:
            model = make(kind, **params)
            stop = early_stopping(5, first_metric_only=True, verbose=False)
            model.fit(A, a, eval_set=[(B, b)], eval_metric=metrics, callbacks=[stop])
            best.append(model.best_iteration_)
        else:
            given = None if metrics is None else metrics[0]
            model = make(kind, eval_metric=given, early_stopping_rounds=5, **params)
            best.append(model.fit(A, a, eval_set=(B, b)).get_best_iteration())
    assert best[0] == best[1] > 1


@pytest.mark.parametrize("kind", ALL)
def test_metrics_that_would_misread_scores_are_refused(kind):
    X, y = data(2, 200)
    name = "RMSE" if kind is IMMAXCatBoostClassifier else "rmse"
    options = {"eval_metric": name} if kind is IMMAXLGBMClassifier else {}
    params = {} if options else {"eval_metric": name}
    with pytest.raises(ValueError, match=f"the metric '{name}' is not available"):
        make(kind, **params).fit(X, y, eval_set=[(X, y)], **options)


@pytest.mark.parametrize("kind", ALL)
def test_class_weights_are_refused(kind):
    X, y = data(2, 200)
    names = {
        IMMAXXGBClassifier: {"scale_pos_weight": 3, "class_weight": "balanced"},
        IMMAXLGBMClassifier: {
            "scale_pos_weight": 3,
            "class_weight": "balanced",
            "pos_bagging_fraction": 0.9,
            "neg_subsample": np.float64(0.5),
            "is_unbalance": True,
            "unbalance": True,
        },
        IMMAXCatBoostClassifier: {
            "scale_pos_weight": 3,
            "class_weight": "balanced",
            "class_weights": [1, 2],
            "neg_bagging": 0.1,
            "auto_class_weights": "Balanced",
            "is_unbalance": True,
        },
    }[kind]
    for name, value in names.items():
        with pytest.raises(ValueError, match=f"{name} is not supported: the link"):
            make(kind, **{name: value}).fit(X, y)
    name = "class_weights" if kind is IMMAXCatBoostClassifier else "class_weight"
    with pytest.raises(ValueError, match=rf"{name} is not supported: .* got {name}=array"):
        make(kind, **{name: np.array([1.0, 5.0])}).fit(X, y)
    make(kind, scale_pos_weight=1, class_weight=None).fit(X, y)  # no weight at all
    with pytest.raises(ValueError, match="class_weight is not supported: the link"):
        make(kind).set_params(class_weight="balanced").fit(X, y)
    if kind is IMMAXLGBMClassifier:
        with pytest.raises(ValueError, match="eval_class_weight is not supported"):
            make(kind).fit(X, y, eval_set=[(X, y)], eval_class_weight=["balanced"])


@pytest.mark.parametrize("c", [2, 3])
@pytest.mark.parametrize("kind", ALL)
def test_aims_with_a_closed_form_are_exact(kind, c):
    X, y = data(c, 300)
    labels = np.array(["a", "b", "c"][:c])
    costs = np.linspace(1, 10, c)
    model = make(kind, **FIVE_ROUNDS[kind], power=0.5, aim="balanced_accuracy").fit(X, labels[y])
    proba = model.predict_proba(X)
    expected = labels[np.argmax(proba / (np.bincount(y) / len(y)), axis=1)]
    assert (model.predict(X) == expected).all()
    assert model.rule_.aim == "balanced_accuracy"
    by_costs = make(kind, **FIVE_ROUNDS[kind], power=0.5, rule="bayes", costs=costs).fit(
        X, labels[y]
    )
    np.testing.assert_allclose(by_costs.predict_proba(X), proba)
    expected = labels[np.argmax(proba * costs, axis=1)]
    assert (by_costs.predict(X) == expected).all()
    named = make(
        kind, **FIVE_ROUNDS[kind], power=0.5, aim=Costs(dict(zip(labels, costs, strict=True)))
    )
    assert (named.fit(X, labels[y]).predict(X) == expected).all()
    assert (
        make(kind, **FIVE_ROUNDS[kind], power=0.5, rule="bayes").fit(X, y).rule_.gains == np.eye(c)
    ).all()
    assert make(kind, **FIVE_ROUNDS[kind], power=0.5).fit(X, y).rule_ is None


@pytest.mark.parametrize("kind", ALL)
def test_models_that_abstain_have_no_accuracy(kind):
    X, y = data(2, 200)
    model = make(kind, **FIVE_ROUNDS[kind], aim=Costs([1.0, 1.0], abstain=0.3)).fit(X, y)
    with pytest.raises(ValueError, match="a cost of not deciding"):
        model.score(X, y)
    plain = make(kind, **FIVE_ROUNDS[kind]).fit(X, y)
    assert plain.score(X, y) == pytest.approx(np.mean(plain.predict(X) == y))


@pytest.mark.parametrize("kind", ALL)
def test_other_aims_are_fitted_to_out_of_fold_probabilities(kind, tmp_path):
    X, y = data(2, 400)
    small = FIVE_ROUNDS[kind]
    folds = StratifiedKFold(3)
    model = make(kind, aim="f1", cv=folds, **small).fit(X, y)
    proba = cross_val_predict(make(kind, **small), X, y, cv=folds, method="predict_proba")
    assert model.rule_ == fit_rule(proba, y, "f1")
    expected = model.rule_.predict(model.predict_proba(X))
    assert (model.predict(X) == expected).all()
    again = pickle.loads(pickle.dumps(model))
    assert again.rule_ == model.rule_
    path = tmp_path / "model.json"
    if kind is IMMAXCatBoostClassifier:
        model.save_model(path, format="json")
        again = make(kind).load_model(path, format="json")
    else:
        model.save_model(path)
        again = make(kind)
        again.load_model(path)
    assert again.rule_ == model.rule_
    assert (again.predict(X) == expected).all()


@pytest.mark.parametrize("kind", ALL)
def test_model_files_keep_the_rule(kind, tmp_path):
    X, y = data(3, 200)
    y = np.array(["a", "b", "c"])[y]
    model = make(kind, **FIVE_ROUNDS[kind], aim=Costs((1.0, 2.0, 9.0))).fit(X, y)
    save_model(model, tmp_path / "model.immax")
    again = load_model(tmp_path / "model.immax").model
    assert again.rule_ == model.rule_
    assert again.aim == model.aim
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.predict(X).tolist() == model.predict(X).tolist()


@pytest.mark.parametrize("kind", ALL)
def test_early_stopping_and_out_of_fold_rules_go_together(kind):
    X, y = data(2, 400)
    sets = [(X[300:], y[300:])]
    params = {"aim": "f1", "cv": 2}
    if kind is IMMAXLGBMClassifier:
        model = make(kind, early_stopping_round=3, **params)
    else:
        model = make(kind, early_stopping_rounds=3, **params)
    assert 0 < model.fit(X[:300], y[:300], eval_set=sets).rule_.threshold < 1


@pytest.mark.parametrize("kind", ALL)
def test_what_aims_do_not_go_with(kind):
    X, y = data(2, 100)
    with pytest.raises(ValueError, match="rule='bayes' only"):
        make(kind, costs=[1, 2]).fit(X, y)
    with pytest.raises(ValueError, match="either aim or costs"):
        make(kind, rule="bayes", costs=[1, 2], aim="f1").fit(X, y)
    with pytest.raises(ValueError, match="unknown aim"):
        make(kind, aim="f11").fit(X, y)
    with pytest.raises(ValueError, match="costs must have shape"):
        make(kind, rule="bayes", costs=[1, 2, 3]).fit(X, y)
    name = {IMMAXXGBClassifier: "base_margin", IMMAXLGBMClassifier: "init_score"}.get(kind)
    if name is not None:
        with pytest.raises(ValueError, match=rf"which excludes {name}.*prefit"):
            make(kind, aim="f1").fit(X, y, **{name: np.zeros(len(y))})
    single = np.r_[np.zeros(len(y) - 1, int), 1]
    with pytest.raises(ValueError, match="the training part of a fold has no sample of"):
        make(kind, aim="f1", cv=KFold(2)).fit(X, single)


@pytest.mark.parametrize("kind", ALL)
def test_what_was_done_before_does_not_change_a_fit(kind):
    X, y = data(2, 300)
    expected = make(kind, **FIVE_ROUNDS[kind], power=1.0).fit(X, y)
    model = make(kind, **FIVE_ROUNDS[kind], power=1.0)
    get_tags(model)
    expected = expected.predict_proba(X)
    np.testing.assert_array_equal(model.fit(X, y).predict_proba(X), expected)
    model.fit(X, 1 - y)  # with the margins of the other class
    np.testing.assert_array_equal(model.fit(X, y).predict_proba(X), expected)


@pytest.mark.parametrize("c", [2, 3])
def test_training_goes_on_where_a_model_ended(c):
    X, y = data(c, 300)
    for kind, name in ((IMMAXXGBClassifier, "xgb_model"), (IMMAXLGBMClassifier, "init_model")):
        whole = make(kind, n_estimators=10).fit(X, y)
        half = make(kind, n_estimators=5).fit(X, y)
        rest = make(kind, n_estimators=5).fit(X, y, **{name: half})
        np.testing.assert_allclose(rest.predict_proba(X), whole.predict_proba(X), atol=1e-6)
    for name in ("init_model", "baseline"):
        with pytest.raises(ValueError, match=f"{name} is not supported"):
            make(IMMAXCatBoostClassifier).fit(X, y, **{name: object()})


@pytest.mark.parametrize("c", [2, 3])
def test_initial_scores_of_the_user_replace_ours(c):
    X, y = data(c, 300)
    start = np.full(len(y), 0.3) if c == 2 else np.tile([0.3, 0.1, -0.4], (len(y), 1))
    model = make(IMMAXLGBMClassifier).fit(X, y, init_score=start)
    booster = LGBMClassifier(**QUIET[IMMAXLGBMClassifier], objective=model.objective_)
    booster.fit(X, y, init_score=start)
    np.testing.assert_allclose(model.decision_function(X), booster.predict(X, raw_score=True))


@pytest.mark.parametrize("c", [2, 3])
@pytest.mark.parametrize("kind", ALL)
def test_scores_and_margins_go_together(kind, c):
    X, y = data(c, 300)
    model = make(kind, **FIVE_ROUNDS[kind], power=0.8).fit(X, y)
    expected = model.predict_proba(X)
    found = immax_proba(model.decision_function(X), model.margins_)
    np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize("kind", [IMMAXXGBClassifier, IMMAXLGBMClassifier])
def test_probabilities_are_calibrated_and_class_weights_are_not(kind):
    X, y, mixture = gaussian_mixture([6000, 600, 200], 4, 2.0, random_state=0)
    test, truth = mixture.sample([6000, 600, 200], random_state=1)
    params = {**QUIET[kind], "n_estimators": 40, "learning_rate": 0.1, "max_depth": 3}
    base, _ = BASES[kind]
    errors = {
        "own": expected_calibration_error(base(**params).fit(X, y).predict_proba(test), truth)
    }
    model = kind(power=1 / 3, **params).fit(X, y)
    errors["immax"] = expected_calibration_error(model.predict_proba(test), truth)
    weight = (1 / np.bincount(y))[y] * len(y) / 3
    weighted = base(**params).fit(X, y, sample_weight=weight)
    errors["weighted"] = expected_calibration_error(weighted.predict_proba(test), truth)
    assert errors["immax"] < errors["own"] + 0.01
    assert errors["weighted"] > 3 * errors["immax"]
    # Against the true posteriors too.
    true = mixture.posterior(test)
    off = np.abs(model.predict_proba(test) - true).mean()
    assert off < np.abs(weighted.predict_proba(test) - true).mean() / 2


def _failures(estimator):
    found = check_estimator(estimator, on_fail=None, on_skip=None)
    return {check["check_name"] for check in found if check["status"] == "failed"}


@pytest.mark.parametrize("kind", [IMMAXXGBClassifier, IMMAXLGBMClassifier])
def test_scikit_learns_checks_pass_as_far_as_the_librarys_own(kind):
    base, _ = BASES[kind]
    small = {**QUIET[kind], "n_estimators": 5}
    theirs = _failures(base(**small))
    ours = _failures(kind(**small))
    assert ours - theirs <= ALLOWED[kind], ours - theirs


WEIGHTS = {f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")}
ALLOWED = {
    # Weights and repetitions agree to single precision, where the check asks for more.
    IMMAXXGBClassifier: WEIGHTS,
    # Scores of exactly zero are given to the highest class, as in the paper.
    # Class weights are refused.
    IMMAXLGBMClassifier: WEIGHTS | {"check_classifiers_classes", "check_class_weight_classifiers"},
}


def test_a_missing_library_names_the_extra():
    script = (
        "import sys\n"
        "for name in ('xgboost', 'lightgbm', 'catboost'):\n    sys.modules[name] = None\n"
        "import immax.boosting as b\n"
        "for name in b.__all__[:3]:\n"
        "    try:\n        getattr(b, name)\n"
        "    except ImportError as error:\n        print(error)\n"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert found.stdout.count('pip install "immax[boosting]"') == 3, found.stderr


@pytest.mark.parametrize("name", ["boosting_type", "boosting", "boost"])
def test_random_forests_of_lightgbm_are_refused_by_name(name):
    X, y = data(2)
    model = make(IMMAXLGBMClassifier, **{name: "rf"}, bagging_freq=1, bagging_fraction=0.5)
    with pytest.raises(ValueError, match=rf"{name} must be 'gbdt' or 'dart'.*got 'rf'"):
        model.fit(X, y)
