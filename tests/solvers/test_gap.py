"""Gaps as bounds, and the biases that make them so."""

import numpy as np
import pytest
from problems import make_problem

from immax.solvers import Newton
from immax.solvers.gap import Certifier, reachable_tol, settle_biases
from immax.solvers.line_search import Point


@pytest.mark.parametrize("c", [2, 4])
@pytest.mark.parametrize("kind", ["immax", "exponential-sum", "ldam"])
def test_settled_biases_have_no_slope(kind, c):
    problem = make_problem(kind, c)
    theta = 0.01 * np.random.default_rng(0).normal(size=problem.shape)
    before = Point.at(problem, theta)
    point = settle_biases(problem, theta, before.scores)
    assert np.abs(point.gradient[:, -1]).max() < 1e-12 < np.abs(before.gradient[:, -1]).max()
    assert point.value < before.value
    np.testing.assert_array_equal(problem.weights(point.theta), problem.weights(theta))
    again = Point.at(problem, point.theta)
    np.testing.assert_allclose(point.gradient, again.gradient, atol=1e-12)
    np.testing.assert_allclose(point.scores, again.scores, atol=1e-12)
    assert point.value == pytest.approx(again.value, rel=1e-12)


def test_without_biases_nothing_moves():
    problem = make_problem("immax", 3, intercept=False)
    theta = 0.01 * np.random.default_rng(0).normal(size=problem.shape)
    point = settle_biases(problem, theta, problem.scores(theta))
    np.testing.assert_array_equal(point.theta, theta)


@pytest.mark.parametrize("scale", [1e-3, 1e-2, 1.0])
def test_the_gap_is_a_bound_anywhere(scale):
    problem = make_problem("immax", 3)
    best = Newton(tol=1e-12).solve(problem)
    theta = best.theta + scale * np.random.default_rng(0).normal(size=problem.shape)
    solution = Certifier(problem, 1e-6).solution(Point.at(problem, theta), 7)
    assert solution.gap >= solution.objective - best.objective > 0
    assert solution.n_iter == 7
    assert not solution.converged


def test_only_a_gap_within_the_tolerance_is_accepted():
    problem = make_problem("immax", 3)
    best = Newton(tol=1e-12).solve(problem).theta
    near, far = Point.at(problem, best + 1e-7), Point.at(problem, best + 0.1)
    for stopping in ("gap", "estimate", "bounded", "decrease"):
        certifier = Certifier(problem, 1e-6, stopping)
        assert not certifier.accepts(far, -far.gradient)
        assert certifier.accepts(near, -near.gradient)
        assert certifier.solution(near, 1).converged
    # The step that is promised next may be much smaller than the gap.
    assert Certifier(problem, 1e-6, "decrease").accepts(far, -1e-9 * far.gradient)
    for stopping in ("gap", "bounded"):
        assert not Certifier(problem, 1e-6, stopping).accepts(far, -1e-9 * far.gradient)


def test_the_precision_of_the_arithmetic_limits_the_tolerance():
    assert reachable_tol(1e-2, np.dtype(np.float32)) == 1e-2
    assert reachable_tol(1e-9, np.dtype(np.float32)) == pytest.approx(1e-3, rel=0.1)
    assert reachable_tol(0, np.dtype(np.float64)) == pytest.approx(4.5e-8, rel=0.1)
