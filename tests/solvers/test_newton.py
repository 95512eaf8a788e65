"""Newton's method: its Hessian, its directions and its optimum."""

import numpy as np
import pytest
from problems import SMOOTH, make_problem
from scipy.optimize import minimize

from immax.solvers import LBFGS, Newton, UnsupportedProblemError
from immax.solvers.line_search import Point
from immax.solvers.newton import hessian, unit_hessian


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("c", [2, 3, 5])
@pytest.mark.parametrize("kind", SMOOTH)
def test_smooth_solvers_reach_the_optimum_of_scipy(kind, c, intercept):
    problem = make_problem(kind, c, intercept=intercept)

    def objective(flat):
        point = Point.at(problem, flat.reshape(problem.shape))
        return point.value, point.gradient.ravel()

    options = {"maxiter": 20_000, "maxfun": 50_000, "ftol": 1e-15, "gtol": 1e-9}
    reference = minimize(
        objective, problem.zeros().ravel(), jac=True, method="L-BFGS-B", options=options
    )
    for solver in (Newton(tol=1e-9), LBFGS(tol=1e-9)):
        solution = solver.solve(problem)
        assert solution.converged
        assert solution.objective <= reference.fun * (1 + 1e-7)
        assert solution.objective == pytest.approx(problem.objective(solution.theta), rel=1e-12)
        slope = Point.at(problem, solution.theta).gradient
        assert np.abs(slope).max() < 1e-4
        if problem.risk.convex:
            assert solution.objective - reference.fun <= solution.gap + 1e-13
            assert solution.gap <= 1e-9 * solution.objective
        else:
            assert solution.gap is None


def test_estimates_do_without_settled_biases():
    problem = make_problem("immax", 3)
    certified, estimated = (
        Newton(tol=1e-7, stopping=stopping).solve(problem) for stopping in ("gap", "estimate")
    )
    assert estimated.gap is None
    assert estimated.converged
    assert estimated.objective == pytest.approx(certified.objective, rel=1e-7)


@pytest.mark.parametrize("kind", ["immax", "focal", "exponential-sum"])
def test_hessian_by_finite_differences(kind):
    problem = make_problem(kind, 3)
    theta = np.random.default_rng(0).normal(scale=0.05, size=problem.shape)
    matrix = hessian(problem, problem.risk.curvature(problem.scores(theta)))
    step = 1e-6
    for k in range(theta.size):
        shift = step * np.eye(theta.size)[k].reshape(theta.shape)
        ahead = Point.at(problem, theta + shift).gradient
        behind = Point.at(problem, theta - shift).gradient
        expected = (ahead - behind).ravel() / (2 * step)
        np.testing.assert_allclose(matrix[:, k], expected, rtol=1e-4, atol=1e-5)


def test_the_scaled_hessian_has_a_unit_diagonal():
    problem = make_problem("immax", 2)
    curvature = problem.risk.curvature(problem.scores(problem.zeros()))
    matrix, scale = unit_hessian(problem, curvature)
    np.testing.assert_allclose(np.diagonal(matrix), 1)
    np.testing.assert_allclose(matrix / np.outer(scale, scale), hessian(problem, curvature))


def test_conjugate_gradients_replace_the_factorisation_of_a_large_matrix(monkeypatch):
    problem = make_problem("immax", 3)
    direct = Newton(tol=1e-10).solve(problem)
    monkeypatch.setattr("immax.solvers.newton.MAX_FACTORED", 0)
    iterative = Newton(tol=1e-10).solve(problem)
    assert iterative.objective == pytest.approx(direct.objective, rel=1e-9)
    assert (iterative.theta != direct.theta).any()


def test_kinks_are_not_supported():
    with pytest.raises(UnsupportedProblemError, match="'newton' needs a smooth risk"):
        Newton().solve(make_problem("hinge-max", 3))
