"""The interface of a solver, by a small one of its own."""

import warnings
from dataclasses import FrozenInstanceError, dataclass, replace
from typing import ClassVar

import numpy as np
import pytest
from problems import make_problem

from immax.penalties import make_penalty
from immax.solvers import SOLVERS, Solution, Solver, UnsupportedProblemError, solve


@dataclass(frozen=True)
class Zero(Solver):
    """Returns zero, for two classes only."""

    factor: float = 1.0
    name: ClassVar[str] = "zero"

    def unsupported(self, problem):
        return None if problem.risk.n_outputs == 1 else "two classes"

    def suits(self, problem):
        return True

    def _minimise(self, problem, start, memory):
        theta = problem.zeros()
        value = problem.objective(theta) * self.factor
        return Solution(theta, value, np.exp(np.array([1e4]))[0], 0, False)


def test_what_is_not_supported_is_named():
    assert issubclass(UnsupportedProblemError, ValueError)
    with pytest.raises(UnsupportedProblemError, match="the solver 'zero' needs two classes"):
        Zero().solve(make_problem("immax", 3))


def test_overflows_do_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Zero().solve(make_problem("immax", 2)).gap == np.inf


def test_a_new_solver_is_one_row(monkeypatch):
    problem = make_problem("immax", 2)
    monkeypatch.setattr("immax.solvers.registry.SOLVERS", (Zero(factor=2.0), *SOLVERS))
    monkeypatch.setattr("immax.solvers.registry.SOLVER_NAMES", ("zero", "newton"))
    expected = 2 * problem.objective(problem.zeros())
    assert solve(problem).objective == solve(problem, "zero").objective == expected
    assert solve(problem, "newton").objective < expected
    with pytest.raises(ValueError, match="solver='zero' needs two classes"):
        solve(make_problem("immax", 3), "zero")


def test_options_are_fields_that_cannot_be_changed():
    for solver in SOLVERS:
        assert (solver.tol, solver.max_iter, solver.random_state) == (1e-6, 1000, 0)
        with pytest.raises(FrozenInstanceError):
            solver.tol = 1.0


def test_without_a_cheaper_way_the_certificate_stays():
    assert Zero().uncertified() == Zero()


@pytest.mark.parametrize(
    ("name", "kind", "omega"),
    [
        ("newton", "immax", "l2"),
        ("lbfgs", "immax", "l2"),
        ("newton", "hinge-max", "l2"),
        ("lbfgs", "hinge-max", "l2"),
        ("dual", "hinge-max", "l2"),
        ("working-set", "immax", "l1"),
        ("working-set", "hinge-max", "l1"),
    ],
)
def test_iterates_are_reported_until_the_solution(name, kind, omega):
    if name == "dual":
        pytest.importorskip("numba", reason="numba is not installed")
    problem = replace(make_problem(kind, 2, lam=0.05), omega=make_penalty(omega))
    iterates = []
    solution = solve(problem, name, on_iteration=lambda theta: iterates.append(theta.copy()))
    assert solution.converged
    assert len(iterates) > 1
    assert all(theta.shape == problem.shape for theta in iterates)
    values = [problem.objective(theta) for theta in iterates]
    assert values[0] > values[-1]
    assert values[-1] == pytest.approx(solution.objective, rel=0.02)
    np.testing.assert_array_equal(solve(problem, name).theta, solution.theta)
