"""Solvers against independent ones, their optimality conditions and their certificates."""

import sys
from functools import partial

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import minimize

from immax.losses.catalog import METHODS, make_spec
from immax.losses.exponential_risks import ExponentialRisk
from immax.losses.max_risks import MaxRisk
from immax.losses.risks import MarginRisk, SoftmaxRisk, binary_risk
from immax.losses.surrogates import SURROGATES
from immax.solvers import SOLVERS, Problem, choose, solve
from immax.solvers.lbfgs import lbfgs
from immax.solvers.line_search import Point
from immax.solvers.newton import hessian, newton
from immax.solvers.preconditioners import (
    block_preconditioner,
    diagonal_preconditioner,
    shared_preconditioner,
    strong_preconditioner,
)
from immax.solvers.row_parts import RowParts

N, D = 120, 6


def data(c, seed=0, n=N, d=D):
    rng = np.random.default_rng(seed)
    y = np.concatenate(
        [
            np.arange(c),
            rng.choice(c, n - c, p=np.geomspace(1, 0.2, c) / np.geomspace(1, 0.2, c).sum()),
        ]
    )
    X = rng.normal(size=(n, d)) * 10 ** rng.uniform(-1, 1, d) + rng.normal(size=(c, d))[y]
    weight = rng.uniform(0.2, 2, n)
    return X, y, weight / weight.sum()


def rho_of(c):
    return np.linspace(0.6, 0.2, c) if c > 2 else np.array([0.7, 0.3])


def make_risk(kind, c, y, weight):
    rho = rho_of(c)
    if kind in METHODS:
        spec = make_spec(kind, np.bincount(y) * 20)
        drop = spec.draw(y.size, 0)
        return (binary_risk if c == 2 else SoftmaxRisk)(spec, y, weight, drop)
    loss, form = kind.split("-")
    surrogate = SURROGATES[loss]
    if c == 2:
        slope = np.where(y == 1, 1, -1) / rho[y]
        return MarginRisk(surrogate, slope, np.zeros(y.size), weight)
    if form == "max":
        return MaxRisk(surrogate, y, rho, weight)
    return ExponentialRisk(y, rho, weight)


SMOOTH = [*METHODS, "exponential-sum"]
KINKED = ["hinge-max", "logistic-max", "exponential-max"]


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("c", [2, 3, 5])
@pytest.mark.parametrize("kind", SMOOTH)
def test_smooth_solvers_reach_scipy_s_optimum(kind, c, intercept):
    X, y, weight = data(c)
    problem = Problem(X, make_risk(kind, c, y, weight), 0.01, intercept)

    def objective(flat):
        point = Point.at(problem, flat.reshape(problem.shape))
        return point.value, point.gradient.ravel()

    options = {"maxiter": 20_000, "maxfun": 50_000, "ftol": 1e-15, "gtol": 1e-9}
    reference = minimize(
        objective, problem.zeros().ravel(), jac=True, method="L-BFGS-B", options=options
    )
    for solver in (newton, lbfgs):
        solution = solver(problem, tol=1e-9)
        assert solution.converged
        assert solution.objective <= reference.fun * (1 + 1e-7)
        assert solution.objective == pytest.approx(problem.objective(solution.theta), rel=1e-12)
        slope = Point.at(problem, solution.theta).gradient
        assert np.abs(slope).max() < 1e-4
        if problem.risk.convex:
            assert solution.objective - reference.fun <= solution.gap + 1e-13
            assert solution.gap <= 1e-9 * solution.objective
        else:
            assert solution.gap is None


def cvxpy_optimum(kind, c, X, y, weight, lam, intercept):
    """The same problem, written down directly from the paper."""
    rho = rho_of(c)
    psi = {
        "hinge": lambda u: cp.pos(1 - u),
        "logistic": lambda u: cp.logistic(-u),
        "exponential": lambda u: cp.exp(-u),
    }[kind.split("-")[0]]
    d = X.shape[1]
    if c == 2:
        w, b = cp.Variable(d), cp.Variable()
        h = X @ w + (b if intercept else 0)
        losses = psi(cp.multiply(h, np.where(y == 1, 1, -1) / rho[y]))
    else:
        w, b = cp.Variable((d, c)), cp.Variable((1, c))
        h = X @ w + (np.ones((len(y), 1)) @ b if intercept else 0)
        losses = []
        for i, k in enumerate(y):
            margins = [(h[i, k] - h[i, j]) / rho[k] for j in range(c) if j != k]
            losses.append(psi(cp.min(cp.hstack(margins))))
        losses = cp.hstack(losses)
    problem = cp.Problem(cp.Minimize(lam * cp.sum_squares(w) + weight @ losses))
    problem.solve(solver=cp.CLARABEL)
    return problem.value


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("c", [2, 3, 5])
@pytest.mark.parametrize("kind", KINKED)
def test_kinked_risks_reach_cvxpy_s_optimum(kind, c, intercept):
    X, y, weight = data(c, n=50)
    expected = cvxpy_optimum(kind, c, X, y, weight, 0.01, intercept)
    for solver in SOLVERS:
        problem = Problem(X, make_risk(kind, c, y, weight), 0.01, intercept)
        solution = solve(problem, solver, tol=1e-7, max_iter=20_000)
        assert solution.converged
        assert solution.objective == pytest.approx(expected, rel=1e-6)
        assert solution.objective - expected <= solution.gap + 1e-7 * expected
        assert solution.objective == pytest.approx(problem.objective(solution.theta), rel=1e-12)


