"""The kernel machines as their users meet them."""

import pickle
import warnings

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits, make_classification
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import log_loss, recall_score
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.fixes import parse_version

from immax import IMMAXSVC, IMMAXSVCCV, IMMAXClassifier
from immax.theory import certificate
from immax.theory.hypotheses import hypothesis

KERNELS = ["rbf", "linear", "poly", "sigmoid"]


SINGLES = "its labels hold classes of one sample"
BEYOND = {
    "precomputed": {
        **dict.fromkeys(
            [
                "check_dict_unchanged",
                "check_dont_overwrite_parameters",
                "check_f_contiguous_array_estimator",
                "check_fit2d_1feature",
                "check_fit2d_predict1d",
                "check_methods_sample_order_invariance",
                "check_methods_subset_invariance",
            ],
            SINGLES,
        ),
        "check_positive_only_tag_during_fit": "its kernel is not positive definite",
    },
    "calibrated": {
        **dict.fromkeys(
            [
                "check_sample_weight_equivalence_on_dense_data",
                "check_sample_weight_equivalence_on_sparse_data",
            ],
            "repeated samples fall into several folds",
        ),
        "check_classifiers_train": "labels are by scores, not by probabilities",
    },
}


if parse_version(sklearn.__version__) < parse_version("1.7"):
    BEYOND["precomputed"]["check_dtype_object"] = SINGLES


def beyond(estimator):
    return BEYOND["calibrated"] if estimator.calibrated else BEYOND.get(estimator.kernel, {})


@parametrize_with_checks(
    [
        IMMAXSVC(),
        IMMAXSVC("linear"),
        IMMAXSVC("poly", degree=2, coef0=1.0),
        IMMAXSVC(multiclass="ovo"),
        IMMAXSVC("precomputed"),
        IMMAXSVC(calibrated=True),
    ],
    expected_failed_checks=beyond,
)
def test_scikit_learn_s_own_checks(estimator, check):
    check(estimator)


def blobs(n_classes, n=90, seed=0, spread=1.0):
    """Classes of unequal sizes that overlap, the largest first."""
    rng = np.random.default_rng(seed)
    share = np.geomspace(1, 0.2, n_classes)
    y = np.concatenate([np.arange(n_classes), np.arange(n_classes)])
    y = np.concatenate([y, rng.choice(n_classes, n - y.size, p=share / share.sum())])
    return spread * rng.standard_normal((n_classes, 4))[y] + rng.standard_normal((n, 4)), y


def binary(n=300, seed=0):
    return make_classification(
        n, 6, n_informative=4, weights=[0.85], class_sep=0.8, flip_y=0.02, random_state=seed
    )


# --- what it minimises -----------------------------------------------------------------------


def reference(K, y, rho, lam, weight):
    """The objective's optimum by an interior-point solver, over the features of K."""
    values, vectors = np.linalg.eigh(K)
    Z = vectors[:, values > 1e-12] * np.sqrt(values[values > 1e-12])
    share = weight / weight.sum()
    c = len(rho)
    if c == 2:
        w, b = cp.Variable(Z.shape[1]), cp.Variable()
        slope = np.where(y == 1, 1, -1) / rho[y]
        slack = cp.pos(1 - cp.multiply(Z @ w + b, slope))
    else:
        w, b = cp.Variable((Z.shape[1], c)), cp.Variable((1, c))
        h = Z @ w + np.ones((len(y), 1)) @ b
        rows = np.arange(len(y))
        margins = [h[rows, y] - h[rows, (y + step) % c] for step in range(1, c)]
        slack = cp.pos(1 - cp.multiply(cp.minimum(*margins), 1 / rho[y]))
    problem = cp.Problem(cp.Minimize(lam * cp.sum_squares(w) + share @ slack))
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    return problem.value


