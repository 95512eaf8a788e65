"""The methods that plans name: all of them fit, and λ has one meaning."""

import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.preprocessing import scale

from immax import IMMAXClassifier
from immax.evaluation.estimators import (
    ESTIMATORS,
    MODELS,
    Setting,
    describe_choice,
    known_methods,
    make_estimator,
    network_spec,
)
from immax.evaluation.kernel_methods import penalty_values
from immax.evaluation.metrics import METRICS
from immax.evaluation.selection import Selection

pytest.importorskip("imblearn")
# Corners of some grids do not converge; runs of plans ignore these warnings too.
pytestmark = pytest.mark.filterwarnings("ignore")

SELECTION = Selection(folds=3, trials=2, lams=(0.1, 0.01), powers=(0.0, 0.25))


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(200, 5, weights=[0.8], flip_y=0.1, random_state=0)
    return scale(X), y


def make(method, y, model="linear"):
    return make_estimator(model, method, y, SELECTION, {}, seed=0)


@pytest.mark.parametrize("method", sorted(ESTIMATORS["linear"]))
def test_every_linear_method_fits_and_predicts(method, data):
    X, y = data
    model = make(method, y).fit(X, y)
    assert set(model.predict(X)) <= {0, 1}
    assert np.mean(model.predict(X) == y) > 0.6
    if hasattr(model, "predict_proba"):
        assert model.predict_proba(X).sum(axis=1) == pytest.approx(1)


AIMS = ("balanced_accuracy", "f1", "log_loss")
PLAIN = {
    "immax",
    "immax_hinge",
    "immax_score",
    "immax_bayes",
    "immax_loo",
    "immax_theory",
    "immax_best",
    "hinge",
}


@pytest.mark.parametrize(
    ("model", "method"),
    [("linear", method) for method in sorted(set(ESTIMATORS["linear"]) - PLAIN)]
    + [("trees", method) for method in sorted(set(ESTIMATORS["trees"]) - {"easy_ensemble"})]
    + [("kernel", "svc")],
)
def test_every_method_is_tuned_for_every_aim(model, method, data):
    if model == "trees":
        pytest.importorskip("xgboost")
    X, y = data
    selection = replace(SELECTION, aims=AIMS)
    tuned = make_estimator(model, method, y, selection, {}, seed=0).fit(X, y)
    for aim in AIMS:
        json.dumps(describe_choice(tuned.for_aim(aim)))  # what results keep
    for aim in ("balanced_accuracy", "f1"):
        assert METRICS["balanced_accuracy"].score_labels(y, tuned.for_aim(aim).predict(X)) > 0.55
    if hasattr(tuned.for_aim("log_loss"), "predict_proba"):
        rare = [np.sum(tuned.for_aim(aim).predict(X)) for aim in ("balanced_accuracy", "log_loss")]
        slack = 2 if model == "trees" else 0  # which may have other numbers of trees
        assert rare[0] >= rare[1] - slack  # balanced accuracy does not ask for fewer rare labels


def test_trees_are_tuned_where_a_plan_has_aims(data):
    pytest.importorskip("xgboost")
    X, y = data
    selection = replace(SELECTION, aims=("f1",))
    for method, power in (("xgb_balanced", None), ("xgb_decision", None), ("immax", [0.0, 1 / 3])):
        tuned = make_estimator("trees", method, y, selection, {}, seed=0).fit(X, y)
        chosen = {name.split("__")[-1]: value for name, value in tuned.best_params_["f1"].items()}
        assert chosen.pop("n_estimators") in (30, 100)
        assert chosen.pop("max_depth") in (2, 4)
        assert not chosen if power is None else chosen.pop("power") in power


def test_hinge_has_equal_margins_only(data):
    X, y = data
    model = make("hinge", y).fit(X, y)
    assert all(rho[0] == rho[1] for rho in model.cv_results_["margins"])


def test_immax_searches_the_powers_of_the_plan_and_no_others(data):
    X, y = data
    found = make("immax", y).fit(X, y).cv_results_["param_parameters"]
    assert {point[0] for point in found} == {0.0, 0.25}


def test_balanced_hinge_is_the_hinge_with_weights(data):
    X, y = data
    model = make("hinge_balanced", y).fit(X, y)
    lam = model.best_params_["model__lam"]
    weight = len(y) / (2 * np.bincount(y))[y]
    expected = IMMAXClassifier("hinge", lam=lam, margins="equal").fit(X, y, weight)
    scores = model.best_estimator_.model_.decision_function(X)
    assert scores == pytest.approx(expected.decision_function(X), abs=1e-9)
    assert not hasattr(model, "predict_proba")


def test_ldam_with_the_hinge_is_its_own_formula(data):
    X, y = data
    model = make("ldam_hinge", y).fit(X, y)
    fitted = model.best_estimator_.model_
    rho = np.bincount(y) ** -0.25
    rho /= rho.mean()
    assert fitted.margins_ == pytest.approx(rho)
    scores = fitted.decision_function(X)
    losses = np.maximum(0, rho[y] - np.where(y == 1, 1, -1) * scores)
    scale = rho[y].mean()  # of the weights, whose mean is one
    penalty = model.best_params_["model__lam"] * np.sum(fitted.coef_**2)
    assert fitted.objective_ == pytest.approx(penalty + losses.mean() / scale, rel=1e-6)


