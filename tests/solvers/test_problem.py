"""The problem's own arithmetic, dense and sparse."""

import numpy as np
import pytest
from problems import make_data, make_problem, make_risk
from scipy import sparse

from immax.solvers import Problem
from immax.solvers.problem import is_smooth


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("c", [2, 3])
@pytest.mark.parametrize("convert", [np.asarray, np.asfortranarray, sparse.csr_matrix])
def test_scores_and_their_adjoint(convert, c, intercept):
    X, y, weight = make_data(c)
    problem = Problem(convert(X), make_risk("immax", c, y, weight), 0.1, intercept)
    rng = np.random.default_rng(0)
    theta = rng.normal(size=problem.shape)
    scores = problem.scores(theta)
    expected = X @ theta[:, : X.shape[1]].T + (theta[:, -1] if intercept else 0)
    np.testing.assert_allclose(scores, expected)
    assert scores.flags.f_contiguous
    residuals = np.asfortranarray(rng.normal(size=scores.shape))
    assert np.vdot(problem.pull_back(residuals), theta) == pytest.approx(np.vdot(residuals, scores))
    assert problem.penalty(theta) == pytest.approx(0.1 * (theta[:, : X.shape[1]] ** 2).sum())
    gradient = problem.penalty_gradient(theta)
    np.testing.assert_allclose(problem.weights(gradient), 0.2 * problem.weights(theta))
    assert not intercept or not gradient[:, -1].any()
    risk = problem.risk.value(scores)
    assert problem.objective(theta) == pytest.approx(risk + problem.penalty(theta))


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_matrix])
def test_another_risk_on_the_same_features(convert):
    X, y, weight = make_data(2)
    problem = Problem(convert(X), make_risk("immax", 2, y, weight), 0.1, fit_intercept=False)
    other = make_risk("hinge-max", 2, y, weight)
    changed = problem.with_risk(other, lam=0.3)
    assert changed == Problem(problem.X, other, 0.3, False)
    assert problem.with_risk(other).lam == 0.1
    theta = np.ones(problem.shape)
    np.testing.assert_array_equal(changed.scores(theta), problem.scores(theta))


def test_what_is_smooth():
    assert is_smooth(make_problem("immax", 2))
    assert not is_smooth(make_problem("hinge-max", 2))
    assert not is_smooth(make_problem("logistic-max", 3))
    assert is_smooth(make_problem("logistic-max", 2))


def test_the_number_of_entries():
    problem = make_problem("immax", 2)
    assert problem.n_entries == 720
    assert Problem(sparse.csr_matrix(np.eye(5)), problem.risk, 0.1).n_entries == 5
