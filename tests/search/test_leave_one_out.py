"""Approximate leave-one-out against the exact one."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.metrics import balanced_accuracy_score
from sklearn.preprocessing import scale

from immax import IMMAXClassifier, IMMAXClassifierCV
from immax.links import immax_proba
from immax.search import IMMAXSVCCV, BoxFamily, PowerFamily
from immax.search.cells import LinearFits, linear_path
from immax.search.held_out import PointTerms
from immax.search.leave_one_out import left_out_scores
from immax.search.samples import SearchSamples


def two():
    return make_classification(
        90, 6, n_informative=4, weights=[0.85], class_sep=0.7, flip_y=0.05, random_state=0
    )


def three():
    return make_classification(
        90, 6, n_informative=4, n_classes=3, weights=[0.7, 0.2], class_sep=0.9, random_state=1
    )


def true_scores(X, y, power, lam, loss, weight=None):
    """Return the scores of every sample by a model of all others."""
    weight = np.ones(len(y)) if weight is None else weight
    rows = []
    for i in range(len(y)):
        others = np.arange(len(y)) != i
        counts = np.bincount(y[others], weights=weight[others])
        rho = PowerFamily().margins([power], counts)
        model = IMMAXClassifier(loss, lam=lam, margins=rho, tol=1e-10)
        model.fit(X[others], y[others], weight[others])
        rows.append(np.ravel(model.decision_function(X[[i]])))
    return centred(np.array(rows))


def centred(scores):
    return scores - scores.mean(axis=1, keepdims=True) if scores.shape[1] > 1 else scores


def one_step(X, y, power, lam, loss, weight=None):
    """Return the approximation, and the scores of the model of all samples."""
    weight = np.ones(len(y)) if weight is None else weight
    counts = np.bincount(y, weights=weight)
    family = PowerFamily()
    samples, fits = SearchSamples(X, y, weight, np.unique(y)), LinearFits(loss)
    path = linear_path(X, y, fits, weight, [family.margins([power], counts)], None, [lam])
    _, _, problem, theta = next(path)
    without = []
    for k in range(len(counts)):
        less = counts.copy()
        less[k] -= weight[y == k].mean()
        without.append(family.margins([power], less))
    terms = PointTerms(np.array(without), np.ones((len(counts), len(counts))))
    scores = left_out_scores(problem, theta, samples, weight, terms, fits)
    return centred(scores), centred(problem.scores(theta))


@pytest.mark.parametrize("sample", [two, three])
@pytest.mark.parametrize("loss", ["logistic", "exponential"])
@pytest.mark.parametrize(("power", "lam"), [(0.0, 1e-1), (1 / 3, 1e-2), (-0.5, 1e-4)])
def test_one_step_is_close_to_a_fit(sample, loss, power, lam):
    X, y = sample()
    expected = true_scores(X, y, power, lam, loss)
    found, full = one_step(X, y, power, lam, loss)
    moved = np.abs(full - expected)
    error = np.abs(found - expected)
    assert np.median(error) < 0.02 * np.median(moved)
    assert error.max() < 0.45 * moved.max()
    assert np.sqrt((error**2).mean()) < 0.3 * np.sqrt((moved**2).mean())


def test_a_sample_of_many_is_left_out_almost_exactly():
    X, y = make_classification(
        600, 4, n_informative=4, n_redundant=0, weights=[0.8], random_state=0
    )
    found, full = one_step(X, y, 1 / 3, 1e-2, "logistic")
    some = np.arange(0, 600, 60)
    for i in some:
        others = np.arange(600) != i
        rho = PowerFamily().margins([1 / 3], np.bincount(y[others]))
        model = IMMAXClassifier(lam=1e-2, margins=rho, tol=1e-10).fit(X[others], y[others])
        expected = model.decision_function(X[[i]])[0]
        assert abs(found[i, 0] - expected) < 0.02 * abs(full[i, 0] - expected) + 1e-6


def test_weights():
    X, y = two()
    weight = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    expected = true_scores(X, y, 1 / 3, 1e-2, "logistic", weight)
    found, full = one_step(X, y, 1 / 3, 1e-2, "logistic", weight)
    assert np.median(np.abs(found - expected)) < 0.05 * np.median(np.abs(full - expected))


@pytest.mark.parametrize("sample", [two, three])
def test_the_search_scores_what_is_left_out(sample):
    X, y = sample()
    model = IMMAXClassifierCV(cv="loo", lams=[1e-2, 1.0], n_margins=4).fit(X, y)
    assert model.n_splits_ == min(10, np.bincount(y).min())
    assert "split0_test_score" in model.cv_results_
    sizes = len(y) / model.n_splits_
    for cell in range(0, len(model.cv_results_["params"]), 3):
        params = model.cv_results_["params"][cell]
        power = params["parameters"][0]
        scores = true_scores(X, y, power, params["lam"], "logistic")
        if params["rule"] == "bayes":
            margins = [
                PowerFamily().margins([power], np.bincount(y[np.arange(len(y)) != i]))
                for i in range(len(y))
            ]
            rows = scores if scores.shape[1] > 1 else scores[:, 0]
            scores = np.vstack(
                [immax_proba(rows[i : i + 1], rho, "logistic") for i, rho in enumerate(margins)]
            )
        labels = scores.argmax(axis=1) if scores.shape[1] > 1 else (scores[:, 0] > 0).astype(int)
        # Groups differ by a sample in size, and the step by a label or two.
        true = np.mean(labels == y)
        assert abs(model.cv_results_["mean_test_score"][cell] - true) < 2.5 / len(y) + 0.3 / sizes


@pytest.mark.parametrize("scoring", ["balanced_accuracy", "neg_log_loss", "roc_auc"])
def test_any_scorer(scoring):
    X, y = load_breast_cancer(return_X_y=True)
    X = scale(X)
    options = {"lams": [1e-3, 1e-1], "n_margins": 4, "scoring": scoring, "one_se": False}
    loo = IMMAXClassifierCV(cv="loo", **options).fit(X, y)
    folds = IMMAXClassifierCV(cv=10, **options).fit(X, y)
    assert loo.best_score_ == pytest.approx(folds.best_score_, abs=0.02)


def test_sparse_features_and_other_families():
    X, y = two()
    dense = IMMAXClassifierCV(cv="loo", lams=[1e-2], family=BoxFamily()).fit(X, y)
    other = IMMAXClassifierCV(cv="loo", lams=[1e-2], family=BoxFamily())
    other.fit(sparse.csr_matrix(X), y)
    np.testing.assert_allclose(
        dense.cv_results_["mean_test_score"], other.cv_results_["mean_test_score"]
    )
    assert balanced_accuracy_score(y, dense.predict(X)) > 0.5


def test_repeated_samples_and_zero_weights():
    X, y = two()
    weight = np.ones(len(y))
    weight[::7] = 0
    model = IMMAXClassifierCV(cv="loo", lams=[1e-1], n_margins=2).fit(X, y, weight)
    assert np.isfinite(model.cv_results_["mean_test_score"]).all()


def test_what_is_refused():
    X, y = two()
    with pytest.raises(ValueError, match="smooth loss"):
        IMMAXClassifierCV("hinge", cv="loo").fit(X, y)
    with pytest.raises(ValueError, match="kinks"):
        IMMAXSVCCV(cv="loo").fit(X, y)
    with pytest.raises(ValueError, match="or 'loo'; got 'lou'"):
        IMMAXClassifierCV(cv="lou").fit(X, y)
    with pytest.raises(ValueError, match="1001 rows"):
        IMMAXClassifierCV(cv="loo").fit(np.zeros((20, 1000)), np.arange(20) % 2)
    alone = np.zeros(len(y), dtype=int)
    alone[0] = 1
    with pytest.raises(ValueError, match="has one"):
        IMMAXClassifierCV(cv="loo").fit(X, alone)
