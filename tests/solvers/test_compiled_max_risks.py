"""The compiled hinge of several classes against the one in NumPy, and against CVXPY."""

import numpy as np
import pytest
from exact_optima import cvxpy_optimum
from problems import make_data, make_problem

from immax import compiled
from immax.losses.immax_risks import immax_risk
from immax.solvers import Newton, Problem, solve
from immax.solvers.compiled_max_risks import CompiledMaxRisk
from immax.solvers.compiled_risks import with_compiled_risk
from immax.solvers.line_search import ScoreBuffers, step_along
from immax.solvers.newton import hessian
from immax.solvers.path import solve_grid

pytest.importorskip("numba")


def make_pair(c, stiffness, dtype=np.float64, order="C", n=150, carried=True):
    """Return an envelope in NumPy, the same one compiled, and some scores."""
    rng = np.random.default_rng(c)
    y = np.concatenate([np.arange(c), rng.integers(0, c, n - c)])
    weight = rng.random(n)
    weight[:4] = 0
    weight = (weight / weight.sum()).astype(dtype)
    base = immax_risk("hinge", "auto", y, np.linspace(1.6, 0.4, c), weight)
    scores = rng.normal(size=(n, c)).astype(dtype)
    scores[:20] = rng.integers(0, 2, (20, c))  # ties
    scores[20:25] *= 1e4
    multipliers = base.envelope(None, 0.7).dual(scores[::-1].copy())[0] if carried else None
    envelopes = [risk.envelope(multipliers, stiffness) for risk in (base, CompiledMaxRisk(base))]
    return *envelopes, np.asarray(scores, order=order)


@pytest.mark.parametrize("carried", [True, False])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("stiffness", [0.01, 1.0, 300.0])
@pytest.mark.parametrize("c", [3, 4, 12])
def test_envelopes_agree(c, stiffness, order, carried):
    plain, fast, scores = make_pair(c, stiffness, order=order, carried=carried)
    expected, gradient = plain.value_gradient(scores)
    value, slopes = fast.value_gradient(scores)
    assert value == pytest.approx(expected, rel=1e-9)
    np.testing.assert_allclose(slopes, gradient, atol=1e-9)
    for ours, theirs in zip(fast.dual(scores), plain.dual(scores), strict=True):
        # NumPy's conjugate multiplies differences of large scores with these scores again.
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-6)
    problem = Problem(np.ones((len(scores), 1)), fast, 0.1)
    ray = np.asarray(np.random.default_rng(1).normal(size=scores.shape), order=order)
    step = step_along(fast, scores, ray, 0.3, ScoreBuffers(problem))
    there, residuals = plain.value_gradient(scores + 0.3 * ray)
    assert step.value == pytest.approx(there, rel=1e-9)
    assert step.derivative == pytest.approx(np.vdot(residuals, ray), rel=1e-9)
    np.testing.assert_allclose(step.residuals, residuals, atol=1e-9)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("stiffness", [0.05, 3.0, 100.0])
@pytest.mark.parametrize("c", [3, 12])
def test_hessians_agree(c, stiffness, intercept):
    plain, fast, scores = make_pair(c, stiffness)
    scores = 0.5 * scores[25:].repeat(2, axis=0)[: len(scores)]  # rounding decides in ties
    X = np.random.default_rng(0).normal(size=(len(scores), 5))
    X[:, 2] = 0
    ours, theirs = fast.curvature(scores), plain.curvature(scores)
    np.testing.assert_array_equal(ours.cut, theirs.cut)
    np.testing.assert_allclose(ours.total(), theirs.total(), atol=1e-12)
    problems = Problem(X, fast, 0.1, intercept), Problem(X, plain, 0.1, intercept)
    matrices = [hessian(*pair) for pair in zip(problems, (ours, theirs), strict=True)]
    np.testing.assert_allclose(*matrices, atol=1e-12 * abs(matrices[1]).max())
    assert abs(matrices[1]).max() > 0.2  # more than the penalty's part


def test_single_precision():
    plain, fast, scores = make_pair(5, 2.0, np.float32)
    value, slopes = fast.value_gradient(scores)
    expected, gradient = plain.value_gradient(scores)
    assert slopes.dtype == np.float32
    assert value == pytest.approx(expected, rel=1e-4)
    np.testing.assert_allclose(slopes, gradient, rtol=2e-3, atol=1e-4 * abs(gradient).max())


def test_scores_that_are_not_numbers_show():
    _, fast, scores = make_pair(3, 1.0)
    scores[10, 1] = np.nan
    assert np.isnan(fast.value_gradient(scores)[0])


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("c", [3, 5])
def test_compiled_fits_reach_the_optimum_of_cvxpy(c, intercept):
    X, y, weight = make_data(c, n=50)
    expected = cvxpy_optimum("hinge-max", c, X, y, weight, 0.01, intercept)
    base = make_problem("hinge-max", c, intercept=intercept, n=50)
    problem = base.with_risk(CompiledMaxRisk(base.risk))
    for solver in ("newton", "lbfgs"):
        solution = solve(problem, solver, tol=1e-7, max_iter=20_000)
        assert solution.converged
        assert solution.objective == pytest.approx(expected, rel=1e-6)
        assert solution.objective - expected <= solution.gap + 1e-7 * expected
        assert base.objective(solution.theta) == pytest.approx(solution.objective, rel=1e-12)


def test_a_path_of_compiled_fits_has_the_objectives_of_numpy():
    lams = (0.1, 0.01, 0.001)
    base = make_problem("hinge-max", 4, n=200)
    fast = base.with_risk(CompiledMaxRisk(base.risk))
    paths = [
        list(solve_grid(([problem.with_risk(problem.risk, lam)] for lam in lams), 1e-8))
        for problem in (base, fast)
    ]
    for (_, plain), (_, ours) in zip(*paths, strict=True):
        assert ours.converged
        assert ours.objective == pytest.approx(plain.objective, rel=2e-8)


def test_many_or_large_fits_are_compiled(monkeypatch):
    small, large = (make_problem("hinge-max", 3, n=n) for n in (60, 4000))
    assert with_compiled_risk(small) is small
    assert isinstance(with_compiled_risk(small, fits=100).risk, CompiledMaxRisk)
    assert isinstance(with_compiled_risk(large).risk, CompiledMaxRisk)
    logistic = make_problem("logistic-max", 3, n=4000)
    assert with_compiled_risk(logistic) is logistic
    monkeypatch.setattr(compiled, "has_numba", lambda: False)
    assert with_compiled_risk(large) is large


@pytest.mark.parametrize("kind", ["sparse", "wide"])
def test_other_features_take_products_of_matrices(kind):
    from scipy import sparse

    base = make_problem("hinge-max", 3, d=200 if kind == "wide" else 6)
    X = sparse.csr_matrix(base.X) if kind == "sparse" else base.X
    fast = Problem(X, CompiledMaxRisk(base.risk), base.lam)
    ours, theirs = (
        Newton().solve(problem.with_risk(problem.risk.envelope(None, 2.0)))
        for problem in (fast, base)
    )
    assert ours.objective == pytest.approx(theirs.objective, rel=1e-9)
