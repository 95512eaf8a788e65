"""The linear estimators as their users meet them."""

import pickle
from warnings import catch_warnings, simplefilter

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, make_classification
from sklearn.ensemble import StackingClassifier
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.fixes import parse_version

from immax import BaselineClassifier, IMMAXClassifier
from immax.datasets import long_tailed
from immax.losses.catalog import METHODS
from immax.margins import theory_margins


@parametrize_with_checks(
    [
        IMMAXClassifier(),
        IMMAXClassifier(loss="hinge"),
        IMMAXClassifier(loss="exponential"),
        IMMAXClassifier(form="max"),
        IMMAXClassifier(rule="bayes"),
        BaselineClassifier(),
        BaselineClassifier("focal"),
    ]
)
def test_scikit_learn_s_own_checks(estimator, check):
    # Their data is balanced. With unequal margins the highest score and the highest
    # probability may differ by design, which the checks do not allow for.
    check(estimator)


@pytest.fixture(scope="module")
def binary():
    X, y = make_classification(
        400, 12, n_informative=6, weights=[0.85], class_sep=0.7, random_state=0
    )
    return X, y


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    keep = long_tailed(y, 20, random_state=0)
    return scale(X[keep]), y[keep]


# --- what it minimises -----------------------------------------------------------------------


def test_equal_margins_are_logistic_regression(binary):
    X, y = binary
    lam = 0.01
    model = IMMAXClassifier(margins="equal", lam=lam, tol=1e-10).fit(X, y)
    peer = LogisticRegression(C=1 / (2 * lam * len(y)), tol=1e-10, max_iter=10_000).fit(X, y)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-5)
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), atol=1e-5)


def test_equal_margins_are_logistic_regression_for_many_classes(digits):
    X, y = digits
    lam = 0.01
    model = IMMAXClassifier(margins="equal", lam=lam, tol=1e-10).fit(X, y)
    peer = LogisticRegression(C=1 / (2 * lam * len(y)), tol=1e-8, max_iter=10_000).fit(X, y)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-4)
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), atol=1e-4)


def test_ce_is_logistic_regression(binary):
    X, y = binary
    model = BaselineClassifier(lam=0.01, tol=1e-10).fit(X, y)
    peer = LogisticRegression(C=1 / (0.02 * len(y)), tol=1e-10, max_iter=10_000).fit(X, y)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-5)


@pytest.mark.parametrize("alpha", [0.5, 0.2])
def test_hinge_is_a_weighted_svm_with_a_shifted_bias(binary, alpha):
    # Solve |w'|^2 / 2 + C sum c_i hinge(y g') with C = 2 / (lam m) and c_i = 1 / (2 rho_y);
    # then f = g' / 2 + alpha - 1/2.
    X, y = binary
    lam = 0.02
    model = IMMAXClassifier("hinge", lam=lam, margins=[1 - alpha, alpha], tol=1e-8).fit(X, y)
    weight = 1 / (2 * np.where(y == 1, alpha, 1 - alpha))
    svm = SVC(kernel="linear", C=2 / (lam * len(y)), tol=1e-8).fit(X, y, sample_weight=weight)
    expected = svm.decision_function(X) / 2 + alpha - 0.5
    np.testing.assert_allclose(model.decision_function(X), expected, atol=2e-4)


def test_the_objective_is_the_paper_s(digits):
    X, y = digits
    for loss, form in [("logistic", "sum"), ("exponential", "sum"), ("hinge", "max")]:
        model = IMMAXClassifier(loss, form=form, lam=0.1).fit(X, y)
        h = X @ model.coef_.T + model.intercept_
        rho = theory_margins(np.bincount(y))
        np.testing.assert_allclose(model.margins_, rho)
        total = 0.0
        for i, k in enumerate(y):
            u = (h[i, k] - np.delete(h[i], k)) / rho[k]
            total += {
                "logistic": np.log1p(np.exp(-u).sum()),
                "exponential": np.exp(-u).sum(),
                "hinge": np.maximum(0, 1 - u).max(),
            }[loss]
        expected = 0.1 * np.sum(model.coef_**2) + total / len(y)
        assert model.objective_ == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("data", ["binary", "digits"])