@pytest.mark.parametrize("margins", ["theory", "equal", "odd"])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
def test_the_objective_is_that_of_an_independent_solver(kernel, n_classes, margins):
    X, y = blobs(n_classes, 60)
    weight = np.random.default_rng(1).uniform(0.5, 2, len(y))
    if margins == "odd":
        margins = np.linspace(0.2, 1.7, n_classes)
    lam = 0.01
    options = {"gamma": 0.2, "coef0": 1.0, "degree": 2}
    model = IMMAXSVC(kernel, **options, lam=lam, margins=margins, tol=1e-8)
    model.fit(X, y, sample_weight=weight)
    K = pairwise_kernels(X, metric=kernel, filter_params=True, **options)
    best = reference(K, y, model.margins_, lam, weight)
    assert model.objective_ == pytest.approx(best, rel=1e-6)
    assert model.gap_ <= 1e-6 * model.objective_


@pytest.mark.parametrize("multiclass", ["max", "ovo"])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_the_objective_and_the_gap_are_what_they_are_called(n_classes, multiclass):
    """Recomputed from the fitted attributes by plain loops."""
    X, y = blobs(n_classes, 400)
    model = IMMAXSVC(gamma=0.2, C=0.7, tol=1e-2, multiclass=multiclass).fit(X, y)
    lam = 1 / (2 * 0.7 * len(y))
    K = pairwise_kernels(model.support_vectors_, X, metric="rbf", gamma=0.2)
    scores = model.dual_coef_ @ K + model.intercept_[:, None]
    rho = model.margins_
    norm = np.sum((model.dual_coef_ @ K[:, model.support_]) * model.dual_coef_)
    primal, dual = lam * norm, -lam * norm
    if n_classes == 2 or multiclass == "ovo":
        row = 0
        for k in range(n_classes):
            for j in range(k + 1, n_classes):
                for i in range(len(y)):
                    if y[i] in (k, j):
                        sign = 1 if y[i] == j else -1
                        primal += max(0, 1 - sign * scores[row, i] / rho[y[i]]) / len(y)
                for i, coefficient in zip(model.support_, model.dual_coef_[row], strict=True):
                    dual += 2 * lam * abs(coefficient) * rho[y[i]]
                    assert coefficient * (1 if y[i] == j else -1) >= 0
                row += 1
    else:
        for i in range(len(y)):
            others = np.delete(scores[:, i], y[i])
            primal += max(0, 1 - (scores[y[i], i] - others.max()) / rho[y[i]]) / len(y)
        for i, coefficients in zip(model.support_, model.dual_coef_.T, strict=True):
            dual += 2 * lam * rho[y[i]] * coefficients[y[i]]
            assert coefficients.sum() == pytest.approx(0, abs=1e-12)
            assert (np.delete(coefficients, y[i]) <= 0).all()
            assert coefficients[y[i]] <= 0.7 / rho[y[i]] * (1 + 1e-9)
    np.testing.assert_allclose(model.dual_coef_.sum(axis=1), 0, atol=1e-9)
    assert model.objective_ == pytest.approx(primal, rel=1e-9)
    assert model.gap_ == pytest.approx(primal - dual, rel=1e-6, abs=1e-12)
    assert model.gap_ > 0


@pytest.mark.parametrize("kernel", [*KERNELS, "precomputed", "callable"])
def test_equal_margins_are_the_svm(kernel):
    X, y = binary(600)
    X = scale(X)
    given = X
    if kernel == "precomputed":
        given = pairwise_kernels(X, metric="rbf", gamma=0.1)
    elif kernel == "callable":

        def kernel(A, B):
            return (A @ B.T + 1) ** 2

    model = IMMAXSVC(kernel, C=2.0, margins="equal", coef0=0.1).fit(given, y)
    peer = SVC(kernel=kernel, C=2.0, coef0=0.1).fit(given, y)
    np.testing.assert_allclose(
        model.decision_function(given), peer.decision_function(given), atol=1e-6
    )
    np.testing.assert_array_equal(np.sort(model.support_), np.sort(peer.support_))
    np.testing.assert_allclose(model.intercept_, peer.intercept_, atol=1e-6)


