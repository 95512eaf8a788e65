"""Linear classifiers along a path of margins and penalties, on one fold."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_classification

from immax import IMMAXClassifier
from immax.search import PowerFamily
from immax.search.cells import LinearCells, linear_path
from immax.search.folds import Fold
from immax.search.held_out import HeldOutScorer
from immax.search.scoring import Scorer

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
    path = list(linear_path(convert(X), y, loss, np.ones(240), margins, LAMS, 1e-8, certify=True))
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
    (whole,) = linear_path(X, y, "logistic", weight, margins, [1e-2], 1e-9)
    (part,) = linear_path(X[:200], y[:200], "logistic", np.ones(200), margins, [1e-2], 1e-9)
    np.testing.assert_allclose(whole.theta, part.theta, atol=1e-5)


@pytest.mark.parametrize("rules", [["score"], ["score", "bayes"]])
def test_cells_of_a_fold(sample, rules):
    X, y = sample
    classes = np.unique(y)
    fold = Fold(np.arange(160), [np.arange(160, 240)])
    scorer = Scorer.probe("accuracy", "logistic", X, y, None, classes)
    held_out = HeldOutScorer(X, y, None, classes, "logistic", rules, scorer)
    points = [np.array([power]) for power in POWERS]
    results = LinearCells(held_out, 1e-7).run(fold, PowerFamily(), points, np.array(LAMS))
    train, (test,) = fold
    for i, rho in enumerate(margins_of(y[train])):
        for j, lam in enumerate(LAMS):
            for k, rule in enumerate(rules):
                model = IMMAXClassifier(lam=lam, margins=rho, rule=rule).fit(X[train], y[train])
                score = model.score(X[test], y[test])
                assert results.scores[i, j, k, 0] == pytest.approx(score, abs=0.013)
            own = model.predict_proba(X[test])[np.arange(80), y[test]]
            assert results.losses[i, j, 0] == pytest.approx(-np.log(own).mean(), rel=1e-3)
    assert (results.fit_times > 0).all()
    assert (results.score_times > 0).all()
