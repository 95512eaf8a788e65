"""Preconditioners against the Hessian that they approximate."""

import numpy as np
import pytest
from problems import make_data, make_problem, make_risk
from scipy import sparse

from immax.solvers import Problem
from immax.solvers.newton import hessian
from immax.solvers.preconditioners import (
    above_zero,
    block_preconditioner,
    diagonal_preconditioner,
    shared_preconditioner,
    strong_preconditioner,
)


def at_zero(problem):
    scores = problem.scores(problem.zeros())
    return scores, hessian(problem, problem.risk.curvature(scores))


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_matrix])
def test_a_single_block_is_the_inverse_hessian(convert, intercept):
    X, y, weight = make_data(2)
    problem = Problem(convert(X), make_risk("immax", 2, y, weight), 0.01, intercept)
    scores, matrix = at_zero(problem)
    gradient = np.random.default_rng(0).normal(size=problem.shape)
    expected = np.linalg.solve(matrix, gradient.ravel()).reshape(problem.shape)
    for build in (block_preconditioner, shared_preconditioner):
        precondition = build(problem, scores, np.random.default_rng(0))
        np.testing.assert_allclose(precondition(gradient), expected, rtol=1e-5)


def test_the_diagonal():
    problem = make_problem("immax", 2)
    scores, matrix = at_zero(problem)
    gradient = np.ones(problem.shape)
    precondition = diagonal_preconditioner(problem, scores, np.random.default_rng(0))
    np.testing.assert_allclose(precondition(gradient).ravel(), 1 / np.diagonal(matrix))


@pytest.mark.parametrize(
    "build", [block_preconditioner, shared_preconditioner, diagonal_preconditioner]
)
def test_the_constant_direction_is_projected_off(build):
    problem = make_problem("immax", 4)
    precondition = build(problem, at_zero(problem)[0], np.random.default_rng(0))
    null = problem.risk.null_direction
    gradient = np.random.default_rng(0).normal(size=problem.shape)
    np.testing.assert_allclose(null @ precondition(gradient), 0, atol=1e-10)
    constant = np.outer(null, np.ones(problem.shape[1]))
    np.testing.assert_allclose(precondition(gradient + constant), precondition(gradient))


def test_a_sample_of_rows_estimates_the_block(monkeypatch):
    problem = make_problem("immax", 2, n=4000)
    scores, matrix = at_zero(problem)
    monkeypatch.setattr("immax.solvers.preconditioners.MIN_ROWS", 400)
    precondition = block_preconditioner(problem, scores, np.random.default_rng(0))
    product = np.stack([precondition(row[None, :])[0] for row in matrix], axis=1)
    values = np.sort(np.linalg.eigvals(product).real)
    assert 0.5 < values[0] < 0.999
    assert 1.001 < values[-1] < 2


def test_the_strongest_that_the_memory_allows(monkeypatch):
    problem = make_problem("immax", 5, n=400, d=120)
    assert strong_preconditioner(problem).build is block_preconditioner
    monkeypatch.setattr("immax.solvers.preconditioners.MIN_ENTRIES", 0)
    assert strong_preconditioner(problem).build is shared_preconditioner
    wide = Problem(problem.X[:100], problem.risk, 0.1)
    assert strong_preconditioner(wide) == (diagonal_preconditioner, np.inf)


def test_curvatures_above_zero():
    np.testing.assert_array_equal(above_zero(np.array([2.0, 1.0, 0.0])), [2, 1, 2e-30])
    assert (above_zero(np.zeros(3)) > 0).all()