def test_the_scale_of_the_margins_is_a_matter_of_lambda(data, request):
    """Margins t times as large, lam t^2 times smaller: scores t times as large."""
    X, y = request.getfixturevalue(data)
    counts = np.bincount(y)
    mean_one = IMMAXClassifier(lam=1e-2, tol=1e-9).fit(X, y)
    sum_one = IMMAXClassifier(
        lam=1e-2 * counts.size**2, margins=theory_margins(counts, total=1), tol=1e-9
    ).fit(X, y)
    np.testing.assert_array_equal(sum_one.margins_, theory_margins(counts, total=1))
    scores = counts.size * sum_one.decision_function(X)
    np.testing.assert_allclose(scores, mean_one.decision_function(X), atol=1e-3)
    np.testing.assert_allclose(sum_one.predict_proba(X), mean_one.predict_proba(X), atol=1e-4)


def test_radii_enter_the_theory_s_margins(binary):
    X, y = binary
    norms = np.linalg.norm(X, axis=1)
    radii = [norms[y == 0].max(), norms[y == 1].max()]
    for features in (X, sparse.csr_matrix(X)):
        model = IMMAXClassifier(use_radii=True).fit(features, y)
        np.testing.assert_allclose(model.margins_, theory_margins(np.bincount(y), radii))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("target", ["binary", "digits"])
def test_every_method_fits_and_gives_probabilities(method, target, request):
    X, y = request.getfixturevalue(target)
    model = BaselineClassifier(method, lam=0.01).fit(X, y)
    assert model.score(X, y) > 0.75
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    assert log_loss(y, proba) < 1
    assert (model.gap_ is None) == (method == "focal")
    np.testing.assert_array_equal(
        clone(model).set_params(rule="bayes").fit(X, y).predict(X), proba.argmax(axis=1)
    )


def test_equal_s_draws_take_the_seed(binary):
    X, y = binary
    # Make class 1 rare enough to be droppable.
    keep = np.flatnonzero((y == 0) | (np.cumsum(y) <= 1))
    params = {"p": 0.5, "threshold": 5e-3}
    fits = [
        BaselineClassifier("equal", method_params=params, random_state=seed).fit(X[keep], y[keep])
        for seed in (0, 0, 1)
    ]
    np.testing.assert_array_equal(fits[0].coef_, fits[1].coef_)
    assert (fits[0].coef_ != fits[2].coef_).any()


# --- decisions and probabilities -------------------------------------------------------------


def test_probabilities_are_honest_where_class_weights_are_not():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40_000, 3))
    true = 1 / (1 + np.exp(-(X @ [1.0, -0.5, 0.7] - 3)))
    y = (rng.uniform(size=len(true)) < true).astype(int)
    margins = theory_margins(np.bincount(y))
    for loss in ("logistic", "exponential"):
        model = IMMAXClassifier(loss, lam=1e-6, margins=margins).fit(X, y)
        assert abs(model.predict_proba(X)[:, 1].mean() - y.mean()) < 0.01
    weighted = LogisticRegression(class_weight="balanced").fit(X, y)
    assert weighted.predict_proba(X)[:, 1].mean() > y.mean() + 0.2


def test_score_is_positive_where_the_posterior_exceeds_alpha(binary):
    X, y = binary
    model = IMMAXClassifier(margins=[0.7, 0.3]).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), model.predict_proba(X)[:, 1] >= 0.3)
    bayes = clone(model).set_params(rule="bayes").fit(X, y)
    np.testing.assert_array_equal(bayes.predict(X), model.predict_proba(X)[:, 1] >= 0.5)
    assert (bayes.predict(X) != model.predict(X)).any()


