"""Every solver through ``solve``: against independent ones, and by its certificate."""

from dataclasses import replace

import numpy as np
import pytest
from problems import KINKED, SMOOTH, make_data, make_hinge, make_problem, make_risk
from scipy import sparse

from immax.losses.catalog import make_spec
from immax.losses.margin_risks import MarginRisk
from immax.losses.max_risks import MaxRisk
from immax.losses.softmax_risks import SoftmaxRisk, binary_risk
from immax.losses.surrogates import SURROGATES
from immax.penalties import PENALTIES, make_penalty
from immax.solvers import (
    LBFGS,
    SOLVER_NAMES,
    SOLVERS,
    DualAscent,
    MultiplierMethod,
    MultiplierMethodLBFGS,
    Newton,
    Problem,
    choose,
    select_solver,
    solve,
)
from immax.solvers.line_search import Point
from immax.solvers.problem import is_smooth

GENERAL = ("newton", "lbfgs")  # support every risk


def test_names_come_from_the_rows():
    assert set(SOLVER_NAMES) >= {"newton", "lbfgs", "dual", "working-set"}
    assert {solver.name for solver in SOLVERS} == set(SOLVER_NAMES)


@pytest.mark.parametrize("c", [2, 3])
@pytest.mark.parametrize("kind", ["immax", "exponential-sum", *KINKED])
@pytest.mark.parametrize("penalty", PENALTIES)
def test_every_solver_reaches_the_optimum_of_what_it_supports(penalty, kind, c):
    problem = replace(make_problem(kind, c), omega=make_penalty(penalty))
    supporting = [solver for solver in SOLVERS if solver.lacking(problem) is None]
    solutions = [replace(solver, tol=1e-7, max_iter=20_000).solve(problem) for solver in supporting]
    best = min(solution.objective for solution in solutions)
    for solver, solution in zip(supporting, solutions, strict=True):
        assert solution.gap <= 2e-7 * solution.objective, solver
        assert solution.objective - best <= solution.gap + 1e-12, solver
        if is_smooth(problem):  # the optimality conditions, which no solver computes for another
            _, slopes = problem.risk.value_gradient(problem.scores(solution.theta))
            weights, gradient = (
                problem.weights(part) for part in (solution.theta, problem.pull_back(slopes))
            )
            violations = problem.omega.violations(weights, gradient, problem.lam)
            assert violations.max() <= 0.01 * problem.lam, solver


@pytest.mark.parametrize("c", [2, 3])
@pytest.mark.parametrize("kind", ["immax", "focal", "exponential-sum", *KINKED])
def test_each_general_name_has_one_solver_for_each_problem(kind, c):
    problem = make_problem(kind, c)
    for name in GENERAL:
        supporting = [
            solver
            for solver in SOLVERS
            if solver.name == name and solver.unsupported(problem) is None
        ]
        assert len(supporting) == 1
        assert select_solver(problem, name) is supporting[0]


def test_the_choice_follows_the_shape():
    X, y, weight = make_data(2)
    wide, middle = np.zeros((y.size, 5000)), np.zeros((y.size, 1000))
    smooth, hinge = make_risk("immax", 2, y, weight), make_risk("hinge-max", 2, y, weight)
    for features, risk, expected in (
        (X, smooth, Newton),
        (wide, smooth, LBFGS),
        (middle, hinge, MultiplierMethod),
        (wide, hinge, MultiplierMethodLBFGS),
    ):
        selected = select_solver(Problem(features, risk, 1.0))
        assert type(selected) is expected
        assert choose(Problem(features, risk, 1.0)) == selected.name


def test_the_dual_is_chosen_for_large_dense_hinges_of_two_classes():
    large = make_hinge(n=400, d=2600)
    assert choose(large) == "dual"
    for X in (np.asfortranarray(large.X), sparse.csr_matrix(large.X), large.X[:300]):
        assert choose(Problem(X, large.risk, 0.1)) == "lbfgs"
    many = MaxRisk(SURROGATES["hinge"], np.arange(400) % 3, np.ones(3), np.full(400, 1 / 400))
    assert choose(Problem(large.X, many, 0.1)) == "lbfgs"
    parts = large.risk.slope, large.risk.shift, large.risk.weight
    soft = MarginRisk(SURROGATES["logistic"], *parts)
    assert choose(Problem(large.X, soft, 0.1)) == "lbfgs"


def test_the_dual_by_name():
    problem = make_hinge()
    assert isinstance(select_solver(problem, "dual"), DualAscent)
    by_name = solve(problem, "dual", max_iter=20_000)
    assert by_name.converged
    assert by_name.objective == pytest.approx(solve(problem).objective, rel=2e-6)
    assert by_name.gap <= 1e-6 * by_name.objective


@pytest.mark.parametrize(("kind", "c"), [("immax", 2), ("hinge-max", 3), ("logistic-max", 3)])
def test_what_the_dual_needs_is_named(kind, c):
    with pytest.raises(ValueError, match="solver='dual' needs the hinge loss of two classes"):
        solve(make_problem(kind, c), "dual")


def test_an_unknown_solver():
    names = ", ".join(map(repr, ("auto", *SOLVER_NAMES)))
    with pytest.raises(ValueError, match=f"one of {names}; got 'sgd'"):
        solve(make_problem("immax", 2), "sgd")


def test_without_a_certificate_there_is_no_gap_of_lbfgs():
    problem = make_problem("immax", 3, n=2000)
    certified, quick = (solve(problem, "lbfgs", certify=certify) for certify in (True, False))
    assert quick.gap is None
    assert quick.converged
    assert quick.n_iter <= certified.n_iter
    assert quick.objective == pytest.approx(certified.objective, rel=1e-4)
    assert solve(problem, "newton", certify=False).gap is not None


