"""Penalties with kinks: every loss, penalty and form against CVXPY."""

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from problems import KINKED, make_data, make_margins, make_problem, make_risk
from scipy import sparse

from immax.losses.catalog import METHODS
from immax.penalties import ElasticNet, GroupNorm, L1Norm, SquaredL2
from immax.solvers import (
    MultiplierMethodWorkingSets,
    Problem,
    UnsupportedProblemError,
    WorkingSets,
    choose,
    column_descent,
    feature_columns,
    local_models,
    solve,
    working_sets,
)
from immax.solvers.memory import Memory
from immax.solvers.registry import select_solver

GROUPS = np.array([0, 1, 1, 2, 0, 2])
PENALTIES = {
    "l1": L1Norm(),
    "elasticnet": ElasticNet(0.3),
    "group": GroupNorm(),
    "groups": GroupNorm(GROUPS),
}
IMMAX = ("logistic-sum", "exponential-sum", *KINKED)


def cvxpy_penalty(name, W):
    """Return Omega as it is written in the documentation; W has a row for each feature."""
    if name == "l1":
        return cp.sum(cp.abs(W))
    if name == "elasticnet":
        return 0.3 * cp.sum(cp.abs(W)) + 0.7 * cp.sum_squares(W)
    labels = np.arange(6) if name == "group" else GROUPS
    return sum(
        np.sqrt((labels == g).sum()) * cp.norm(cp.vec(W[labels == g], order="C"))
        for g in np.unique(labels)
    )


def cvxpy_optimum(kind, penalty, c, X, y, weight, lam, intercept):
    """Return the optimum of the same problem, written down directly from the paper."""
    rho = make_margins(c)
    loss, form = kind.split("-")
    psi = {
        "hinge": lambda u: cp.pos(1 - u),
        "logistic": lambda u: cp.logistic(-u),
        "exponential": lambda u: cp.exp(-u),
    }[loss]
    d = X.shape[1]
    if c == 2:
        W, b = cp.Variable((d, 1)), cp.Variable()
        h = (X @ W)[:, 0] + (b if intercept else 0)
        losses = psi(cp.multiply(h, np.where(y == 1, 1, -1) / rho[y]))
    else:
        W, b = cp.Variable((d, c)), cp.Variable((1, c))
        h = X @ W + (np.ones((len(y), 1)) @ b if intercept else 0)
        own = cp.sum(cp.multiply(h, np.eye(c)[y]), axis=1)
        own = cp.reshape(own, (len(y), 1), order="C") @ np.ones((1, c))
        margins = cp.multiply(own - h, 1 / rho[y][:, None])
        others = np.array([[j for j in range(c) if j != k] for k in y])
        rows = np.arange(len(y))
        columns = [margins[rows, others[:, j]] for j in range(c - 1)]
        if form == "max":
            losses = psi(cp.min(cp.vstack(columns), axis=0))
        elif loss == "logistic":
            losses = cp.log_sum_exp(-margins, axis=1)
        else:
            losses = sum(psi(column) for column in columns)
    objective = lam * cvxpy_penalty(penalty, W) + weight @ losses
    problem = cp.Problem(cp.Minimize(objective))
    problem.solve(solver=cp.CLARABEL)
    return problem.value


def immax_risk(kind, c, y, weight):
    if kind == "logistic-sum" and c > 2:
        from immax.losses.softmax_risks import SoftmaxRisk
        from immax.losses.spec import LossSpec

        return SoftmaxRisk(LossSpec(make_margins(c)), y, weight, None)
    return make_risk(kind, c, y, weight)


def check_optimality(problem, theta, tol):
    """Assert the optimality conditions of a smooth convex problem."""
    _, residuals = problem.risk.value_gradient(problem.scores(theta))
    gradient = problem.pull_back(residuals)
    violations = problem.omega.violations(
        problem.weights(theta), problem.weights(gradient), problem.lam
    )
    assert violations.max() <= tol * problem.lam
    if problem.fit_intercept:
        assert np.abs(gradient[:, -1]).max() <= 1e-7