def test_costs(digits):
    X, y = digits
    matrix = 1 - np.eye(10)
    matrix[9] *= 50
    model = IMMAXClassifier(rule="bayes", lam=0.1, costs=matrix).fit(X, y)
    expected = (model.predict_proba(X) @ matrix).argmin(axis=1)
    np.testing.assert_array_equal(model.predict(X), expected)
    vector = np.where(np.arange(10) == 9, 50, 1)
    same = clone(model).set_params(costs=vector).fit(X, y)
    np.testing.assert_array_equal(same.predict(X), expected)


def test_ties_go_to_the_highest_class():
    X = np.array([[1.0], [-1.0], [0.5], [-0.5]])
    two = IMMAXClassifier(margins="equal", fit_intercept=False).fit(X, ["a", "b", "a", "b"])
    assert two.predict([[0.0]]) == ["b"]
    three = IMMAXClassifier(margins="equal").fit(np.zeros((6, 2)), [0, 0, 1, 1, 2, 2])
    assert three.predict([[1.0, 1.0]]) == [2]


@pytest.mark.parametrize(
    "model",
    [IMMAXClassifier("hinge"), IMMAXClassifier(form="max"), IMMAXClassifier("hinge", form="max")],
)
def test_no_probabilities_where_the_loss_has_none(model):
    X, y = load_iris(return_X_y=True)
    model = clone(model).set_params(lam=1.0).fit(X, y)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError) as caught:
        _ = model.predict_proba
    assert "CalibratedClassifierCV" in str(caught.value.__cause__)
    calibrated = CalibratedClassifierCV(model, cv=2).fit(X, y)
    np.testing.assert_allclose(calibrated.predict_proba(X).sum(axis=1), 1)


def test_two_classes_in_the_max_form_have_probabilities(binary):
    X, y = binary
    a, b = (IMMAXClassifier(form=form) for form in ("max", "sum"))
    assert not hasattr(a, "predict_proba")  # a fit to three classes would not have it
    assert not hasattr(a, "predict_log_proba")
    np.testing.assert_allclose(a.fit(X, y).predict_proba(X), b.fit(X, y).predict_proba(X))
    assert not hasattr(clone(a), "predict_proba")
    assert hasattr(b, "predict_proba")
    assert hasattr(clone(b), "predict_proba")
    a.fit(*load_iris(return_X_y=True))
    assert not hasattr(a, "predict_proba")


@pytest.mark.parametrize("n_classes", [2, 3])
def test_meta_estimators_take_scores_of_the_max_form(n_classes):
    """They look for methods before the fit, when the number of classes is not known."""
    X, y = load_iris(return_X_y=True)
    X, y = X[y < n_classes], y[y < n_classes]
    stacked = StackingClassifier([("max", IMMAXClassifier(form="max"))], cv=2).fit(X, y)
    assert stacked.stack_method_ == ["decision_function"]
    assert stacked.score(X, y) > 0.8


# --- what goes in ----------------------------------------------------------------------------


