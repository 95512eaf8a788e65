"""Linear classifiers along a path of margins and penalties, on one fold."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_classification

from immax import IMMAXClassifier
from immax.search import PowerFamily
from immax.search.cells import LinearCells, LinearFits, linear_path
from immax.search.folds import Fold
from immax.search.samples import SearchSamples
from immax.search.weighted_family import WeightedFamily

POWERS, LAMS = [0.0, 1 / 3, 2 / 3], [1e-1, 1e-2]


@pytest.fixture(scope="module", params=[2, 3])
def sample(request):
    return make_classification(
        240,
        6,
        n_informative=5,
        n_redundant=0,
        n_classes=request.param,
        n_clusters_per_class=1,
        class_sep=0.7,
        weights=[0.7, 0.3] if request.param == 2 else [0.6, 0.3],
        random_state=0,
    )


def margins_of(y):
    return [PowerFamily().margins([power], np.bincount(y)) for power in POWERS]


@pytest.mark.parametrize("loss", ["logistic", "exponential", "hinge"])
@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_matrix])
def test_the_path_passes_through_the_solutions_of_single_fits(sample, loss, convert):
    X, y = sample
    margins = margins_of(y)
    fits = LinearFits(loss, tol=1e-8)
    path = list(linear_path(convert(X), y, fits, np.ones(240), margins, None, LAMS, certify=True))
    assert [(i, j) for i, j, *_ in path] == [(i, j) for j in range(2) for i in range(3)]
    for i, j, problem, theta in path:
        model = IMMAXClassifier(loss, lam=LAMS[j], margins=margins[i], tol=1e-8).fit(X, y)
        assert problem.objective(theta) == pytest.approx(model.objective_, rel=1e-7)
        own = np.hstack([model.coef_, model.intercept_[:, None]])
        centre = own.mean(axis=0) if len(own) > 1 else 0
        shift = theta.mean(axis=0) if len(own) > 1 else 0
        np.testing.assert_allclose(theta - shift, own - centre, atol=2e-3)


def test_samples_without_weight_are_left_out(sample):
    X, y = sample
    weight = (np.arange(240) < 200).astype(float)
    margins = margins_of(y)[1:2]
    fits = LinearFits("logistic", tol=1e-9)
    (whole,) = linear_path(X, y, fits, weight, margins, None, [1e-2])
    (part,) = linear_path(X[:200], y[:200], fits, np.ones(200), margins, None, [1e-2])
    np.testing.assert_allclose(whole.theta, part.theta, atol=1e-5)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_cells_of_a_fold(sample, fit_intercept):
    X, y = sample
    fold = Fold(np.arange(160), [np.arange(160, 240)])
    train, (test,) = fold
    family = WeightedFamily()
    points = [np.array([0.0, 0.0]), np.array([-1 / 3, 1.0])]
    fits = LinearFits("logistic", fit_intercept=fit_intercept, tol=1e-9)
    cells = LinearCells(SearchSamples(X, y, None, np.unique(y)), fits)
    found = cells.run(fold, family, points, np.array(LAMS))
    counts = np.bincount(y[train])
    np.testing.assert_array_equal(found.rows, test)
    for i, point in enumerate(points):
        rho, weights = family.margins(point, counts), family.weights(point, counts)
        np.testing.assert_array_equal(found.terms[i].margins, [rho])
        np.testing.assert_array_equal(found.terms[i].weights, [weights])
        for j, lam in enumerate(LAMS):
            model = IMMAXClassifier(
                lam=lam, margins=rho, weights=weights, fit_intercept=fit_intercept, tol=1e-9
            ).fit(X[train], y[train])
            scores = model.decision_function(X[test]).reshape(80, -1)
            shift = scores.mean(axis=1, keepdims=True) if scores.shape[1] > 1 else 0
            own = found.values[i, j]
            centre = own.mean(axis=1, keepdims=True) if own.shape[1] > 1 else 0
            np.testing.assert_allclose(own - centre, scores - shift, atol=2e-3)
    assert (found.fit_times > 0).all()