@pytest.mark.parametrize("kernel", KERNELS)
def test_equal_margins_are_the_svm_for_pairs(kernel):
    X, y = blobs(4, 500)
    model = IMMAXSVC(kernel, C=2.0, margins="equal", multiclass="ovo", tol=1e-8).fit(X, y)
    peer = SVC(kernel=kernel, C=2.0, decision_function_shape="ovo", tol=1e-8).fit(X, y)
    # Theirs are positive for the first class of a pair.
    np.testing.assert_allclose(-model._scores(X), peer.decision_function(X), atol=1e-4)
    assert np.mean(model.predict(X) == peer.predict(X)) > 0.97  # ties are broken otherwise


def test_pairs_have_the_margins_of_their_classes():
    X, y = blobs(3, 400)
    margins = np.array([0.5, 1.0, 2.0])
    model = IMMAXSVC(margins=margins, multiclass="ovo", gamma=0.2, C=2.0).fit(X, y)
    for row, (k, j) in enumerate([(0, 1), (0, 2), (1, 2)]):
        members = np.isin(y, (k, j))
        pair = IMMAXSVC(margins=margins[[k, j]], gamma=0.2, C=2.0).fit(X[members], y[members])
        np.testing.assert_array_equal(pair.margins_, margins[[k, j]])
        np.testing.assert_allclose(model._scores(X)[:, row], pair.decision_function(X), atol=1e-9)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_a_linear_kernel_is_the_linear_machine(n_classes):
    X, y = blobs(n_classes, 400)
    lam = 0.005
    dual = IMMAXSVC("linear", lam=lam, tol=1e-8).fit(X, y)
    primal = IMMAXClassifier("hinge", lam=lam, tol=1e-9).fit(X, y)
    assert dual.objective_ == pytest.approx(primal.objective_, rel=1e-6)
    mine, theirs = dual.decision_function(X), primal.decision_function(X)
    if n_classes > 2:
        theirs = theirs - theirs.mean(axis=1, keepdims=True)
        mine = mine - mine.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(mine, theirs, atol=2e-3)


def test_lam_replaces_c():
    X, y = blobs(3, 200)
    by_lam = IMMAXSVC(lam=0.01, C=123.0).fit(X, y)
    by_C = IMMAXSVC(C=1 / (2 * 0.01 * 200)).fit(X, y)
    np.testing.assert_allclose(by_lam.decision_function(X), by_C.decision_function(X), rtol=1e-9)


def test_separable_margins_stand_as_the_cube_roots_of_the_counts():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.uniform(0, 1, (640, 2)), rng.uniform(0, 1, (10, 2)) + 3])
    y = np.repeat([0, 1], [640, 10])
    model = IMMAXSVC("linear", C=1e6, tol=1e-9).fit(X, y)
    scores = model.decision_function(X)
    margins = -scores[y == 0].max(), scores[y == 1].min()
    assert margins[0] / margins[1] == pytest.approx((640 / 10) ** (1 / 3), rel=1e-5)
    # The direction is the SVM's.
    peer = SVC(kernel="linear", C=1e6, tol=1e-9).fit(X, y)
    mine = (model.dual_coef_ @ model.support_vectors_)[0]
    cosine = mine @ peer.coef_[0] / np.linalg.norm(mine) / np.linalg.norm(peer.coef_)
    assert cosine == pytest.approx(1, abs=1e-9)