def test_small_problems_are_polished():
    problem = make_problem("immax", 3)
    plain, polished = (solve(problem, "lbfgs", tol=1e-3, polish=polish) for polish in (False, True))
    assert polished.n_iter > plain.n_iter
    assert polished.gap < 1e-10 * polished.objective < plain.gap


@pytest.mark.parametrize("kind", [*(m for m in SMOOTH if m != "focal"), *KINKED])
@pytest.mark.parametrize("c", [2, 4])
def test_the_gap_bounds_the_suboptimality_wherever_the_solver_stops(kind, c):
    problem = make_problem(kind, c, 0.003, seed=4)
    best = solve(problem, tol=1e-9, max_iter=5000).objective
    for solver in GENERAL:
        for max_iter in (1, 2, 3, 5, 10):
            solution = solve(problem, solver, max_iter=max_iter)
            assert solution.gap >= solution.objective - best - 1e-12
            assert solution.n_iter <= max_iter


@pytest.mark.parametrize("kind", ["immax", "hinge-max"])
@pytest.mark.parametrize("c", [2, 3])
def test_dense_sparse_and_memory_order_agree(kind, c):
    X, y, weight = make_data(c)
    X[np.abs(X) < 0.5] = 0
    risk = make_risk(kind, c, y, weight)
    solutions = [
        solve(Problem(features, risk, 0.01), solver, tol=1e-10, max_iter=20_000).theta
        for features in (X, np.asfortranarray(X), sparse.csr_matrix(X), sparse.csr_array(X))
        for solver in GENERAL
    ]
    for theta in solutions[1:]:
        np.testing.assert_allclose(theta, solutions[0], atol=2e-4)


@pytest.mark.parametrize("kind", ["immax", "exponential-sum", "hinge-max"])
@pytest.mark.parametrize("c", [2, 3])
def test_float32_is_solved_in_float32(kind, c):
    X, y, weight = make_data(c)
    double = solve(Problem(X, make_risk(kind, c, y, weight), 0.01))
    single_risk = make_risk(kind, c, y, weight.astype(np.float32))
    if c == 2:
        single_risk.slope = single_risk.slope.astype(np.float32)
        single_risk.shift = single_risk.shift.astype(np.float32)
    for solver in GENERAL:
        single = solve(Problem(X.astype(np.float32), single_risk, 0.01), solver, tol=1e-5)
        assert single.theta.dtype == np.float32
        assert single.converged
        assert single.objective == pytest.approx(double.objective, rel=1e-4)
        assert single.gap >= single.objective - double.objective - 1e-6 * double.objective


@pytest.mark.parametrize("C", [100.0, 1e4])
@pytest.mark.parametrize("c", [2, 4])
@pytest.mark.parametrize("solver", [Newton(tol=1e-9), LBFGS(tol=1e-9)])
def test_a_risk_that_is_linear_around_the_start(solver, c, C):
    """With large offsets no sample has any curvature until the biases have moved far."""
    X, y, weight = make_data(c)
    spec = make_spec("ldam", np.bincount(y), C=C)
    risk = binary_risk(spec, y, weight, None) if c == 2 else SoftmaxRisk(spec, y, weight, None)
    problem = Problem(X, risk, 0.01)
    solution = solver.solve(problem)
    assert solution.converged
    assert solution.objective < Point.at(problem, problem.zeros()).value
    assert solution.gap <= 1e-9 * solution.objective


@pytest.mark.parametrize("lam", [1e-8, 1e-4, 1.0, 1e4])
@pytest.mark.parametrize("kind", ["immax", "exponential-sum", "hinge-max", "logistic-max"])
def test_separable_data_at_every_strength_of_the_penalty(kind, lam):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [60, 25, 5])
    X = rng.normal(size=(90, 8)) + 6 * np.eye(8)[y]
    weight = np.full(90, 1 / 90)
    solution = solve(Problem(X, make_risk(kind, 3, y, weight), lam), max_iter=3000)
    assert solution.converged
    assert solution.gap <= 1e-6 * solution.objective


@pytest.mark.parametrize("seed", range(60))
def test_fuzz(seed):
    """Small, ill-conditioned problems of all kinds: finite, and the gap is a bound."""
    rng = np.random.default_rng(seed)
    c, d = int(rng.integers(2, 5)), int(rng.integers(1, 6))
    n = c + int(rng.integers(4, 40))
    y = np.concatenate([np.arange(c), rng.integers(0, c, n - c)])
    X = rng.normal(size=(n, d)) * 10 ** rng.uniform(-2, 2, d)
    weight = rng.choice([1e-6, 1, 3], size=n)
    weight /= weight.sum()
    lam = 10 ** rng.uniform(-8, 3)
    kind = str(rng.choice(["immax", "ldam", "exponential-sum", *KINKED]))
    problem = Problem(X, make_risk(kind, c, y, weight), lam, bool(rng.integers(2)))
    solutions = [solve(problem, solver, max_iter=2000) for solver in GENERAL]
    best = min(solution.objective for solution in solutions)
    for solution in solutions:
        assert np.isfinite(solution.theta).all()
        assert solution.objective - solution.gap <= best * (1 + 1e-9)
    assert any(solution.converged for solution in solutions)


def test_a_timestamp_among_the_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 8))
    y = (X[:, 0] + X[:, 1] + rng.normal(size=2000) > 1).astype(int)
    risk = make_risk("immax", 2, y, np.full(2000, 1 / 2000))
    without = solve(Problem(X[:, :7], risk, 1e-3)).objective
    X[:, 7] = (X[:, 7] + 5) * 1e9
    for solver in GENERAL:
        assert solve(Problem(X, risk, 1e-3), solver).objective <= without * (1 + 1e-6)