def test_frames_and_labels():
    frame, y = load_iris(as_frame=True, return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    plain = IMMAXClassifier().fit(frame.to_numpy(), names)
    for data in (frame, pl.from_pandas(frame)):
        model = IMMAXClassifier().fit(data, names)
        np.testing.assert_array_equal(model.feature_names_in_, frame.columns)
        np.testing.assert_allclose(model.coef_, plain.coef_)
        assert set(model.predict(data)) == set(names)
        assert model.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(pd.DataFrame(frame.to_numpy(), columns=list("abcd")))


def test_boolean_labels_and_margins_by_label(binary):
    X, y = binary
    model = IMMAXClassifier(margins={False: 0.6, True: 0.4}).fit(X, y.astype(bool))
    assert model.predict(X).dtype == bool
    np.testing.assert_allclose(model.margins_, [0.6, 0.4])


@pytest.mark.parametrize("loss", ["logistic", "hinge", "exponential"])
@pytest.mark.parametrize("target", ["binary", "digits"])
def test_sparse_is_dense(loss, target, request):
    X, y = request.getfixturevalue(target)
    model = IMMAXClassifier(loss, lam=0.5, tol=1e-9)
    dense = clone(model).fit(X, y)
    for features in (sparse.csr_matrix(X), sparse.csc_array(X)):
        fitted = clone(model).fit(features, y)
        np.testing.assert_allclose(fitted.coef_, dense.coef_, atol=2e-4)
        np.testing.assert_array_equal(fitted.predict(features), dense.predict(X))


def test_float32_stays_float32(digits):
    X, y = digits
    for loss in ("logistic", "hinge"):
        single = IMMAXClassifier(loss, lam=0.5).fit(X.astype(np.float32), y)
        assert single.coef_.dtype == np.float32
        assert single.decision_function(X.astype(np.float32)).dtype == np.float32
        double = IMMAXClassifier(loss, lam=0.5).fit(X, y)
        assert single.objective_ == pytest.approx(double.objective_, rel=1e-4)


def test_weights_count_as_repetitions(digits):
    X, y = digits
    repeats = np.random.default_rng(0).integers(1, 4, len(y))
    for model in (IMMAXClassifier(lam=0.1), BaselineClassifier("ldam", lam=0.1)):
        weighted = clone(model).fit(X, y, sample_weight=repeats)
        repeated = clone(model).fit(np.repeat(X, repeats, axis=0), np.repeat(y, repeats))
        assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-5)
        np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-3)


@pytest.mark.parametrize("loss", ["logistic", "hinge", "exponential"])
def test_rows_without_weight_do_not_count_at_all(loss, binary):
    X, y = binary
    wild = np.vstack([X, [[1e5] * 12, [-1e5] * 12]])
    weight = np.append(np.ones(len(y)), [0, 0])
    a = IMMAXClassifier(loss, lam=0.01).fit(X, y)
    b = IMMAXClassifier(loss, lam=0.01).fit(wild, np.append(y, [0, 1]), sample_weight=weight)
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-6)


def test_strided_features(binary):
    X, y = binary
    wide = np.repeat(X, 2, axis=1)
    a, b = IMMAXClassifier().fit(wide[:, ::2], y), IMMAXClassifier().fit(X, y)
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-8)


def test_a_thousand_classes():
    rng = np.random.default_rng(0)
    c, d = 1000, 10
    y = np.concatenate(
        [
            np.arange(c),
            rng.choice(c, 1500, p=np.geomspace(1, 1e-2, c) / np.geomspace(1, 1e-2, c).sum()),
        ]
    )
    X = rng.normal(size=(c, d))[y] * 2 + rng.normal(size=(len(y), d))
    model = IMMAXClassifier(lam=1e-4, margins=theory_margins(np.bincount(y), total=c)).fit(X, y)
    assert model.coef_.shape == (c, d)
    assert model.gap_ <= 1e-6 * model.objective_
    assert model.score(X, y) > 0.3
    np.testing.assert_allclose(model.predict_proba(X[:5]).sum(axis=1), 1)


def test_no_copy_of_the_features_is_larger_than_the_features():
    import tracemalloc

    rng = np.random.default_rng(0)
    X = rng.normal(size=(40_000, 40))
    y = (X[:, 0] + rng.normal(size=40_000) > 2).astype(int)
    for loss in ("logistic", "hinge"):
        tracemalloc.start()
        IMMAXClassifier(loss).fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < X.nbytes


# --- how it lives with scikit-learn ------------------------------------------------------------


def test_pickle_clone_grid_search_pipeline(digits):
    X, y = digits
    pipeline = make_pipeline(StandardScaler(), IMMAXClassifier())
    grid = {"immaxclassifier__lam": [0.01, 1.0], "immaxclassifier__margins": ["theory", "equal"]}
    search = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(again.predict_proba(X), search.predict_proba(X))
    assert clone(search.best_estimator_[-1]).get_params() == search.best_estimator_[-1].get_params()


