"""Dual coordinate ascent against the other solvers, and its certificate."""

import numpy as np
import pytest
from problems import make_hinge, make_problem
from scipy import sparse

from immax import IMMAXClassifier
from immax.solvers import DualAscent, Problem, UnsupportedProblemError, solve
from immax.solvers.memory import Memory
from immax.solvers.multipliers import MultiplierMethod


@pytest.mark.parametrize("lam", [1e-3, 1e-1, 10.0])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("shift", [True, False])
def test_it_reaches_the_optimum_of_the_other_solvers(lam, intercept, shift):
    problem = make_hinge(lam=lam, intercept=intercept, shift=shift)
    expected = solve(problem, "newton", tol=1e-9, max_iter=5000)
    solution = DualAscent(tol=1e-6, max_iter=20_000).solve(problem)
    assert solution.converged
    assert solution.objective == pytest.approx(expected.objective, rel=2e-6)
    assert solution.objective == pytest.approx(problem.objective(solution.theta), rel=1e-12)
    assert solution.gap <= 1e-6 * solution.objective
    np.testing.assert_allclose(
        solution.theta, expected.theta, atol=0.02 * np.abs(solution.theta).max()
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("seed", range(5))
def test_the_gap_is_a_bound_wherever_it_stops(seed, dtype):
    problem = make_hinge(seed, lam=10.0 ** (seed - 4), dtype=dtype)
    best = solve(
        make_hinge(seed, lam=10.0 ** (seed - 4)), "newton", tol=1e-10, max_iter=5000
    ).objective
    for max_iter in (1, 2, 5, 20):
        solution = DualAscent(tol=1e-9, max_iter=max_iter).solve(problem)
        assert solution.gap >= solution.objective - best - 1e-6 * best * (dtype == np.float32)
        assert solution.n_iter <= max_iter
        assert solution.theta.dtype == dtype


def test_skipped_coordinates_come_back():
    """From a start in the wrong place everything at its bound has to leave it."""
    problem = make_hinge(3, lam=0.01)
    best = solve(problem, "newton", tol=1e-9).objective
    wrong = -10 * solve(problem, "newton").theta
    solution = DualAscent(tol=1e-6, max_iter=20_000).solve(problem, wrong)
    assert solution.converged
    assert solution.objective == pytest.approx(best, rel=2e-6)


@pytest.mark.parametrize("method", [DualAscent, MultiplierMethod])
@pytest.mark.parametrize("intercept", [True, False])
def test_multipliers_of_a_similar_problem_are_a_warm_start(intercept, method):
    memory = Memory()
    strong = make_hinge(lam=0.02, intercept=intercept)
    start = method(tol=1e-6, max_iter=20_000).solve(strong, strong.zeros(), memory).theta
    weak = make_hinge(lam=0.01, intercept=intercept)
    cold = DualAscent(tol=1e-6, max_iter=20_000).solve(weak, start)
    warm = DualAscent(tol=1e-6, max_iter=20_000).solve(weak, start, memory)
    assert warm.converged
    assert warm.objective == pytest.approx(cold.objective, rel=2e-6)
    if method is DualAscent:  # those of the other method need not save passes
        assert warm.n_iter < cold.n_iter
    after = MultiplierMethod(tol=1e-6).solve(weak, warm.theta, memory)
    assert after.converged
    assert after.objective == pytest.approx(cold.objective, rel=2e-6)


def test_the_same_seed_gives_the_same_bits():
    problem = make_hinge(1)
    first, again = (DualAscent(random_state=7).solve(problem).theta for _ in range(2))
    np.testing.assert_array_equal(first, again)


def test_rows_of_zeros():
    problem = make_hinge(2)
    problem.X[::20] = 0
    solution = DualAscent(max_iter=20_000).solve(problem)
    assert solution.converged
    assert solution.objective == pytest.approx(solve(problem, "newton").objective, rel=2e-6)


def test_columns_in_memory_give_the_same():
    problem = make_hinge(1)
    columns = Problem(np.asfortranarray(problem.X), problem.risk, problem.lam)
    first, again = (DualAscent().solve(each).theta for each in (problem, columns))
    np.testing.assert_array_equal(first, again)


def test_what_it_needs_is_named(monkeypatch):
    problem = make_hinge()
    large = make_hinge(n=400, d=2600)
    assert DualAscent().unsupported(large) is None
    assert DualAscent().suits(large)
    assert not DualAscent().suits(problem)
    assert not DualAscent().suits(Problem(np.asfortranarray(large.X), large.risk, 0.1))
    for other in (make_problem("immax", 2), make_problem("hinge-max", 3)):
        with pytest.raises(UnsupportedProblemError, match="the hinge loss of two classes"):
            DualAscent().solve(other)
    with pytest.raises(UnsupportedProblemError, match="dense features"):
        DualAscent().solve(Problem(sparse.csr_matrix(problem.X), problem.risk, 0.1))
    monkeypatch.setattr("immax.solvers.dual_ascent.has_numba", lambda: False)
    with pytest.raises(UnsupportedProblemError, match="Numba"):
        DualAscent().solve(problem)


def test_the_estimator_takes_it_by_name():
    problem = make_hinge()
    y = problem.risk.slope > 0
    dual, auto = (
        IMMAXClassifier("hinge", solver=solver, lam=0.1, max_iter=20_000).fit(problem.X, y)
        for solver in ("dual", "auto")
    )
    assert dual.objective_ == pytest.approx(auto.objective_, rel=2e-6)
    assert (dual.coef_ != auto.coef_).any()
    with pytest.raises(ValueError, match="solver='dual' needs the hinge loss of two classes"):
        IMMAXClassifier(solver="dual").fit(problem.X, y)
    with pytest.raises(ValueError, match="solver='dual' needs dense features"):
        IMMAXClassifier("hinge", solver="dual").fit(sparse.csr_matrix(problem.X), y)


def test_the_fit_of_an_estimator_by_the_dual_is_that_of_lbfgs():
    problem = make_hinge(n=500, d=2600)
    y = problem.risk.slope > 0
    options = {"loss": "hinge", "lam": 0.3, "max_iter": 5000}
    # L-BFGS reaches a gap of 1e-6 only slowly, with some of the libraries of linear algebra.
    dual, primal = (
        IMMAXClassifier(**options, solver=solver, tol=tol).fit(problem.X, y)
        for solver, tol in (("auto", 1e-6), ("lbfgs", 1e-5))
    )
    assert dual.objective_ == pytest.approx(primal.objective_, rel=1.1e-5)
    assert dual.gap_ <= 1e-6 * dual.objective_
    assert (dual.predict(problem.X) == primal.predict(problem.X)).mean() > 0.99