@pytest.mark.parametrize("c", [2, 3])
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("kind", IMMAX)
def test_every_loss_penalty_and_form_reaches_the_optimum_of_cvxpy(kind, penalty, c):
    X, y, weight = make_data(c, n=25)
    for lam, intercept in ((0.02, True), (0.1, False)):
        problem = Problem(X, immax_risk(kind, c, y, weight), lam, intercept, PENALTIES[penalty])
        expected = cvxpy_optimum(kind, penalty, c, X, y, weight, lam, intercept)
        solution = solve(problem, tol=1e-7, max_iter=5000, polish=False)
        assert solution.converged
        assert solution.objective == pytest.approx(expected, rel=2e-6)
        assert solution.gap >= 0
        assert solution.objective - expected <= solution.gap + 1e-6 * expected
        assert solution.objective == pytest.approx(problem.objective(solution.theta), rel=1e-12)


@pytest.mark.parametrize("c", [2, 4])
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("kind", METHODS)
def test_every_method_of_the_catalogue_meets_the_optimality_conditions(kind, penalty, c):
    problem = replace(make_problem(kind, c), omega=PENALTIES[penalty])
    solution = solve(problem, tol=1e-10, polish=False)
    assert solution.converged
    check_optimality(problem, solution.theta, 1e-4)
    if kind == "focal":
        assert solution.gap is None
    else:
        assert solution.gap <= 1e-9 * solution.objective


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("c", [2, 4])
def test_sparse_features_give_the_same_solution(c, penalty):
    problem = replace(make_problem("immax", c), omega=PENALTIES[penalty])
    dense = solve(problem, tol=1e-9)
    thin = solve(replace(problem, X=sparse.csr_matrix(problem.X)), tol=1e-9)
    np.testing.assert_allclose(thin.theta, dense.theta, atol=1e-6)


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("c", [2, 4])
def test_every_minimiser_of_the_model_gives_the_same_solution(c, penalty, monkeypatch):
    problem = replace(make_problem("immax", c), omega=PENALTIES[penalty])
    expected = solve(problem, tol=1e-8)
    monkeypatch.setattr(working_sets, "gram_step", local_models.accelerated_step)
    found = solve(problem, tol=1e-6, polish=False)
    assert found.converged
    assert found.objective <= expected.objective * (1 + 1e-6)


@pytest.mark.parametrize("kind", ["immax", "hinge-max"])
def test_single_precision(kind):
    X, y, weight = make_data(3)
    X /= X.std(axis=0)
    risk = make_risk(kind, 3, y, weight)
    double = Problem(X, risk, 0.02, omega=L1Norm())
    single = Problem(
        X.astype(np.float32), make_risk(kind, 3, y, weight.astype(np.float32)), 0.02, omega=L1Norm()
    )
    expected, found = solve(double), solve(single)
    assert found.theta.dtype == np.float32
    assert found.converged
    assert found.objective == pytest.approx(expected.objective, rel=1e-3)


def test_a_working_set_grows_until_nothing_is_left_out():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 400))
    y = (X[:, :60].sum(axis=1) + rng.normal(size=80) > 0).astype(int)
    problem = Problem(X, make_risk("ce", 2, y, np.full(80, 1 / 80)), 0.003, omega=L1Norm())
    solution = solve(problem, tol=1e-9)
    assert solution.converged
    assert np.count_nonzero(problem.weights(solution.theta)) > 50
    check_optimality(problem, solution.theta, 1e-5)