@pytest.mark.parametrize("kind", [*(m for m in SMOOTH if m != "focal"), *KINKED])
@pytest.mark.parametrize("c", [2, 4])
def test_the_gap_bounds_the_suboptimality_wherever_the_solver_stops(kind, c):
    X, y, weight = data(c, seed=4)
    problem = Problem(X, make_risk(kind, c, y, weight), 0.003)
    best = solve(problem, tol=1e-9, max_iter=5000).objective
    for solver in (partial(solve, solver="newton"), partial(solve, solver="lbfgs")):
        for max_iter in (1, 2, 3, 5, 10):
            solution = solver(problem, max_iter=max_iter)
            assert solution.gap >= solution.objective - best - 1e-12
            assert solution.n_iter <= max_iter


@pytest.mark.parametrize("kind", ["immax", "hinge-max"])
@pytest.mark.parametrize("c", [2, 3])
def test_dense_sparse_and_memory_order_agree(kind, c):
    X, y, weight = data(c)
    X[np.abs(X) < 0.5] = 0
    risk = make_risk(kind, c, y, weight)
    solutions = [
        solve(Problem(features, risk, 0.01), solver, tol=1e-10, max_iter=20_000).theta
        for features in (X, np.asfortranarray(X), sparse.csr_matrix(X), sparse.csr_array(X))
        for solver in SOLVERS
    ]
    for theta in solutions[1:]:
        np.testing.assert_allclose(theta, solutions[0], atol=2e-4)


@pytest.mark.parametrize("kind", ["immax", "exponential-sum", "hinge-max"])
@pytest.mark.parametrize("c", [2, 3])
def test_float32_is_worked_on_in_float32(kind, c):
    X, y, weight = data(c)
    double = solve(Problem(X, make_risk(kind, c, y, weight), 0.01))
    single_risk = make_risk(kind, c, y, weight.astype(np.float32))
    if c == 2:
        single_risk.slope = single_risk.slope.astype(np.float32)
        single_risk.shift = single_risk.shift.astype(np.float32)
    for solver in SOLVERS:
        single = solve(Problem(X.astype(np.float32), single_risk, 0.01), solver, tol=1e-5)
        assert single.theta.dtype == np.float32
        assert single.converged
        assert single.objective == pytest.approx(double.objective, rel=1e-4)
        assert single.gap >= single.objective - double.objective - 1e-6 * double.objective


@pytest.mark.parametrize("kind", ["immax", "focal", "exponential-sum"])
def test_hessian_by_finite_differences(kind):
    X, y, weight = data(3)
    problem = Problem(X, make_risk(kind, 3, y, weight), 0.01)
    theta = np.random.default_rng(0).normal(scale=0.05, size=problem.shape)
    matrix = hessian(problem, problem.risk.curvature(problem.scores(theta)))
    step = 1e-6
    for k in range(theta.size):
        shift = step * np.eye(theta.size)[k].reshape(theta.shape)
        ahead = Point.at(problem, theta + shift).gradient
        behind = Point.at(problem, theta - shift).gradient
        expected = (ahead - behind).ravel() / (2 * step)
        np.testing.assert_allclose(matrix[:, k], expected, rtol=1e-4, atol=1e-5)


def test_conjugate_gradients_take_over_when_the_matrix_is_large(monkeypatch):
    X, y, weight = data(3)
    problem = Problem(X, make_risk("immax", 3, y, weight), 0.01)
    direct = newton(problem, tol=1e-10)
    monkeypatch.setattr(sys.modules[newton.__module__], "MOST_PARAMETERS", 0)
    iterative = newton(problem, tol=1e-10)
    assert iterative.objective == pytest.approx(direct.objective, rel=1e-9)


@pytest.mark.parametrize("is_sparse", [False, True])
@pytest.mark.parametrize("c", [2, 3])
def test_lbfgs_with_sampled_and_renewed_preconditioners(c, is_sparse, monkeypatch):
    monkeypatch.setattr("immax.solvers.preconditioners.FEWEST_ROWS", 30)
    X, y, weight = data(c, n=2000)
    risk = make_risk("immax", c, y, weight)
    features = sparse.csr_matrix(X) if is_sparse else X
    a = lbfgs(Problem(features, risk, 1e-4), tol=1e-8, random_state=0)
    b = lbfgs(Problem(features, risk, 1e-4), tol=1e-8, random_state=1)
    assert a.converged
    assert b.converged
    assert (a.theta != b.theta).any()
    assert a.objective == pytest.approx(b.objective, rel=1e-7)
    again = lbfgs(Problem(features, risk, 1e-4), tol=1e-8, random_state=0)
    np.testing.assert_array_equal(a.theta, again.theta)