def test_trees_search_powers_and_rules_and_break_ties_by_log_loss(data):
    xgboost = pytest.importorskip("immax.boosting").IMMAXXGBClassifier
    X, y = data
    model = make("immax", y, "trees").fit(X, y)
    plain = xgboost(n_estimators=100, max_depth=4, learning_rate=0.1, n_jobs=1, random_state=0)
    grid = {"power": SELECTION.powers, "rule": ["score", "bayes"]}
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    expected = GridSearchCV(plain, grid, cv=folds, scoring="accuracy").fit(X, y)
    assert model.best_score_ == pytest.approx(expected.best_score_)
    table = expected.cv_results_
    assert table["rank_test_score"][table["params"].index(model.best_params_)] == 1
    tied = {
        point["power"]
        for point, rank in zip(table["params"], table["rank_test_score"], strict=True)
        if rank == 1
    }
    powers = {"power": grid["power"]}
    losses = GridSearchCV(plain, powers, cv=folds, scoring="neg_log_loss").fit(X, y)
    own = dict(zip(grid["power"], losses.cv_results_["mean_test_score"], strict=True))
    assert model.best_params_["power"] == max(tied, key=own.__getitem__)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("method", ["logistic", "immax"])
def test_lambda_means_the_same_as_for_cross_entropy(method, n_classes):
    X, y = make_classification(
        300, 5, n_informative=4, n_redundant=0, n_classes=n_classes, random_state=0
    )
    selection = replace(SELECTION, lams=(0.05,), powers=(0.0,))
    plain = make_estimator("linear", "ce", y, selection, {}, seed=0).fit(X, y)
    other = make_estimator("linear", method, y, selection, {}, seed=0).fit(X, y)
    np.testing.assert_allclose(plain.predict_proba(X), other.predict_proba(X), atol=1e-3)


def test_c_of_scikit_learn_is_that_of_lambda(data):
    setting = Setting(SELECTION, {}, 0, data[1])
    assert setting.Cs == pytest.approx([1 / (2 * 0.1 * 200), 1 / (2 * 0.01 * 200)])
    # C of the first version was 2 / (λ n) for four times this λ: the same to the bit.
    for lam in (1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 0.03, 1.0):
        own = Setting(SELECTION, {"lam": [lam / 4]}, 0, data[1])
        assert own.Cs == [2 / (lam * 200)]


@pytest.mark.parametrize(
    ("method", "key"),
    [("immax", "lam"), ("immax_theory", "lam"), ("hinge_balanced", "model__lam"), ("ldam", "lam")],
)
def test_a_grid_of_lambda_takes_the_place_of_the_selection_s(method, key, data):
    X, y = data
    model = make_estimator("linear", method, y, SELECTION, {"lam": (0.07,)}, seed=0).fit(X, y)
    chosen = describe_choice(model)
    assert chosen[key] == 0.07
    if method == "ldam":
        assert set(chosen["method_params"]) == {"C"}  # the grid of the paper still holds


def test_a_grid_of_lambda_reaches_scikit_learn(data):
    X, y = data
    model = make_estimator("linear", "logistic", y, SELECTION, {"lam": (0.07,)}, seed=0).fit(X, y)
    assert describe_choice(model)["C"] == 1 / (2 * 0.07 * 200)


def test_the_choice_for_an_aim_has_weights_and_the_rule_in_words(data):
    X, y = data
    selection = replace(SELECTION, aims=("balanced_accuracy",))
    model = make_estimator("linear", "immax", y, selection, {}, seed=0).fit(X, y)
    own = model.for_aim("balanced_accuracy")
    chosen = describe_choice(own)
    assert chosen["rule"] == str(own.best_rule_)
    assert chosen["rule"].startswith("predict ")
    power, weight_power = own.best_parameters_
    assert chosen["power"] == power
    assert chosen.get("weight_power", 0.0) == weight_power


@pytest.mark.parametrize("method", ["svc", "immax"])
def test_kernel_machines_search_c(method, data):
    X, y = data
    model = make(method, y, "kernel").fit(X[:100], y[:100])
    assert describe_choice(model)["C"] in [4 * C for C in (0.01, 0.1, 1, 10, 100, 1000)]


@pytest.mark.parametrize("method", ["immax", "logistic", "threshold"])
def test_what_was_chosen_for_an_aim_can_be_written(method, data):
    X, y = data
    selection = replace(SELECTION, aims=("f1", "balanced_accuracy"))
    model = make_estimator("linear", method, y, selection, {}, seed=0).fit(X, y)
    chosen = json.loads(json.dumps(describe_choice(model, "f1")))
    if method == "immax":
        assert {"power", "weight_power", "lam", "score", "rule"} == set(chosen)
        assert chosen["rule"].startswith("predict ")
    else:
        assert set(chosen) == {"C"}


def test_networks_have_margins_of_mean_one():
    spec = network_spec("immax", [900, 90, 10], {"power": 0.5})
    expected = np.sqrt([900, 90, 10])
    np.testing.assert_allclose(spec.temperature, expected / expected.mean())


def test_known_methods():
    assert known_methods("surface") == ("immax",)
    assert set(known_methods("resnet8")) <= set(known_methods("linear")) | {"immax"}
    assert all(known_methods(model) for model in MODELS)


def test_values_of_c_are_those_of_stored_results():
    """They are part of what results in stores mean: no version may change them."""
    assert penalty_values(2) == [4 * C for C in (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)]
    assert penalty_values(3) == [9 * C for C in (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)]