def test_correlated_sparse_columns_end_in_a_matrix(monkeypatch):
    rng = np.random.default_rng(0)
    base = (rng.random((400, 60)) < 0.3).astype(float)
    X = np.hstack([base, np.abs(base - (rng.random((400, 60)) < 0.02))])
    y = (base[:, :10].sum(axis=1) + rng.logistic(size=400) > 3).astype(int)
    problem = Problem(
        sparse.csr_matrix(X), make_risk("immax", 2, y, np.full(400, 1 / 400)), 1e-4, omega=L1Norm()
    )
    sizes = []
    original = working_sets.gram_step

    def gram_step(model, tol):
        sizes.append(model.z.size)
        return original(model, tol)

    monkeypatch.setattr(working_sets, "gram_step", gram_step)
    monkeypatch.setattr(column_descent, "PASSES", 1)
    solution = solve(problem, tol=1e-9)
    assert solution.converged
    assert max(sizes) > working_sets.FEW
    dense = solve(replace(problem, X=X), tol=1e-9)
    assert solution.objective == pytest.approx(dense.objective, rel=1e-8)


@pytest.mark.parametrize("c", [2, 3])
def test_envelopes_that_are_solved_to_rounding_are_not_solved_again(c):
    X, y, weight = make_data(c, n=120, d=8)
    problem = Problem(X, make_risk("hinge-max", c, y, weight), 0.02, omega=L1Norm())
    found = MultiplierMethodWorkingSets(tol=1e-14).solve(problem)
    assert found.gap <= 1e-10 * found.objective
    assert found.n_iter < 150  # 300 and more where a round that has stalled is repeated


def test_a_start_saves_iterations():
    problem = replace(make_problem("immax", 3), omega=L1Norm())
    cold = solve(problem, polish=False)
    warm = solve(replace(problem, lam=0.98 * problem.lam), start=cold.theta, polish=False)
    assert warm.n_iter < cold.n_iter


def test_solvers_are_chosen_by_the_penalty():
    smooth, kinked = make_problem("immax", 2), make_problem("hinge-max", 2)
    assert choose(smooth) == choose(kinked) == "newton"
    for problem, kind in ((smooth, WorkingSets), (kinked, MultiplierMethodWorkingSets)):
        assert isinstance(select_solver(replace(problem, omega=L1Norm())), kind)
    with pytest.raises(UnsupportedProblemError, match="the penalty 'l2'"):
        solve(replace(smooth, omega=L1Norm()), "newton")
    with pytest.raises(UnsupportedProblemError, match="a penalty with kinks"):
        solve(replace(smooth, omega=SquaredL2()), "working-set")
    with pytest.raises(UnsupportedProblemError, match="needs a smooth risk"):
        WorkingSets().solve(replace(kinked, omega=L1Norm()))


def test_too_few_iterations_are_reported():
    problem = replace(make_problem("immax", 3, lam=1e-4), omega=L1Norm())
    assert not solve(problem, max_iter=1).converged


@pytest.mark.parametrize("loss", ["logistic-sum", "exponential-sum"])
def test_a_matrix_of_few_columns_is_used_again(loss, monkeypatch):
    X, y, weight = make_data(2, n=3000, d=8)
    risk = make_risk(loss, 2, y, weight)
    problem = Problem(X, risk, 1e-5, True, L1Norm())
    computed = []
    full_gram = local_models.FullGram.at.__func__

    def count(cls, columns, curvature):
        computed.append(curvature)
        return full_gram(cls, columns, curvature)

    monkeypatch.setattr(local_models.FullGram, "at", classmethod(count))
    found = WorkingSets(tol=1e-9).solve(problem)
    assert 0 < len(computed) < found.n_iter
    assert found.gap <= 1e-9 * found.objective
    monkeypatch.setattr(working_sets, "LEAST_GAIN", 0.0)
    other = WorkingSets(tol=1e-9).solve(problem)
    np.testing.assert_allclose(found.theta, other.theta, atol=1e-4)