def test_metadata_routing(binary):
    X, y = binary
    weight = np.where(y == 1, 5.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        model = IMMAXClassifier().set_fit_request(sample_weight=True)
        pipeline = make_pipeline(scaler, model).fit(X, y, sample_weight=weight)
    direct = IMMAXClassifier().fit(StandardScaler().fit_transform(X), y, sample_weight=weight)
    np.testing.assert_allclose(pipeline[-1].coef_, direct.coef_)


def test_same_seed_same_bits(digits):
    X, y = digits
    for loss in ("logistic", "hinge"):
        a, b = (IMMAXClassifier(loss, lam=0.1, random_state=3).fit(X, y) for _ in range(2))
        np.testing.assert_array_equal(a.coef_, b.coef_)
        np.testing.assert_array_equal(a.intercept_, b.intercept_)


# --- how good the optimum is -----------------------------------------------------------------


@pytest.mark.parametrize("loss", ["logistic", "hinge", "exponential"])
@pytest.mark.parametrize("target", ["binary", "digits"])
def test_gap_and_warning(loss, target, request):
    X, y = request.getfixturevalue(target)
    best = IMMAXClassifier(loss, lam=0.01, tol=1e-9, max_iter=5000).fit(X, y).objective_
    with pytest.warns(ConvergenceWarning, match="stopped after 2 iterations"):
        rough = IMMAXClassifier(loss, lam=0.01, max_iter=2).fit(X, y)
    assert rough.n_iter_ == 2
    assert rough.gap_ >= rough.objective_ - best > 0
    fine = IMMAXClassifier(loss, lam=0.01).fit(X, y)
    assert 0 <= fine.objective_ - best + 1e-9 * best <= fine.gap_ + 2e-9 * best
    assert fine.gap_ <= 1e-6 * fine.objective_


def test_badly_scaled_columns_are_no_trouble():
    X, y = load_breast_cancer(return_X_y=True)
    X = X * np.logspace(-1, 1, X.shape[1])
    for loss in ("logistic", "hinge", "exponential"):
        model = IMMAXClassifier(loss, lam=1e-6).fit(X, y)
        assert model.gap_ <= 1e-6 * model.objective_


# --- bad input -------------------------------------------------------------------------------

GOOD = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [0.5, 2.0]])
LABELS = np.array(["a", "a", "b", "b"])


@pytest.mark.parametrize("estimator", [IMMAXClassifier(), BaselineClassifier()])
@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.where(GOOD == 2, np.nan, GOOD), LABELS, "NaN"),
        (np.where(GOOD == 2, np.inf, GOOD), LABELS, "infinity"),
        (GOOD[:, 0], LABELS, "Expected 2D array"),
        (GOOD[:0], LABELS[:0], "minimum of 1 is required"),
        (GOOD, LABELS[:3], "inconsistent numbers of samples"),
        (GOOD, np.array(["a"] * 4), "at least two classes; got one class, 'a'"),
        (GOOD, np.array([0.1, 0.2, 0.3, 0.4]), "Unknown label type"),
        (np.array([["x", "y"]] * 4), LABELS, "could not convert"),
    ],
)
def test_bad_data(estimator, X, y, message):
    with pytest.raises(ValueError, match=message):
        clone(estimator).fit(X, y)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"lam": 0}, "lam must be a positive, finite number; got 0"),
        ({"lam": -1.0}, "lam must be a positive"),
        ({"lam": np.nan}, "lam must be a positive"),
        ({"lam": "big"}, "lam must be a positive"),
        ({"tol": 0}, "tol must be a positive"),
        ({"max_iter": 0}, "max_iter must be a positive whole number; got 0"),
        ({"max_iter": 0.5}, "max_iter must be a positive whole number; got 0.5"),
        ({"loss": "squared"}, "loss must be one of 'logistic', 'hinge', 'exponential'"),
        ({"form": "mean"}, "form must be one of 'auto', 'sum', 'max'"),
        ({"loss": "hinge", "form": "sum"}, "form='sum' exists for the logistic"),
        ({"rule": "argmax"}, "rule must be one of 'score', 'bayes'"),
        ({"rule": "bayes", "loss": "hinge"}, "which the hinge loss does not determine"),
        ({"costs": [1, 2]}, "costs are taken into account by rule='bayes' only"),
        ({"costs": [1, 2, 3], "rule": "bayes"}, r"costs must have shape \(2,\) or \(2, 2\)"),
        ({"costs": [1, -2], "rule": "bayes"}, "costs must be finite and not negative"),
        ({"solver": "sgd"}, "solver must be one of 'auto', 'newton', 'lbfgs'"),
        ({"margins": [1.0, 2.0, 3.0]}, "each of the 2 classes; got 3"),
        ({"margins": {"a": 1.0, "c": 1.0}}, r"unknown labels: \['c'\].*margin: \['b'\]"),
        ({"margins": [1.0, 0.0]}, "margins of class 1 is 0"),
        ({"margins": "best"}, "margins must be 'theory', 'equal'"),
    ],
)
def test_bad_parameters(params, message):
    with pytest.raises(ValueError, match=message):
        IMMAXClassifier(**params).fit(GOOD, LABELS)


