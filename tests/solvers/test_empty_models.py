"""The smallest lam of an empty model: just above it is empty, just below it is not."""

from dataclasses import replace

import numpy as np
import pytest
from problems import make_problem

from immax.penalties import ElasticNet, GroupNorm, L1Norm
from immax.solvers import solve
from immax.solvers.empty_models import strongest_lam


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("omega", [L1Norm(), ElasticNet(0.3), GroupNorm(np.arange(6) // 2)])
@pytest.mark.parametrize(
    ("kind", "c"),
    [("immax", 2), ("immax", 3), ("exponential-sum", 3), ("ldam", 3)],
)
def test_just_above_and_just_below(kind, c, omega, intercept):
    problem = replace(make_problem(kind, c, intercept=intercept, n=40), omega=omega)
    lam = strongest_lam(problem)
    assert lam > 0
    above = solve(replace(problem, lam=1.0001 * lam))
    below = solve(replace(problem, lam=0.999 * lam))
    assert not problem.weights(above.theta).any()
    assert problem.weights(below.theta).any()


@pytest.mark.parametrize("c", [2, 3])
def test_the_hinge(c):
    problem = replace(make_problem("hinge-max", c, n=25), omega=L1Norm())
    lam = strongest_lam(problem)
    assert not problem.weights(solve(replace(problem, lam=1.001 * lam)).theta).any()
    assert problem.weights(solve(replace(problem, lam=0.99 * lam)).theta).any()


# Of groups, 40 samples take three times as long.
@pytest.mark.parametrize(
    ("omega", "n"), [(L1Norm(), 40), (ElasticNet(0.3), 40), (GroupNorm(np.arange(6) // 2), 20)]
)
def test_a_loss_that_bends_between_its_kinks(omega, n):
    problem = replace(make_problem("exponential-max", 3, n=n), omega=omega)
    lam = strongest_lam(problem)
    above = solve(replace(problem, lam=(1 + 3e-5) * lam), tol=1e-10, max_iter=5000)
    below = solve(replace(problem, lam=(1 - 3e-4) * lam), tol=1e-10, max_iter=5000)
    assert not problem.weights(above.theta).any()
    assert problem.weights(below.theta).any()


def test_features_that_say_nothing():
    problem = replace(make_problem("immax", 2), omega=L1Norm())
    assert strongest_lam(replace(problem, X=np.ones_like(problem.X))) <= 1e-12
    hinge = replace(make_problem("hinge-max", 2, n=30), omega=L1Norm())
    assert strongest_lam(replace(hinge, X=np.zeros_like(hinge.X))) == 0
