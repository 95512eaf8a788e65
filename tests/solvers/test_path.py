"""Grids of similar problems, each with a warm start."""

import numpy as np
import pytest
from problems import make_data, make_risk

from immax.solvers import Problem, solve, solve_grid


def rows(kind, c, lams, n=600):
    X, y, weight = make_data(c, n=n)
    factors = np.linspace(1, 1.5, 4)
    risks = [make_risk(kind, c, y, weight * np.where(y == 0, f, 1)) for f in factors]
    return [[Problem(X, risk, lam) for risk in risks] for lam in lams]


@pytest.mark.parametrize("kind", ["immax", "hinge-max"])
@pytest.mark.parametrize("c", [2, 3])
def test_every_problem_is_solved(kind, c):
    grid = rows(kind, c, [1e-1, 1e-2, 1e-3])
    solved = list(solve_grid(grid, tol=1e-7, max_iter=5000))
    assert [problem for problem, _ in solved] == [problem for row in grid for problem in row]
    for problem, solution in solved:
        assert solution.gap <= 1e-7 * solution.objective
        cold = solve(problem, tol=1e-7, max_iter=5000)
        assert solution.objective == pytest.approx(cold.objective, rel=3e-7)


def test_warm_starts_save_iterations(monkeypatch):
    monkeypatch.setattr("immax.solvers.newton.MAX_SUITABLE", 0)  # L-BFGS for all of them
    grid = rows("immax", 3, [1e-2, 5e-3, 2e-3])
    warm = sum(solution.n_iter for _, solution in solve_grid(grid))
    cold = sum(solve(problem, polish=False).n_iter for row in grid for problem in row)
    assert warm < 0.7 * cold


def test_problems_are_taken_one_at_a_time():
    taken = []

    def row(problems):
        for problem in problems:
            taken.append(problem)
            yield problem

    solutions = solve_grid(row(problems) for problems in rows("immax", 2, [1e-1, 1e-2]))
    for number in range(1, 9):
        next(solutions)
        assert len(taken) == number
    assert next(solutions, None) is None


def test_without_certificates(monkeypatch):
    monkeypatch.setattr("immax.solvers.newton.MAX_SUITABLE", 0)
    grid = rows("immax", 3, [1e-2])
    assert all(solution.gap is None for _, solution in solve_grid(grid, certify=False))
    assert all(solution.gap is not None for _, solution in solve_grid(grid))