def test_bayes_with_the_max_form_of_three_classes(digits):
    X, y = digits
    with pytest.raises(ValueError, match="which the max form does not determine"):
        IMMAXClassifier(form="max", rule="bayes").fit(X, y)


def test_bad_weights():
    with pytest.raises(ValueError, match=r"the classes \['b'\] have none"):
        IMMAXClassifier().fit(GOOD, LABELS, sample_weight=[1, 1, 0, 0])
    with pytest.raises(ValueError, match="Negative values"):
        IMMAXClassifier().fit(GOOD, LABELS, sample_weight=[1, 1, 1, -1])


def test_bad_method():
    with pytest.raises(ValueError, match="method must be one of immax, ce"):
        BaselineClassifier("smote").fit(GOOD, LABELS)
    with pytest.raises(ValueError, match="unexpected keyword argument 'temperature'"):
        BaselineClassifier("la", method_params={"temperature": 1}).fit(GOOD, LABELS)


def test_unfitted_and_wrong_width():
    with pytest.raises(NotFittedError):
        IMMAXClassifier().predict(GOOD)
    with pytest.raises(ValueError, match="3 features"):
        IMMAXClassifier().fit(GOOD, LABELS).predict(np.ones((2, 3)))


def test_a_failed_fit_on_other_classes_leaves_the_old_model_alone(digits, binary):
    X, y = digits
    model = IMMAXClassifier(margins=np.ones(10), lam=0.1).fit(X, y)
    before = model.decision_function(X)
    with pytest.raises(ValueError, match="each of the 2 classes"):
        model.fit(X, (y > 4).astype(int))
    assert len(model.classes_) == 10
    np.testing.assert_array_equal(model.decision_function(X), before)


def test_a_failed_fit_leaves_the_old_model_alone(binary):
    X, y = binary
    model = IMMAXClassifier().fit(X, y)
    before = model.predict(X)
    with pytest.raises(ValueError, match="lam"):
        model.set_params(lam=-1).fit(X, y)
    np.testing.assert_array_equal(model.set_params(lam=1e-3).predict(X), before)


@parametrize_with_checks(
    [
        IMMAXClassifier(penalty="l1"),
        IMMAXClassifier(penalty="elasticnet"),
        IMMAXClassifier(penalty="group"),
        IMMAXClassifier("hinge", penalty="l1"),
        BaselineClassifier(penalty="l1"),
        BaselineClassifier("focal", penalty="group"),
    ]
)
def test_scikit_learn_s_own_checks_of_penalties(estimator, check):
    check(estimator)


