"""Starts from a sample of the rows."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from immax.losses.margin_risks import MarginRisk
from immax.losses.surrogates import logistic
from immax.penalties import L1Norm
from immax.solvers import Problem
from immax.solvers.empty_models import strongest_lam
from immax.solvers.sampled_starts import sampled_start
from immax.solvers.working_sets import WorkingSets


def make_problem(y, X, lam=0.01):
    n = y.size
    risk = MarginRisk(logistic, np.where(y == 1, 1.0, -1.0), np.zeros(n), np.full(n, 1 / n))
    return Problem(X, risk, lam, omega=L1Norm())


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10_000, 4))
    return X, (X[:, 0] + rng.logistic(size=10_000) > 1).astype(int)


def test_the_start_is_close_and_the_solution_that_of_all_rows(data):
    X, y = data
    problem = make_problem(y, X)
    start = sampled_start(problem, WorkingSets())
    found = WorkingSets(tol=1e-10).solve(problem)
    from_zeros = WorkingSets(tol=1e-10).solve(problem, problem.zeros())
    assert found.converged
    assert found.gap <= 1e-10 * found.objective
    np.testing.assert_allclose(found.theta, from_zeros.theta, atol=1e-6)
    at_zeros = problem.objective(problem.zeros())
    assert problem.objective(start) - found.objective < 0.05 * (at_zeros - found.objective)


def test_sparse_features_and_few_rows_have_no_sample(data):
    X, y = data
    for problem in (make_problem(y, sparse.csr_matrix(X)), make_problem(y[:3000], X[:3000])):
        assert not sampled_start(problem, WorkingSets()).any()


def test_a_sample_may_lack_a_rare_class(data):
    X, _ = data
    y = np.zeros(len(X), dtype=int)
    y[1:60:2] = 1  # no row of the sample, which has every tenth
    problem = make_problem(y, X, lam=1e-4)
    found = WorkingSets(tol=1e-9).solve(problem)
    assert found.converged
    np.testing.assert_allclose(
        found.objective, WorkingSets(tol=1e-9).solve(problem, problem.zeros()).objective, rtol=1e-8
    )


@pytest.mark.parametrize("intercept", [True, False])
def test_the_empty_model_is_the_start_where_it_is_better(data, intercept):
    X, y = data
    problem = replace(make_problem(y, X), fit_intercept=intercept)
    lam = strongest_lam(problem)
    problem = replace(problem, lam=1.000001 * lam)
    # A sample has correlations of its own, and would keep features up to a tolerance of 1 %.
    found = WorkingSets(tol=1e-2).solve(problem)
    assert not problem.weights(found.theta).any()
    assert found.gap <= 1e-6 * found.objective
