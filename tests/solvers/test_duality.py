"""Dual bounds: below the optimum anywhere, and tight at the optimum."""

from dataclasses import replace

import numpy as np
import pytest
from problems import make_problem

from immax.penalties import ElasticNet, GroupNorm, L1Norm, SquaredL2
from immax.solvers import solve
from immax.solvers.biases import best_biases
from immax.solvers.duality import dual_bound


def bound_at(problem, theta):
    theta = theta.copy()
    settled = best_biases(problem.risk, problem.scores(theta))
    theta[:, -1] += settled.biases
    inner = np.sum(settled.residuals * settled.scores)
    gradient = problem.pull_back(settled.residuals)
    return dual_bound(problem, theta, gradient, settled.value - inner)


@pytest.mark.parametrize("c", [2, 3])
@pytest.mark.parametrize("omega", [SquaredL2(), L1Norm(), ElasticNet(0.9), GroupNorm()])
def test_a_bound_at_any_point_is_below_the_optimum(omega, c):
    problem = replace(make_problem("immax", c), omega=omega)
    optimum = solve(problem, tol=1e-11)
    rng = np.random.default_rng(0)
    for scale in (0.0, 0.1, 10.0):
        theta = optimum.theta + scale * rng.normal(size=problem.shape)
        assert bound_at(problem, theta) <= optimum.objective * (1 + 1e-12)
    assert bound_at(problem, optimum.theta) == pytest.approx(optimum.objective, rel=1e-6)


def test_overflow_gives_no_bound():
    problem = replace(make_problem("immax", 2), omega=L1Norm())
    bad = np.full(problem.shape, np.inf)
    assert dual_bound(problem, problem.zeros(), bad, 0.3) == -np.inf
    assert dual_bound(problem, problem.zeros(), problem.zeros(), np.nan) == -np.inf