def test_an_elastic_net_without_l1_is_l2_to_the_last_digit(digits):
    X, y = digits
    net = IMMAXClassifier(penalty="elasticnet", l1_ratio=0).fit(X, y)
    ridge = IMMAXClassifier().fit(X, y)
    np.testing.assert_array_equal(net.coef_, ridge.coef_)
    assert net.gap_ == ridge.gap_


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_groups_of_single_features_are_l1(loss, binary):
    X, y = binary
    l1 = IMMAXClassifier(loss, penalty="l1", lam=0.02).fit(X, y)
    group = IMMAXClassifier(loss, penalty="group", groups=np.arange(12), lam=0.02).fit(X, y)
    assert group.objective_ == pytest.approx(l1.objective_, rel=2e-6)
    np.testing.assert_allclose(group.coef_, l1.coef_, atol=1e-3)


def test_groups_are_kept_or_dropped_whole(digits):
    X, y = digits
    rows = IMMAXClassifier(penalty="group", lam=0.05).fit(X, y)
    used = rows.coef_ != 0
    assert (used.all(axis=0) | ~used.any(axis=0)).all()
    assert rows.n_features_used_ == used.any(axis=0).sum() < 64
    groups = np.arange(64) // 8
    model = IMMAXClassifier(penalty="group", groups=groups, lam=0.12).fit(X, y)
    kept = [model.coef_[:, groups == g].any() for g in range(8)]
    assert 0 < sum(kept) < 8
    assert model.sparse_coef_.nnz == np.count_nonzero(model.coef_)


def test_l1_agrees_with_saga(binary):
    X, y = scale(binary[0]), binary[1]
    lam = 0.02
    ours = IMMAXClassifier(penalty="l1", margins="equal", lam=lam).fit(X, y)
    old = parse_version(sklearn.__version__) < parse_version("1.8")
    penalty = {"penalty": "l1"} if old else {"l1_ratio": 1}
    theirs = LogisticRegression(
        **penalty, C=1 / (lam * len(y)), solver="saga", tol=1e-8, max_iter=10_000
    ).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)


@pytest.mark.parametrize("loss", ["logistic", "exponential", "hinge"])
@pytest.mark.parametrize("penalty", ["l1", "elasticnet", "group"])
def test_odd_columns_have_a_right_answer(penalty, loss, binary):
    X, y = binary[0][:150], binary[1][:150]
    odd = np.column_stack([X, X[:, 0], 2 * X[:, 1] + X[:, 2], np.ones(len(y)), np.zeros(len(y))])
    plain = IMMAXClassifier(loss, penalty=penalty, lam=0.02, tol=1e-5).fit(X, y)
    model = IMMAXClassifier(loss, penalty=penalty, lam=0.02, tol=1e-5).fit(odd, y)
    assert model.gap_ <= 1e-5 * model.objective_
    assert model.objective_ <= plain.objective_ * (1 + 1e-5)
    assert not model.coef_[0, -1]
    assert abs(model.coef_[0, -2]) < 1e-12


@pytest.mark.parametrize("penalty", ["l1", "group"])
def test_a_column_of_a_different_scale(penalty, binary):
    X, y = binary
    huge = X.copy()
    huge[:, 3] *= 1e9
    free = IMMAXClassifier(penalty=penalty, lam=0.02).fit(huge, y)
    assert free.gap_ <= 1e-6 * free.objective_
    huge[:, 3] *= 1e3
    with catch_warnings():  # rounding of the gradient may leave more of the gap than tol
        simplefilter("ignore", ConvergenceWarning)
        model = IMMAXClassifier(penalty=penalty, lam=0.02).fit(huge, y)
    assert model.gap_ <= 1e-2 * model.objective_
    assert model.objective_ == pytest.approx(free.objective_, rel=1e-6)
    constant = np.column_stack([X, np.full(len(y), 1e12)])
    model = IMMAXClassifier(penalty=penalty, lam=0.02).fit(constant, y)
    assert model.gap_ <= 1e-6 * model.objective_


