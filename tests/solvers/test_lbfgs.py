"""L-BFGS: its preconditioners, warm starts, precisions and stopping criteria.

Its optimum is compared with SciPy's in ``test_newton``.
"""

import numpy as np
import pytest
from problems import make_data, make_problem, make_risk
from scipy import sparse

from immax.solvers import LBFGS, Memory, Problem, UnsupportedProblemError
from immax.solvers.preconditioners import (
    StrongPreconditioner,
    diagonal_preconditioner,
    shared_preconditioner,
    strong_preconditioner,
)


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("c", [2, 3])
def test_sampled_and_renewed_preconditioners(c, is_sparse, monkeypatch):
    monkeypatch.setattr("immax.solvers.preconditioners.MIN_ROWS", 30)
    X, y, weight = make_data(c, n=2000)
    risk = make_risk("immax", c, y, weight)
    problem = Problem(sparse.csr_matrix(X) if is_sparse else X, risk, 1e-4)
    a, b, again = (LBFGS(tol=1e-8, random_state=seed).solve(problem) for seed in (0, 1, 0))
    assert a.converged
    assert b.converged
    assert (a.theta != b.theta).any()
    assert a.objective == pytest.approx(b.objective, rel=1e-7)
    np.testing.assert_array_equal(a.theta, again.theta)


def test_one_block_for_all_outputs_saves_iterations(monkeypatch):
    X, y, weight = make_data(5, n=400, d=120)
    X = X @ np.random.default_rng(0).normal(size=(120, 120))
    problem = Problem(X, make_risk("immax", 5, y, weight), 1e-4)
    expected = LBFGS(tol=1e-9).solve(problem)
    monkeypatch.setattr("immax.solvers.preconditioners.MIN_ENTRIES", 0)
    build, cost = strong_preconditioner(problem)
    assert build is shared_preconditioner
    shared = LBFGS(tol=1e-7).solve(problem)
    assert shared.converged
    assert shared.objective == pytest.approx(expected.objective, rel=1e-6)
    never = StrongPreconditioner(diagonal_preconditioner, np.inf)
    monkeypatch.setattr("immax.solvers.lbfgs.strong_preconditioner", lambda _: never)
    diagonal = LBFGS(tol=1e-7).solve(problem)
    assert cost < shared.n_iter < diagonal.n_iter


def test_warm_starts_save_iterations():
    X, y, weight = make_data(5, n=2000)
    risk = make_risk("immax", 5, y, weight)
    solver = LBFGS(tol=1e-8)
    first = solver.solve(Problem(X, risk, 1e-3))
    cold = solver.solve(Problem(X, risk, 0.9e-3))
    warm = solver.solve(Problem(X, risk, 0.9e-3), start=first.theta)
    assert warm.n_iter < cold.n_iter
    assert warm.objective == pytest.approx(cold.objective, rel=1e-7)


def test_a_memory_carries_the_preconditioner_to_the_next_problem(monkeypatch):
    X, y, weight = make_data(5, n=2000)
    risk = make_risk("immax", 5, y, weight)
    memory, built = Memory(), []
    plain = strong_preconditioner(Problem(X, risk, 1e-3)).build

    def counted(*arguments):
        built.append(1)
        return plain(*arguments)

    counting = StrongPreconditioner(counted, 1.0)
    monkeypatch.setattr("immax.solvers.lbfgs.strong_preconditioner", lambda _: counting)
    first = LBFGS().solve(Problem(X, risk, 1e-3), memory=memory)
    assert memory.precondition is not None
    built.clear()
    second = LBFGS(tol=1e-4).solve(Problem(X, risk, 0.9e-3), first.theta, memory)
    assert second.converged
    assert 0 < second.n_iter < 8  # the least that a preconditioner is reused for
    assert not built
    LBFGS(tol=1e-4).solve(Problem(X, risk, 0.9e-3), first.theta)
    assert built


@pytest.mark.parametrize("kind", ["immax", "focal", "exponential-sum"])
@pytest.mark.parametrize("c", [2, 3])
def test_a_start_in_single_precision_leads_to_the_same_optimum(kind, c, monkeypatch):
    problem = make_problem(kind, c, 1e-3, n=2000)
    plain = LBFGS(tol=1e-8).solve(problem)
    monkeypatch.setattr("immax.solvers.single_precision.LARGE", 1)
    started = LBFGS(tol=1e-8).solve(problem)
    assert started.converged
    assert started.theta.dtype == np.float64
    assert started.objective == pytest.approx(plain.objective, rel=1e-7)
    assert (started.theta != plain.theta).any()


def test_stopping_criteria_from_the_strictest_to_the_loosest():
    problem = make_problem("immax", 3, 1e-5, n=2000)
    gap, estimate, bounded, decrease = (
        LBFGS(tol=1e-5, stopping=stopping).solve(problem)
        for stopping in ("gap", "estimate", "bounded", "decrease")
    )
    assert gap.gap <= 1e-5 * gap.objective
    assert estimate.gap is bounded.gap is decrease.gap is None
    assert gap.n_iter >= estimate.n_iter >= bounded.n_iter >= decrease.n_iter
    assert estimate.n_iter > decrease.n_iter
    assert LBFGS().uncertified() == LBFGS(stopping="bounded")


def test_kinks_are_not_supported():
    with pytest.raises(UnsupportedProblemError, match="'lbfgs' needs a smooth risk"):
        LBFGS().solve(make_problem("hinge-max", 2))
