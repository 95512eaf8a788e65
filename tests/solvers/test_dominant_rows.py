"""The preconditioner from the rows with the most curvature."""

from dataclasses import replace

import numpy as np
import pytest
from problems import make_data, make_problem, make_risk
from scipy import sparse

from immax.solvers import Problem
from immax.solvers.dominant_rows import (
    LEAST_COST,
    affordable_preconditioner,
    dominant_rows_preconditioner,
)
from immax.solvers.lbfgs import LBFGS
from immax.solvers.newton import hessian
from immax.solvers.preconditioners import (
    StrongPreconditioner,
    diagonal_preconditioner,
    strong_preconditioner,
)


def wide_problem(n=900, d=300, lam=1e-4, intercept=True):
    """Return a problem whose solution classifies most rows with a wide margin."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)) * np.geomspace(0.2, 5, d)
    signal = X @ rng.normal(size=d)
    y = (signal > 0.5 * signal.std()).astype(int)
    risk = make_risk("immax", 2, y, np.full(n, 1 / n))
    return Problem(X, risk, lam, intercept)


@pytest.mark.parametrize("intercept", [True, False])
def test_it_is_the_inverse_where_the_rows_hold_all_curvature(intercept):
    problem = wide_problem(intercept=intercept)
    rng = np.random.default_rng(0)
    weight = np.zeros(900)
    weight[rng.choice(900, 70, replace=False)] = 1 / 70
    problem = replace(problem, risk=replace(problem.risk, weight=weight))
    scores = problem.scores(0.1 * rng.normal(size=problem.shape))
    gradient = rng.normal(size=problem.shape)
    matrix = hessian(problem, problem.risk.curvature(scores))
    if intercept:  # the bias of the diagonal has a millionth of the whole curvature
        matrix[-1, -1] *= 1 + 1e-6
    found = dominant_rows_preconditioner(problem, scores, rng)(gradient)
    expected = np.linalg.solve(matrix, gradient.ravel())
    np.testing.assert_allclose(found.ravel(), expected, atol=1e-6 * np.abs(expected).max())


def test_other_rows_and_the_penalty_are_a_diagonal():
    problem = wide_problem()
    solution = LBFGS(tol=1e-3).solve(problem)
    scores = problem.scores(solution.theta)
    matrix = hessian(problem, problem.risk.curvature(scores))
    precondition = dominant_rows_preconditioner(problem, scores, np.random.default_rng(0))
    diagonal = diagonal_preconditioner(problem, scores, np.random.default_rng(0))

    def condition(solve):
        product = np.stack([solve(row[None, :])[0] for row in matrix], axis=1)
        values = np.linalg.eigvals(product).real
        return values.max() / values.min()

    assert condition(precondition) < 0.4 * condition(diagonal)


def test_rows_with_equal_curvatures_are_no_preconditioner():
    problem = wide_problem()
    scores = problem.scores(problem.zeros())
    assert dominant_rows_preconditioner(problem, scores, np.random.default_rng(0)) is None


def test_it_saves_iterations_and_is_as_accurate(monkeypatch):
    problem = wide_problem()
    with_rows = LBFGS(tol=1e-8).solve(problem)
    again = LBFGS(tol=1e-8).solve(problem)
    np.testing.assert_array_equal(with_rows.theta, again.theta)
    monkeypatch.setattr(
        "immax.solvers.lbfgs.affordable_preconditioner",
        lambda *_: StrongPreconditioner(diagonal_preconditioner, np.inf),
    )
    without = LBFGS(tol=1e-8).solve(problem)
    assert with_rows.converged
    assert without.converged
    assert with_rows.n_iter < 0.8 * without.n_iter
    assert with_rows.objective == pytest.approx(without.objective, rel=1e-7)


def test_problems_that_it_is_for():
    def chosen(problem):
        return affordable_preconditioner(problem, strong_preconditioner(problem))

    problem = wide_problem()
    build, cost = chosen(problem)
    assert build is dominant_rows_preconditioner
    assert cost == LEAST_COST
    others = [
        make_problem("immax", 2, n=2000, d=5),  # a block costs next to nothing
        replace(problem, X=sparse.csr_matrix(problem.X)),
    ]
    X, y, weight = make_data(3, n=900, d=300)
    others.append(Problem(X, make_risk("immax", 3, y, weight), 1e-4))
    for other in others:
        assert chosen(other) == strong_preconditioner(other)


def test_a_start_where_the_rows_hold_little():
    """The solver falls back on the diagonal where it has no preconditioner yet."""
    problem = wide_problem(lam=1.0)
    cold = LBFGS(tol=1e-9).solve(problem)
    warm = LBFGS(tol=1e-9).solve(problem, start=problem.zeros())
    assert warm.objective == pytest.approx(cold.objective, rel=1e-8)
