"""The method of multipliers against an independent solver of the exact problem."""

import numpy as np
import pytest
from exact_optima import cvxpy_optimum
from problems import KINKED, make_data, make_problem, make_risk
from sklearn.datasets import make_classification

from immax.penalties import ElasticNet
from immax.solvers import (
    LBFGS,
    MultiplierMethod,
    MultiplierMethodLBFGS,
    MultiplierMethodWorkingSets,
    Newton,
    Problem,
    UnsupportedProblemError,
    solve,
)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("c", [2, 3, 5])
@pytest.mark.parametrize("kind", KINKED)
def test_kinked_risks_reach_the_optimum_of_cvxpy(kind, c, intercept):
    X, y, weight = make_data(c, n=50)
    expected = cvxpy_optimum(kind, c, X, y, weight, 0.01, intercept)
    for solver in ("newton", "lbfgs"):
        problem = Problem(X, make_risk(kind, c, y, weight), 0.01, intercept)
        solution = solve(problem, solver, tol=1e-7, max_iter=20_000)
        assert solution.converged
        assert solution.objective == pytest.approx(expected, rel=1e-6)
        assert solution.objective - expected <= solution.gap + 1e-7 * expected
        assert solution.objective == pytest.approx(problem.objective(solution.theta), rel=1e-12)


def test_any_smooth_solver_minimises_the_envelopes():
    problem = make_problem("hinge-max", 3)
    solvers = (
        MultiplierMethod(),
        MultiplierMethodLBFGS(),
        MultiplierMethod(inner=LBFGS(memory_size=20), patience=300),
    )
    newton, lbfgs, same = (solver.solve(problem) for solver in solvers)
    assert newton.objective == pytest.approx(lbfgs.objective, rel=2e-6)
    assert newton.n_iter < lbfgs.n_iter
    np.testing.assert_array_equal(lbfgs.theta, same.theta)
    assert MultiplierMethod().inner == Newton(stopping="estimate")


def test_no_round_is_repeated_at_the_precision_of_the_arithmetic(monkeypatch):
    X, y = make_classification(
        400, 12, n_informative=6, weights=[0.85], class_sep=0.7, random_state=0
    )
    risk = make_risk("hinge-max", 2, y[:150], np.full(150, 1 / 150))
    envelope, rounds = type(risk).envelope, []

    def note(self, multipliers, stiffness):
        rounds.append((None if multipliers is None else multipliers.tobytes(), stiffness))
        return envelope(self, multipliers, stiffness)

    monkeypatch.setattr(type(risk), "envelope", note)
    problem = Problem(X[:150], risk, 0.02, omega=ElasticNet(0.5))
    solution = MultiplierMethodWorkingSets(tol=1e-16).solve(problem)
    assert solution.gap < 1e-12 * solution.objective
    assert len(rounds) > 10
    assert len(set(rounds)) == len(rounds)


def test_smooth_risks_are_not_supported():
    with pytest.raises(UnsupportedProblemError, match="needs a risk with kinks"):
        MultiplierMethod().solve(make_problem("immax", 3))