def test_the_last_step_computes_a_matrix_of_its_own(monkeypatch):
    X, y, weight = make_data(2, n=300, d=6)
    problem = Problem(X, make_risk("ce", 2, y, weight), 1e-5, True, L1Norm())
    exact = WorkingSets(tol=1e-13).solve(problem)
    events = []
    full_gram = local_models.FullGram.at.__func__
    forget = working_sets._State.forget_matrix

    def count(cls, columns, curvature):
        events.append("matrix")
        return full_gram(cls, columns, curvature)

    def note(state):
        events.append("last step")
        forget(state)

    monkeypatch.setattr(local_models.FullGram, "at", classmethod(count))
    monkeypatch.setattr(working_sets._State, "forget_matrix", note)
    monkeypatch.setattr(working_sets, "LEAST_GAIN", np.inf)  # the matrix is kept
    found = WorkingSets(tol=1e-13).solve(problem, exact.theta + 1e-4)
    assert events[-2:] == ["last step", "matrix"]
    np.testing.assert_allclose(found.theta, exact.theta, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("loss", ["ce", "immax", "exponential-sum"])
def test_a_matrix_is_used_again_for_weighted_collinear_columns(loss, dtype):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 6))
    y = (X[:, 0] - X[:, 1] + rng.logistic(size=4000) > 2).astype(int)
    odd = 1e12 if dtype == np.float64 else 1e4
    # Duplicated, constant, nearly collinear, and of another scale.
    extra = [X[:, 0], np.ones(4000), X[:, 1] + 1e-7 * X[:, 2], odd * X[:, 3], np.zeros(4000)]
    X = np.column_stack([X, *extra]).astype(dtype)
    weight = rng.exponential(size=4000) * (rng.random(4000) < 0.8)
    weight = (weight / weight.sum()).astype(dtype)
    problem = Problem(X, make_risk(loss, 2, y, weight), 1e-4, True, L1Norm())
    tol, memory = (1e-8 if dtype == np.float64 else 1e-3), Memory()
    before = WorkingSets(tol=tol).solve(replace(problem, lam=1e-3), memory=memory)
    found = WorkingSets(tol=tol).solve(problem, before.theta, memory)
    assert found.gap <= max(1e-6, 2 * tol) * found.objective
    assert found.objective == pytest.approx(problem.objective(found.theta), rel=100 * tol)


@pytest.mark.parametrize("c", [2, 3])
@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_matrix])
def test_large_copies_of_columns_are_rounded_and_the_solution_is_not(convert, c, monkeypatch):
    pytest.importorskip("numba")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 300))
    X[:, 1] = 1e9 + X[:, 2]  # of which single precision leaves nothing
    y = (X[:, 5:60].sum(axis=1) + rng.normal(size=150) > 0).astype(int)
    y += rng.integers(0, c - 1, 150) if c > 2 else 0
    problem = Problem(
        convert(X), make_risk("immax", c, y, np.full(150, 1 / 150)), 0.01, omega=L1Norm()
    )
    expected = solve(problem, tol=1e-8, polish=False)
    taken = []
    original = feature_columns.copy_dtype

    def copy_dtype(X, n_entries):
        taken.append(original(X, n_entries))
        return taken[-1]

    monkeypatch.setattr(feature_columns, "copy_dtype", copy_dtype)
    monkeypatch.setattr(feature_columns, "ROUNDED_ENTRIES", 1000)
    monkeypatch.setattr(feature_columns, "ROUNDED_SHARE", 0.1)
    monkeypatch.setattr(working_sets, "MAX_GRAM", 20)
    monkeypatch.setattr(working_sets, "MAX_SLOW_GRAM", 20)
    found = solve(problem, tol=1e-8, polish=False)
    assert np.float32 in taken
    assert found.converged
    assert found.objective == pytest.approx(expected.objective, rel=2e-8)
    assert found.objective == pytest.approx(problem.objective(found.theta), rel=1e-12)


