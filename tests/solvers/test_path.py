"""Grids of similar problems, each with a warm start."""

from dataclasses import replace

import numpy as np
import pytest
from problems import make_data, make_risk

from immax.losses.immax_risks import immax_risk
from immax.solvers import LBFGS, Problem, solve, solve_grid


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


def test_kinks_begin_with_the_multipliers_above(monkeypatch):
    grid = rows("hinge-max", 2, [1e-2, 5e-3, 2e-3])
    warm = sum(solution.n_iter for _, solution in solve_grid(grid))
    monkeypatch.setattr("immax.solvers.path._Row.multipliers", lambda row, above: None)
    assert warm < 0.8 * sum(solution.n_iter for _, solution in solve_grid(grid))


def test_starts_are_closer_than_the_neighbours(monkeypatch):
    starts = []

    def recorded(problem, *arguments, start, **options):
        starts.append(start)
        return solve(problem, *arguments, start=start, **options)

    monkeypatch.setattr("immax.solvers.path.solve", recorded)
    grid = rows("immax", 3, [1e-2, 5e-3])
    thetas = [solution.theta for _, solution in solve_grid(grid, tol=1e-9)]
    assert starts[0] is None
    np.testing.assert_array_equal(starts[1], thetas[0])
    np.testing.assert_array_equal(starts[4], thetas[0])  # the first of a row: the one above
    for i in (6, 7):  # the last two of the second row
        missed, step = (np.abs(thetas[i] - other).max() for other in (starts[i], thetas[i - 1]))
        assert missed < 0.05 * step


def test_scores_are_known_also_after_a_problem_without_a_step(monkeypatch):
    monkeypatch.setattr("immax.solvers.newton.MAX_SUITABLE", 0)
    X, y, weight = make_data(2, n=600)
    risk = make_risk("immax", 2, y, weight)
    known = []

    def recorded(problem, *arguments, memory, **options):
        known.append(memory.scores is not None)
        return solve(problem, *arguments, memory=memory, **options)

    monkeypatch.setattr("immax.solvers.path.solve", recorded)
    row = [Problem(X, risk, 1e-2) for _ in range(4)]  # solved by the first
    steps = [solution.n_iter for _, solution in solve_grid([row], certify=False)]
    assert steps[0] > 0
    assert steps[1:] == [0, 0, 0]
    assert known == [False, True, True, True]


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


def test_objectives_are_bounded_also_on_raw_pixels(monkeypatch):
    """Badly conditioned features of a common brightness, in single precision as in a search."""
    rng = np.random.default_rng(0)
    n = 1000
    y = rng.integers(0, 2, n)
    factors = rng.standard_normal((n, 60)) * np.geomspace(3, 0.05, 60) + 0.3 * y[:, None]
    X = np.clip(128 + 5 * factors @ rng.standard_normal((60, 300)), 0, 255)
    weight = np.full(n, 1 / n)
    lams, ratios, tol = np.logspace(1, -5, 7), (0.6, 1.0, 1.4), 3e-5

    def problem(lam, ratio, dtype):
        rho = np.array([2 - ratio, ratio])
        risk = immax_risk("logistic", "auto", y, rho, weight.astype(dtype))
        return Problem(X.astype(dtype), risk, lam)

    exact = [[problem(lam, ratio, np.float64) for ratio in ratios] for lam in lams]
    best = [[solve(one, "newton", tol=1e-7).objective for one in row] for row in exact]

    def worst_excess():
        rows = [[problem(lam, ratio, np.float32) for ratio in ratios] for lam in lams]
        found = [solution.theta for _, solution in solve_grid(rows, tol, certify=False)]
        flat = [one for row in exact for one in row]
        values = [one.objective(theta) for one, theta in zip(flat, found, strict=True)]
        return max(np.array(values) / np.ravel(best)) - 1

    assert worst_excess() <= 30 * tol
    monkeypatch.setattr("immax.solvers.dominant_rows.LEAST_SHARE", 1.1)  # none but the diagonal
    assert worst_excess() <= 30 * tol
    monkeypatch.setattr(LBFGS, "uncertified", lambda self: replace(self, stopping="decrease"))
    assert worst_excess() > 30 * tol