def test_one_block_for_all_outputs_where_one_for_each_is_too_large(monkeypatch):
    X, y, weight = data(5, n=400, d=120)
    X = X @ np.random.default_rng(0).normal(size=(120, 120))
    problem = Problem(X, make_risk("immax", 5, y, weight), 1e-4)
    expected = lbfgs(problem, tol=1e-9)
    assert strong_preconditioner(problem)[0] is block_preconditioner
    monkeypatch.setattr("immax.solvers.preconditioners.FEWEST_ENTRIES", 0)
    builder, price = strong_preconditioner(problem)
    assert builder is shared_preconditioner
    shared = lbfgs(problem, tol=1e-7)
    assert shared.converged
    assert shared.objective == pytest.approx(expected.objective, rel=1e-6)
    never = (diagonal_preconditioner, np.inf)
    monkeypatch.setattr(sys.modules[lbfgs.__module__], "strong_preconditioner", lambda _: never)
    diagonal = lbfgs(problem, tol=1e-7)
    assert price < shared.n_iter < diagonal.n_iter


@pytest.mark.parametrize("C", [100.0, 1e4])
@pytest.mark.parametrize("c", [2, 4])
@pytest.mark.parametrize("name", SOLVERS)
def test_a_risk_that_is_linear_around_the_start(name, c, C):
    """With large offsets no sample has any curvature until the biases have gone a long way."""
    X, y, weight = data(c)
    spec = make_spec("ldam", np.bincount(y), C=C)
    risk = binary_risk(spec, y, weight, None) if c == 2 else SoftmaxRisk(spec, y, weight, None)
    problem = Problem(X, risk, 0.01)
    solution = SOLVERS[name](problem, tol=1e-9)
    assert solution.converged
    flat = Point.at(problem, problem.zeros()).value
    assert solution.objective < flat
    assert solution.gap <= 1e-9 * solution.objective


def test_warm_starts_save_iterations():
    X, y, weight = data(5, n=2000)
    risk = make_risk("immax", 5, y, weight)
    first = lbfgs(Problem(X, risk, 1e-3), tol=1e-8)
    cold = lbfgs(Problem(X, risk, 0.9e-3), tol=1e-8)
    warm = lbfgs(Problem(X, risk, 0.9e-3), tol=1e-8, start=first.theta)
    assert warm.n_iter < cold.n_iter
    assert warm.objective == pytest.approx(cold.objective, rel=1e-7)


def test_the_choice_follows_the_shape():
    X, y, weight = data(2)
    assert choose(Problem(X, make_risk("immax", 2, y, weight), 1.0)) == "newton"
    wide = np.zeros((N, 5000))
    assert choose(Problem(wide, make_risk("immax", 2, y, weight), 1.0)) == "lbfgs"
    assert choose(Problem(wide, make_risk("hinge-max", 2, y, weight), 1.0)) == "lbfgs"
    middle = np.zeros((N, 1000))
    assert choose(Problem(middle, make_risk("hinge-max", 2, y, weight), 1.0)) == "newton"


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


@pytest.mark.parametrize("kind", ["immax", "focal", "exponential-sum"])
@pytest.mark.parametrize("c", [2, 3])
def test_a_rehearsal_in_single_precision_changes_nothing_but_the_way(kind, c, monkeypatch):
    X, y, weight = data(c, n=2000)
    problem = Problem(X, make_risk(kind, c, y, weight), 1e-3)
    plain = solve(problem, "lbfgs", tol=1e-8)
    monkeypatch.setattr("immax.solvers.worth_rehearsing", lambda *_: True)
    rehearsed = solve(problem, "lbfgs", tol=1e-8)
    assert rehearsed.converged
    assert rehearsed.theta.dtype == np.float64
    assert rehearsed.objective == pytest.approx(plain.objective, rel=1e-7)
    assert (rehearsed.theta != plain.theta).any()


def test_sparse_products_in_threads(monkeypatch):
    monkeypatch.setattr("immax.solvers.row_parts.ENTRIES_PER_THREAD", 10)
    monkeypatch.setattr("immax.solvers.row_parts.available_cores", lambda: 3)
    rng = np.random.default_rng(0)
    X = sparse.random(50, 20, density=0.3, format="csr", random_state=0)
    parts = RowParts(X)
    assert len(parts._parts) == 3
    for k in (1, 4):
        right, left = rng.normal(size=(20, k)), rng.normal(size=(50, k))
        np.testing.assert_allclose(parts.product(right), X @ right)
        np.testing.assert_allclose(parts.transposed_product(left), X.T @ left)
    assert all(np.shares_memory(part.data, X.data) for part in parts._parts)


@pytest.mark.parametrize("seed", range(60))
def test_fuzz(seed):
    """Small, ugly problems of all kinds: finite, and the gap is a bound."""
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
    solutions = [solve(problem, solver, max_iter=2000) for solver in SOLVERS]
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
    for solver in SOLVERS:
        assert solve(Problem(X, risk, 1e-3), solver).objective <= without * (1 + 1e-6)
