"""The search for kernel machines."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.estimator_checks import parametrize_with_checks

from immax import IMMAXSVC, IMMAXSVCCV
from immax.search import PowerFamily


@parametrize_with_checks([IMMAXSVCCV(n_margins=2, Cs=[0.1, 1.0], cv=3)])
def test_scikit_learn_s_own_checks(estimator, check):
    check(estimator)


def sample(n_classes, n=240):
    return make_classification(
        n,
        6,
        n_informative=5,
        n_redundant=0,
        n_classes=n_classes,
        n_clusters_per_class=1,
        weights=np.geomspace(1, 0.3, n_classes) / np.geomspace(1, 0.3, n_classes).sum(),
        class_sep=0.8,
        random_state=0,
    )


@pytest.mark.parametrize("multiclass", ["max", "ovo"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("cache_size", [1000, 0.1])
def test_cells_are_what_separate_fits_give(n_classes, multiclass, cache_size):
    X, y = sample(n_classes)
    model = IMMAXSVCCV(
        gamma=0.2, n_margins=3, Cs=[0.05, 1.0], cv=3, multiclass=multiclass, cache_size=cache_size
    ).fit(X, y)
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    for index, cell in enumerate(model.cv_results_["params"]):
        for number, (train, test) in enumerate(folds.split(X, y)):
            rho = PowerFamily().margins(cell["parameters"], np.bincount(y[train]))
            fit = IMMAXSVC(gamma=0.2, C=cell["C"], margins=rho, multiclass=multiclass)
            score = fit.fit(X[train], y[train]).score(X[test], y[test])
            found = model.cv_results_[f"split{number}_test_score"][index]
            assert found == pytest.approx(score, abs=0.013)  # a sample on the boundary


def test_it_is_the_machine_that_it_chose():
    X, y = sample(3)
    model = IMMAXSVCCV(n_margins=3, Cs=[0.1, 1.0], cv=3).fit(X, y)
    same = IMMAXSVC(C=model.best_C_, margins=model.best_margins_).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), same.decision_function(X))
    np.testing.assert_array_equal(model.predict(X), same.predict(X))
    np.testing.assert_array_equal(model.dual_coef_, same.dual_coef_)
    assert not hasattr(model, "predict_proba")


def test_a_given_matrix():
    X, y = sample(2)
    K = pairwise_kernels(X, metric="rbf", gamma=0.2)
    options = {"n_margins": 3, "Cs": [0.1, 1.0], "cv": 3}
    named = IMMAXSVCCV(gamma=0.2, **options).fit(X, y)
    given = IMMAXSVCCV("precomputed", **options).fit(K, y)
    np.testing.assert_allclose(
        given.cv_results_["mean_test_score"], named.cv_results_["mean_test_score"], atol=0.01
    )
    np.testing.assert_array_equal(given.predict(K), given.best_estimator_.predict(K))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"Cs": []}, "Cs is empty"),
        ({"Cs": [-1.0]}, "Cs must be positive"),
        ({"kernel": "gauss"}, "kernel must be one of"),
        ({"aim": "f3"}, "unknown aim 'f3'"),
        ({"multiclass": "ovr"}, "multiclass must be one of"),
    ],
)
def test_bad_parameters_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        IMMAXSVCCV(**parameters).fit(*sample(2))
