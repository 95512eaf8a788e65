"""The preconditioner with shared moments, where it is nearly exact."""

import numpy as np
import pytest

from immax.losses import LossSpec
from immax.losses.softmax_risks import SoftmaxRisk
from immax.solvers import Problem
from immax.solvers.preconditioners import curvature_sums
from immax.solvers.shared_moments import moment_preconditioner

N, D, C = 400, 3, 100


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("lam", [1e-8, 1e-3, 1.0])
def test_it_inverts_the_hessian_of_equal_scores(lam, fit_intercept):
    # The classes' probabilities are 1 / C there, and interact by another factor of 1 / C.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, D)) * [1, 10, 0.1] + [3, 0, 1]
    risk = SoftmaxRisk(LossSpec(np.ones(C)), rng.integers(0, C, N), np.full(N, 1 / N), None)
    problem = Problem(X, risk, lam, fit_intercept)
    scores = problem.scores(problem.zeros())
    precondition = moment_preconditioner(problem, *curvature_sums(risk, scores))
    step = rng.normal(size=problem.shape)
    step -= step.mean(axis=0)
    product = problem.pull_back(risk.curvature(scores).product(problem.scores(step)))
    found = precondition(product + problem.penalty_gradient(step))
    assert np.linalg.norm(found - step) <= 0.02 * np.linalg.norm(step)


def test_squares_of_large_features_do_not_overflow():
    X = np.random.default_rng(0).normal(size=(N, D)).astype(np.float32) * np.float32(1e22)
    risk = SoftmaxRisk(LossSpec(np.ones(C)), np.arange(N) % C, np.full(N, 1 / N, np.float32), None)
    problem = Problem(X, risk, 1e-3)
    precondition = moment_preconditioner(problem, np.ones(N), np.ones(C))
    assert np.isfinite(precondition(np.ones(problem.shape, np.float32))).all()


def test_classes_without_curvature_have_finite_steps():
    X = np.ones((4, 2), np.float32)
    risk = SoftmaxRisk(LossSpec(np.ones(3)), np.arange(4) % 3, np.full(4, 0.25, np.float32), None)
    problem = Problem(X, risk, 1e-3)
    gradient = np.ones(problem.shape, np.float32)
    for of_outputs in (np.zeros(3), np.array([1.0, 0, 0])):
        step = moment_preconditioner(problem, np.zeros(4), of_outputs)(gradient)
        assert np.isfinite(step).all()
        assert step.dtype == np.float32