def test_margins_recover_a_class_that_the_svm_gives_up():
    """A small version of the paper's linear experiment: one digit against the others."""
    X, y = load_digits(return_X_y=True)
    X, y = scale(X), (y == 9).astype(int)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
    lam = 0.25
    recalls, accuracies = {}, {}
    for margins in ("equal", "theory"):
        model = IMMAXSVC("linear", lam=lam, margins=margins).fit(X, y)
        recalls[margins] = recall_score(y_test, model.predict(X_test))
        accuracies[margins] = model.score(X_test, y_test)
    assert recalls["equal"] < 0.1
    assert recalls["theory"] > 0.5
    assert accuracies["theory"] > accuracies["equal"] + 0.02


# --- data of every kind ------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("multiclass", ["max", "ovo"])
def test_sparse_data_give_the_same(kernel, multiclass):
    X, y = blobs(3, 300)
    X[np.abs(X) < 0.5] = 0
    with warnings.catch_warnings():
        if kernel == "sigmoid":  # not positive definite: there may be a gap at a stationary point
            warnings.simplefilter("ignore", ConvergenceWarning)
        dense = IMMAXSVC(kernel, multiclass=multiclass, C=0.1, tol=1e-8).fit(X, y)
        thin = clone(dense).fit(sparse.csr_matrix(X), y)
    np.testing.assert_allclose(thin.decision_function(X), dense.decision_function(X), atol=1e-4)
    np.testing.assert_allclose(
        dense.decision_function(sparse.csr_matrix(X)), dense.decision_function(X), atol=1e-9
    )


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kernel", ["rbf", "poly"])
@pytest.mark.parametrize("container", [sparse.csr_matrix, sparse.csr_array])
def test_entries_of_sparse_rows_add_up(n_classes, kernel, container):
    X, y = blobs(n_classes, 300)
    parts = np.stack([0.25 * X, 0.75 * X], axis=2).ravel()
    columns = np.tile(np.repeat(np.arange(X.shape[1]), 2), len(X))
    starts = np.arange(len(X) + 1) * 2 * X.shape[1]
    halves = container((parts, columns, starts), shape=X.shape)
    whole = IMMAXSVC(kernel, C=0.1, tol=1e-8).fit(X, y)
    expected = whole.decision_function(X)
    model = clone(whole).fit(halves, y)
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-4)
    np.testing.assert_allclose(whole.decision_function(halves), expected, atol=1e-9)
    assert halves.nnz == parts.size
    search = IMMAXSVCCV(kernel, Cs=[0.1, 1.0], n_margins=2, cv=2)
    scores = clone(search).fit(X, y).cv_results_["mean_test_score"]
    np.testing.assert_allclose(search.fit(halves, y).cv_results_["mean_test_score"], scores)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_matrix_and_a_function_give_the_same_as_the_name(n_classes):
    X, y = blobs(n_classes, 300)

    def rbf(A, B):
        return pairwise_kernels(A, B, metric="rbf", gamma=0.3)

    named = IMMAXSVC("rbf", gamma=0.3).fit(X, y)
    called = IMMAXSVC(rbf).fit(X, y)
    given = IMMAXSVC("precomputed").fit(rbf(X, X), y)
    new = X[::3] + 0.1
    for other, data in ((called, new), (given, rbf(new, X))):
        np.testing.assert_allclose(
            other.decision_function(data), named.decision_function(new), atol=1e-6
        )


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("options", [{"degree": 0.5}, {"degree": np.nan}, {"coef0": np.inf}])
def test_kernels_that_are_not_finite_are_refused(n_classes, options):
    X, y = blobs(n_classes, 60)
    for model in (IMMAXSVC("poly", **options), IMMAXSVCCV("poly", **options)):
        with pytest.raises(ValueError, match=f"^{next(iter(options))} must be a"):
            model.fit(X, y)
    whole = IMMAXSVC("poly", degree=2.0).fit(X, y)
    same = IMMAXSVC("poly", degree=2).fit(X, y)
    np.testing.assert_array_equal(whole.decision_function(X), same.decision_function(X))