@pytest.mark.parametrize("size", [1e6, 1e9, 1e12])
@pytest.mark.parametrize("lam", [0.003, 0.05])
@pytest.mark.parametrize("penalty", ["l1", "elasticnet", "group"])
@pytest.mark.parametrize("column", [0, 5])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # says the gap
def test_a_column_of_huge_numbers_is_certified(column, penalty, lam, size):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 10))
    y = (X[:, 0] + X[:, 1] + rng.logistic(size=300) > 1.5).astype(int)
    X[:, column] *= size
    model = IMMAXClassifier(penalty=penalty, lam=lam).fit(X, y)
    assert model.gap_ <= 1e-14 * size * model.objective_  # what rounding leaves of feasibility


@pytest.mark.parametrize("penalty", ["l2", "l1", "group"])
@pytest.mark.parametrize("make", [IMMAXClassifier, BaselineClassifier])
def test_a_warm_start_saves_iterations(make, penalty, digits):
    X, y = digits
    cold = make(penalty=penalty, lam=1e-2).fit(X, y)
    warm = make(penalty=penalty, lam=1.05e-2, warm_start=True).fit(X, y)
    warm.set_params(lam=1e-2).fit(X, y)
    assert warm.n_iter_ < cold.n_iter_
    assert warm.objective_ == pytest.approx(cold.objective_, rel=1e-5)
    again = warm.n_iter_
    assert warm.fit(X, y).n_iter_ <= min(again, 2)


def test_a_warm_start_from_other_data_is_a_cold_one(binary, digits):
    model = IMMAXClassifier(warm_start=True).fit(*digits)
    model.fit(*binary)
    cold = IMMAXClassifier().fit(*binary)
    np.testing.assert_array_equal(model.coef_, cold.coef_)
    X, y = binary
    flipped = IMMAXClassifier(warm_start=True).fit(X, y)
    flipped.fit(X, np.where(y == cold.classes_[0], "a", "b"))
    np.testing.assert_array_equal(flipped.coef_, cold.coef_)
    with_other_biases = IMMAXClassifier(warm_start=True).fit(X.astype(np.float32), y)
    with_other_biases.set_params(fit_intercept=False).fit(X, y)
    bare = IMMAXClassifier(fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(with_other_biases.coef_, bare.coef_, atol=1e-6)


@pytest.mark.parametrize("lam", [0, -1.0, np.nan])
def test_a_lambda_that_is_not_positive_is_refused(lam, binary):
    with pytest.raises(ValueError, match="lam"):
        IMMAXClassifier(penalty="l1", lam=lam).fit(*binary)


def test_an_empty_model_predicts_by_its_biases(digits):
    X, y = digits
    model = IMMAXClassifier(penalty="l1", margins="equal", lam=10.0).fit(X, y)
    assert model.n_features_used_ == 0
    share = np.bincount(y) / len(y)
    np.testing.assert_allclose(model.predict_proba(X[:2]), np.tile(share, (2, 1)), atol=1e-6)


def test_penalties_that_make_no_sense_are_refused(binary):
    X, y = binary
    with pytest.raises(ValueError, match="penalty must be"):
        IMMAXClassifier(penalty="lasso").fit(X, y)
    with pytest.raises(ValueError, match="l1_ratio"):
        BaselineClassifier(penalty="elasticnet", l1_ratio=2).fit(X, y)
    with pytest.raises(ValueError, match="groups are for penalty='group'"):
        IMMAXClassifier(groups=np.arange(12)).fit(X, y)
    with pytest.raises(ValueError, match="each of the 12 features"):
        IMMAXClassifier(penalty="group", groups=[0, 1]).fit(X, y)
    with pytest.raises(ValueError, match="needs the penalty 'l2'"):
        IMMAXClassifier(penalty="l1", solver="lbfgs").fit(X, y)
    with pytest.raises(ValueError, match="needs a penalty with kinks"):
        IMMAXClassifier(solver="working-set").fit(X, y)