def test_a_memory_of_other_features_is_not_used():
    X, y, weight = make_data(2, n=300, d=6)
    risk = make_risk("ce", 2, y, weight)
    memory = Memory()
    WorkingSets().solve(Problem(2 * X, risk, 1e-3, True, L1Norm()), memory=memory)
    problem = Problem(X, risk, 1e-3, True, L1Norm())
    found = WorkingSets(tol=1e-9).solve(problem, memory=memory)
    assert memory.columns.source is X
    expected = WorkingSets(tol=1e-9).solve(problem)
    assert found.objective == pytest.approx(expected.objective, rel=1e-8)


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_matrix])
def test_a_start_where_a_memory_ended_needs_no_scores(convert, monkeypatch):
    X, y, weight = make_data(2, n=300, d=6)
    problem = Problem(convert(X), make_risk("ce", 2, y, weight), 1e-2, True, L1Norm())
    memory = Memory()
    before = WorkingSets(tol=1e-9).solve(problem, memory=memory)
    computed = []
    scores = Problem.scores
    monkeypatch.setattr(
        Problem, "scores", lambda self, theta: computed.append(theta) or scores(self, theta)
    )
    following = replace(problem, lam=5e-3)
    found = WorkingSets(tol=1e-9).solve(following, before.theta, memory)
    assert not computed
    expected = WorkingSets(tol=1e-9).solve(following)
    np.testing.assert_allclose(found.theta, expected.theta, atol=1e-6)
    # Other parameters, another risk and other features have scores of their own.
    others = [
        (following, expected.theta + 0.1),
        (replace(following, risk=make_risk("ce", 2, 1 - y, weight)), found.theta),
        (replace(following, X=convert(2 * X)), found.theta),
        (replace(following, fit_intercept=False), found.theta[:, :-1]),
    ]
    for other, start in others:
        WorkingSets(tol=1e-9).solve(following, found.theta, memory)
        again = WorkingSets(tol=1e-9).solve(other, start, memory)
        alone = WorkingSets(tol=1e-9).solve(other)
        assert again.objective == pytest.approx(alone.objective, rel=1e-8)


@pytest.mark.parametrize("convert", [np.asarray, np.asfortranarray, sparse.csr_matrix])
def test_problems_of_one_memory_share_their_columns(convert, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 700))
    y = (X[:, :90].sum(axis=1) + rng.normal(size=200) > 0).astype(int)
    problem = Problem(
        convert(X), make_risk("ce", 2, y, np.full(200, 1 / 200)), 0.05, omega=L1Norm()
    )
    monkeypatch.setattr(working_sets, "MAX_GRAM", 20)
    memory, theta, copied = Memory(), None, []
    for lam in (0.03, 0.01, 0.0099):
        found = WorkingSets(tol=1e-9).solve(replace(problem, lam=lam), theta, memory)
        alone = WorkingSets(tol=1e-9).solve(replace(problem, lam=lam))
        assert found.objective == pytest.approx(alone.objective, rel=1e-8)
        theta = found.theta
        copied.append(memory.columns)
    assert copied[1] is copied[2]


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("few", [0, 40])  # coefficients for which the matrix of a model is formed
def test_hinge_fits_leave_points_where_few_samples_bend_the_risk(convert, few, monkeypatch):
    monkeypatch.setattr(working_sets, "FEW", few)
    monkeypatch.setattr(working_sets, "MAX_GRAM", few)
    a, b = np.divmod(np.arange(12), 4)
    X, y = np.column_stack([a + 1.0, b + 1.0]), np.array([0] * 4 + [1] * 4 + [0, 0, 1, 1])
    separable = (X[:, 1] > 2).astype(int)
    for labels in (y, separable):
        risk = make_risk("hinge-max", 2, labels, np.full(12, 1 / 12))
        solution = solve(Problem(convert(X), risk, 1e-3, True, L1Norm()), tol=1e-9, polish=False)
        assert solution.converged
        assert solution.n_iter < 60


def test_focal_fits_of_several_classes_take_few_steps():
    rng = np.random.default_rng(0)
    X = 3 * rng.random((20, 3))
    risk = make_risk("focal", 3, X[:, 0].astype(int), np.full(20, 1 / 20))
    solution = WorkingSets(tol=1e-10).solve(Problem(X, risk, 1e-3, True, GroupNorm()))
    assert solution.converged
    assert solution.n_iter < 40