def test_weights_of_zero_are_absent():
    X, y = blobs(3, 300)
    weight = np.ones(300)
    weight[::4] = 0
    K = pairwise_kernels(X, metric="rbf", gamma=0.3)
    weighted = IMMAXSVC("precomputed", tol=1e-9).fit(K, y, sample_weight=weight)
    kept = np.flatnonzero(weight)
    fewer = IMMAXSVC("rbf", gamma=0.3, tol=1e-9).fit(X[kept], y[kept])
    np.testing.assert_allclose(weighted.decision_function(K), fewer.decision_function(X), atol=1e-6)


def test_it_works_where_scikit_learn_s_do():
    X, y = blobs(3, 200)
    frame = pd.DataFrame(X, columns=list("abcd"))
    names = np.array(["rare", "some", "many"])[y]
    model = IMMAXSVC(margins={"many": 1, "some": 2, "rare": 3}).fit(frame, names)
    assert model.feature_names_in_.tolist() == list("abcd")
    assert set(model.predict(frame)) <= set(names)
    assert model.n_support_.sum() == len(model.support_)
    search = GridSearchCV(
        make_pipeline(StandardScaler(), IMMAXSVC()), {"immaxsvc__C": [0.1, 1]}, cv=2
    )
    assert search.fit(X, y).best_score_ > 0.5
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.decision_function(frame), model.decision_function(frame))


def test_the_same_every_time():
    X, y = blobs(4, 600)
    first = IMMAXSVC().fit(X, y).decision_function(X)
    np.testing.assert_array_equal(IMMAXSVC().fit(X, y).decision_function(X), first)


# --- probabilities -----------------------------------------------------------------------------


def test_there_are_no_probabilities_unless_they_are_asked_for():
    X, y = binary()
    model = IMMAXSVC().fit(X, y)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError) as caught:
        model.predict_proba(X)
    assert "calibrated=True" in str(caught.value.__cause__)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_calibrated_probabilities_come_from_held_out_scores(n_classes):
    X, y = blobs(n_classes, 600)
    model = IMMAXSVC(calibrated=True, C=10.0).fit(X[:300], y[:300])
    proba = model.predict_proba(X[300:])
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    prior = np.bincount(y[:300]) / 300
    assert log_loss(y[300:], proba) < 0.9 * log_loss(y[300:], np.tile(prior, (300, 1)))
    # The machine itself is the one that is fitted to everything.
    plain = clone(model).set_params(calibrated=False).fit(X[:300], y[:300])
    np.testing.assert_array_equal(model.decision_function(X), plain.decision_function(X))
    np.testing.assert_array_equal(model.predict(X), plain.predict(X))
    wrapped = CalibratedClassifierCV(plain, ensemble=False).fit(X[:300], y[:300])
    assert wrapped.predict_proba(X[300:]).shape == (300, n_classes)


# --- the theory ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", "callable"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_certificate(kernel, n_classes):
    X, y = blobs(n_classes, 400, spread=3.0)
    if kernel == "callable":

        def kernel(A, B):
            return pairwise_kernels(A, B, metric="rbf", gamma=0.1)

    model = IMMAXSVC(kernel, coef0=1.0).fit(X, y)
    found = certificate(model, X, y)
    options = {} if callable(kernel) else {"gamma": model.gamma_, "coef0": 1.0, "degree": 3}
    K = (
        pairwise_kernels(X, metric=kernel, filter_params=True, **options)
        if options
        else kernel(X, X)
    )
    among = K[np.ix_(model.support_, model.support_)]
    norm = np.sum((model.dual_coef_ @ among) * model.dual_coef_) + np.sum(model.intercept_**2)
    seen = hypothesis(model, X)
    assert seen.norm == pytest.approx(np.sqrt(norm))
    np.testing.assert_allclose(seen.squares, np.diag(K) + 1)
    np.testing.assert_array_equal(seen.scores, model.decision_function(X))
    assert found.training_error == pytest.approx(1 - model.score(X, y))
    assert found.best.empirical >= found.training_error


