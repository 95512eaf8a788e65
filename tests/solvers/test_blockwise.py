"""L-BFGS in blocks of rows: against L-BFGS with all scores, and by its certificate."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from immax.losses import LossSpec
from immax.losses.catalog import make_spec
from immax.losses.softmax_risks import SoftmaxRisk
from immax.solvers import (
    LBFGS,
    BlockwiseLBFGS,
    Memory,
    Problem,
    blockwise,
    row_blocks,
    select_solver,
)

N, D, C = 600, 6, 30


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(blockwise, "LEAST_SCORES", 1)
    monkeypatch.setattr(blockwise, "MANY_BLOCKS", 1)
    monkeypatch.setattr(row_blocks, "BLOCK_SCORES", 100 * C)


def make_data(n=N, d=D, c=C):
    rng = np.random.default_rng(0)
    share = np.geomspace(1, 0.05, c)
    y = np.concatenate([np.arange(c), rng.choice(c, n - c, p=share / share.sum())])
    return rng.normal(size=(c, d))[y] + rng.normal(size=(n, d)), y


def make_problem(method="immax", lam=1e-3, dtype=np.float64, fit_intercept=True):
    X, y = make_data()
    spec = make_spec(method, np.bincount(y))
    risk = SoftmaxRisk(spec, y, np.full(N, 1 / N, dtype), None)
    return Problem(X.astype(dtype), risk, lam, fit_intercept)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("method", ["immax", "ce", "rw", "la", "vs"])
@pytest.mark.parametrize("lam", [1e-6, 1e-3, 0.1])
def test_the_gap_bounds_the_distance_from_the_optimum(method, lam, fit_intercept):
    problem = make_problem(method, lam, fit_intercept=fit_intercept)
    least = LBFGS(tol=1e-12).solve(problem).objective
    for tol in (1e-2, 1e-6):
        solution = BlockwiseLBFGS(tol=tol).solve(problem)
        assert solution.converged
        assert solution.gap <= tol * solution.objective
        assert -1e-11 <= solution.objective - least <= solution.gap + 1e-12
        assert problem.objective(solution.theta) == pytest.approx(solution.objective, rel=1e-12)


@pytest.mark.usefixtures("small")
def test_single_precision():
    problem = make_problem(dtype=np.float32)
    solution = BlockwiseLBFGS().solve(problem)
    assert solution.theta.dtype == np.float32
    exact = LBFGS().solve(make_problem())
    assert solution.objective == pytest.approx(exact.objective, rel=1e-5)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("scale", [1e-25, 1e20, 1e39])
def test_units_of_the_features_do_not_matter(scale):
    problem = make_problem()
    X, lam = problem.X * scale, problem.lam * scale**2
    expected = BlockwiseLBFGS().solve(problem)
    solution = BlockwiseLBFGS().solve(Problem(X, problem.risk, lam))
    assert solution.converged
    assert solution.objective == pytest.approx(expected.objective, rel=1e-5)


@pytest.mark.usefixtures("small")
def test_starts_memories_and_stopping():
    problem = make_problem()
    solver, seen = BlockwiseLBFGS(on_iteration=lambda theta: seen.append(theta.shape)), []
    cold = solver.solve(problem)
    assert seen == [problem.shape] * cold.n_iter
    assert solver.solve(problem, cold.theta).n_iter <= 1
    memory = Memory()
    memory.scores = np.zeros((1, 1))
    first = solver.uncertified().solve(problem, problem.zeros(), memory)
    assert first.gap is None
    assert memory.scores is None
    near = problem.with_risk(problem.risk, 1.1 * problem.lam)
    warm = solver.uncertified().solve(near, first.theta, memory)
    assert warm.n_iter < first.n_iter
    assert warm.objective <= LBFGS().solve(near).objective * (1 + 1e-5)
    stopped = BlockwiseLBFGS(max_iter=2).solve(problem)
    assert stopped.n_iter == 2
    assert not stopped.converged


def test_it_is_chosen_for_many_scores():
    wide = make_problem()
    assert isinstance(select_solver(wide, "lbfgs"), LBFGS)
    n, c = 5_000, 300
    many = SoftmaxRisk(LossSpec(np.ones(c)), np.arange(n) % c, np.full(n, 1 / n), None)
    X = np.zeros((n, 2))
    for name in ("lbfgs", "auto"):
        assert isinstance(select_solver(Problem(X, many, 1.0), name), BlockwiseLBFGS)
    assert isinstance(select_solver(Problem(sparse.csr_matrix(X), many, 1.0)), LBFGS)
    focal = SoftmaxRisk(make_spec("focal", np.ones(c)), many.y, many.weight, None)
    assert isinstance(select_solver(Problem(X, focal, 1.0)), LBFGS)


def test_no_array_of_all_scores_exists(monkeypatch):
    monkeypatch.setattr(row_blocks, "BLOCK_SCORES", 2**17)
    n, c = 6_000, 500
    X, y = make_data(n, 4, c)
    problem = Problem(X, SoftmaxRisk(LossSpec(np.ones(c)), y, np.full(n, 1 / n), None), 0.01)
    tracemalloc.start()
    try:
        solution = BlockwiseLBFGS(tol=1e-3).solve(problem)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert solution.converged
    assert peak < 8 * n * c
