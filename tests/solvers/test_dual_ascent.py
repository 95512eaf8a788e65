"""The dual's ascent against the other solvers, and its certificate."""

import numpy as np
import pytest
from scipy import sparse

from immax import IMMAXClassifier
from immax.losses.max_risks import MaxRisk
from immax.losses.risks import MarginRisk
from immax.losses.surrogates import SURROGATES
from immax.solvers import Problem, choose, solve
from immax.solvers.dual_ascent import dual_ascent, worth_ascending


def hinge(seed=0, n=400, d=30, lam=0.01, intercept=True, shift=False, dtype=np.float64):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.2
    y[:2] = True, False
    X = rng.normal(size=(n, d)) + 0.4 * y[:, None] + 0.5
    slope = np.where(y, 1 / 0.3, -1 / 0.7)
    weight = rng.uniform(0.2, 2, n)
    weight[rng.random(n) < 0.1] = 0
    parts = slope, rng.normal(size=n) * shift, weight / weight.sum()
    risk = MarginRisk(SURROGATES["hinge"], *(part.astype(dtype) for part in parts))
    return Problem(X.astype(dtype), risk, lam, intercept)


@pytest.mark.parametrize("lam", [1e-3, 1e-1, 10.0])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("shift", [True, False])
def test_it_reaches_the_optimum_of_the_other_solvers(lam, intercept, shift):
    problem = hinge(lam=lam, intercept=intercept, shift=shift)
    expected = solve(problem, "newton", tol=1e-9, max_iter=5000)
    found = dual_ascent(problem, tol=1e-6, max_iter=20_000)
    assert found.converged
    assert found.objective == pytest.approx(expected.objective, rel=2e-6)
    assert found.objective == pytest.approx(problem.objective(found.theta), rel=1e-12)
    assert found.gap <= 1e-6 * found.objective
    np.testing.assert_allclose(found.theta, expected.theta, atol=0.02 * np.abs(found.theta).max())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("seed", range(5))
def test_the_gap_is_a_bound_wherever_it_stops(seed, dtype):
    problem = hinge(seed, lam=10.0 ** (seed - 4), dtype=dtype)
    best = solve(hinge(seed, lam=10.0 ** (seed - 4)), "newton", tol=1e-10, max_iter=5000).objective
    for max_iter in (1, 2, 5, 20):
        found = dual_ascent(problem, tol=1e-9, max_iter=max_iter)
        assert found.gap >= found.objective - best - 1e-6 * best * (dtype == np.float32)
        assert found.n_iter <= max_iter
        assert found.theta.dtype == dtype


def test_left_out_coordinates_come_back():
    """From a start in the wrong place everything at its bound has to leave it."""
    problem = hinge(3, lam=0.01)
    best = solve(problem, "newton", tol=1e-9).objective
    wrong = -10 * solve(problem, "newton").theta
    found = dual_ascent(problem, wrong, tol=1e-6, max_iter=20_000)
    assert found.converged
    assert found.objective == pytest.approx(best, rel=2e-6)


def test_the_same_seed_gives_the_same_bits():
    problem = hinge(1)
    first, again = (dual_ascent(problem, random_state=7).theta for _ in range(2))
    np.testing.assert_array_equal(first, again)


def test_rows_of_zeros():
    problem = hinge(2)
    problem.X[::20] = 0
    found = dual_ascent(problem, max_iter=20_000)
    assert found.converged
    assert found.objective == pytest.approx(solve(problem, "newton").objective, rel=2e-6)


def test_it_is_chosen_for_large_dense_hinges_of_two_classes():
    large = hinge(n=400, d=2600)
    assert choose(large) == "dual"
    for X in (np.asfortranarray(large.X), sparse.csr_matrix(large.X), large.X[:300]):
        problem = Problem(X, large.risk, 0.1)
        assert not worth_ascending(problem)
        assert choose(problem) == "lbfgs"
    many = MaxRisk(SURROGATES["hinge"], np.arange(400) % 3, np.ones(3), np.full(400, 1 / 400))
    assert choose(Problem(large.X, many, 0.1)) == "lbfgs"
    soft = MarginRisk(SURROGATES["logistic"], large.risk.slope, large.risk.shift, large.risk.weight)
    assert choose(Problem(large.X, soft, 0.1)) == "lbfgs"


def test_the_estimator_s_fit_by_the_dual_is_that_of_lbfgs():
    problem = hinge(n=500, d=2600)
    y = problem.risk.slope > 0
    options = {"loss": "hinge", "lam": 0.3, "max_iter": 5000}
    dual, primal = (
        IMMAXClassifier(**options, solver=solver).fit(problem.X, y) for solver in ("auto", "lbfgs")
    )
    assert dual.objective_ == pytest.approx(primal.objective_, rel=3e-6)
    assert dual.gap_ <= 1e-6 * dual.objective_
    assert (dual.predict(problem.X) == primal.predict(problem.X)).mean() > 0.99