def test_voting_pairs_have_no_certificate():
    X, y = blobs(3, 100)
    with pytest.raises(ValueError, match="vote among pairs"):
        certificate(IMMAXSVC(multiclass="ovo").fit(X, y), X, y)


# --- bad input -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": 0}, "C must be a positive"),
        ({"C": -1.0}, "C must be a positive"),
        ({"lam": 0.0}, "lam must be a positive"),
        ({"lam": np.nan}, "lam must be a positive"),
        ({"tol": 0}, "tol must be a positive"),
        ({"gamma": -1}, "gamma must be a positive"),
        ({"gamma": "wide"}, "gamma must be one of 'scale', 'auto'"),
        ({"kernel": "gauss"}, "kernel must be one of"),
        ({"multiclass": "ovr"}, "multiclass must be one of 'max', 'ovo'"),
        ({"max_iter": 0}, "max_iter must be"),
        ({"cache_size": 0}, "cache_size must be a positive"),
        ({"margins": [1.0, 2.0]}, "an entry for each of the 3 classes"),
        ({"margins": {0: 1, 1: 1, 2: 1, 7: 1}}, r"unknown labels: \[7\]"),
        ({"margins": {0: 1, 1: 1}}, r"classes without a margin: \[2\]"),
        ({"margins": [1.0, -2.0, 1.0]}, "must be a positive"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    X, y = blobs(3)
    with pytest.raises(ValueError, match=message):
        IMMAXSVC(**parameters).fit(X, y)


def test_bad_kernels_are_refused():
    X, y = blobs(3, 90)
    K = pairwise_kernels(X, metric="rbf")
    with pytest.raises(ValueError, match="must be square"):
        IMMAXSVC("precomputed").fit(K[:, :-1], y)
    lopsided = K.copy()
    lopsided[3, 5] += 0.1
    with pytest.raises(ValueError, match="must be symmetric"):
        IMMAXSVC("precomputed").fit(lopsided, y)
    with pytest.raises(ValueError, match="not finite"):
        IMMAXSVC(lambda A, B: np.full((len(A), len(B)), np.nan)).fit(X, y)
    with pytest.raises(ValueError, match="must be square"):
        IMMAXSVC(lambda A, B: np.ones((len(A), 3))).fit(X, y)
    with pytest.raises(ValueError, match="NaN"):
        IMMAXSVC("precomputed").fit(np.full((90, 90), np.nan), y)


def test_a_class_of_one_sample_is_refused():
    X, y = blobs(3, 90)
    y = np.where(y == 2, 1, y)
    y[0] = 2
    with pytest.raises(ValueError, match=r"the classes \[2\] have one"):
        IMMAXSVC().fit(X, y)


def test_a_failed_fit_leaves_the_last_one():
    X, y = blobs(3, 90)
    model = IMMAXSVC().fit(X, y)
    before = model.decision_function(X)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.full_like(X, np.nan), y)
    with pytest.raises(ValueError, match="one class"):
        model.fit(X, np.zeros(90))
    np.testing.assert_array_equal(model.decision_function(X), before)
    with pytest.raises(NotFittedError):
        IMMAXSVC().decision_function(X)


@pytest.mark.parametrize(("n_classes", "multiclass"), [(2, "max"), (4, "max"), (4, "ovo")])
def test_a_fit_that_stops_early_says_how_far_it_got(n_classes, multiclass):
    X, y = blobs(n_classes, 3000)
    model = IMMAXSVC(max_iter=1, tol=1e-6, multiclass=multiclass)
    with pytest.warns(ConvergenceWarning, match="of the optimum") as caught:
        model.fit(X, y)
    assert len(caught) == 1
    assert f"within {model.gap_:.3g} of" in str(caught[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        better = clone(model).set_params(max_iter=-1).fit(X, y)
    assert model.objective_ - model.gap_ <= better.objective_ <= model.objective_
