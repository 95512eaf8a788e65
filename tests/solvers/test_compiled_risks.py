"""Compiled risks against those in NumPy that they replace."""

from dataclasses import replace

import numpy as np
import pytest

from immax import compiled
from immax.losses import LossSpec
from immax.losses.softmax_risks import SoftmaxRisk
from immax.penalties import L1Norm
from immax.solvers import Problem, solve
from immax.solvers.compiled_risks import CompiledSoftmaxRisk, with_compiled_risk
from immax.solvers.gap import settle_biases
from immax.solvers.line_search import ScoreBuffers, step_along

pytest.importorskip("numba")

C = 60


def make_risk(plain, dtype=np.float64, n=300):
    rng = np.random.default_rng(0)
    weight = rng.random(n)
    weight[:5] = 0
    columns = {} if plain else {"scale": rng.uniform(0.5, 2, C), "offset": rng.normal(size=C)}
    spec = LossSpec(
        rng.uniform(0.5, 2, C),
        weight=rng.uniform(0.5, 2, C),
        target_offset=rng.random(C),
        **columns,
    )
    y = np.concatenate([np.arange(C), rng.integers(0, C, n - C)])
    return SoftmaxRisk(spec, y, (weight / weight.sum()).astype(dtype), None)


@pytest.mark.parametrize("plain", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_value_gradient_and_rays_agree(plain, dtype):
    base = make_risk(plain, dtype)
    risk = CompiledSoftmaxRisk(base)
    rng = np.random.default_rng(1)
    scores, ray = (rng.normal(size=(300, C)).astype(dtype) for _ in range(2))
    rtol = 1e-12 if dtype == np.float64 else 1e-4
    value, gradient = risk.value_gradient(scores)
    expected, expected_gradient = base.value_gradient(scores)
    assert value == pytest.approx(expected, rel=rtol)
    np.testing.assert_allclose(gradient, expected_gradient, rtol=rtol, atol=rtol * 1e-3)
    assert risk.value(scores) == value
    assert risk.single().value(scores.astype(np.float32)) == pytest.approx(expected, rel=1e-4)
    problem = Problem(np.ones((300, 1), dtype), risk, 0.1)
    buffers = ScoreBuffers(problem)
    step = step_along(risk, scores, ray, 0.3, buffers)
    moved = scores + dtype(0.3) * ray
    np.testing.assert_allclose(step.scores, moved, atol=1e-6)
    expected, residuals = base.value_gradient(moved)
    assert step.value == pytest.approx(expected, rel=rtol)
    assert step.derivative == pytest.approx(np.vdot(residuals, ray), rel=rtol, abs=rtol)


@pytest.mark.parametrize("plain", [True, False])
def test_the_curvature_of_the_biases_comes_from_the_gradient(plain):
    base = make_risk(plain)
    risk = CompiledSoftmaxRisk(base)
    rng = np.random.default_rng(2)
    scores, vector = rng.normal(size=(300, C)), rng.normal(size=C)
    product = risk.bias_curvature(risk.value_gradient(scores)[1]).product(vector)
    np.testing.assert_allclose(product, base.curvature(scores).total() @ vector, atol=1e-14)


@pytest.mark.parametrize("plain", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_sums_of_the_curvature_agree(plain, dtype):
    base = make_risk(plain, dtype)
    scores = np.random.default_rng(5).normal(size=(300, C)).astype(dtype)
    of_samples, of_classes = CompiledSoftmaxRisk(base).curvature_sums(scores)
    curvature = base.curvature(scores).diagonal()
    rtol = 1e-9 if dtype == np.float64 else 1e-3
    np.testing.assert_allclose(of_samples, curvature.sum(axis=1), rtol=rtol, atol=1e-3 * rtol)
    np.testing.assert_allclose(of_classes, curvature.sum(axis=0), rtol=rtol, atol=1e-3 * rtol)


@pytest.mark.parametrize("plain", [True, False])
def test_samples_with_the_same_scores_are_one_for_each_class(plain):
    base = make_risk(plain)
    scores = np.random.default_rng(6).normal(size=C)
    expected = base.value(np.tile(scores, (300, 1)))
    of_classes = CompiledSoftmaxRisk(base).of_classes()
    assert of_classes.value(np.tile(scores, (C, 1))) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("plain", [True, False])
def test_biases_settle_where_the_dense_newton_steps_do(plain):
    base = make_risk(plain)
    X = np.random.default_rng(3).normal(size=(300, 4))
    theta = np.random.default_rng(4).normal(size=(C, 5))
    settled = []
    for risk in (base, CompiledSoftmaxRisk(base)):
        problem = Problem(X, risk, 0.01)
        settled.append(settle_biases(problem, theta, problem.scores(theta)))
        assert np.abs(settled[-1].gradient[:, -1]).max() < 1e-13
    assert settled[0].value == pytest.approx(settled[1].value, rel=1e-12)


def test_a_score_that_is_not_finite_is_not_hidden():
    risk = CompiledSoftmaxRisk(make_risk(True))
    scores = np.zeros((300, C))
    scores[7, 3] = np.nan
    assert np.isnan(risk.value(scores))


def test_problems_of_many_classes_are_compiled(monkeypatch):
    X = np.random.default_rng(3).normal(size=(300, 4))
    problem = Problem(X, make_risk(True), 0.01)
    assert with_compiled_risk(problem) is problem  # too little work
    reference = solve(problem, "newton", tol=1e-9)
    monkeypatch.setattr(compiled, "SMALLEST_WORK", 0)
    assert isinstance(with_compiled_risk(problem).risk, CompiledSoftmaxRisk)
    few = replace(problem, omega=L1Norm())
    assert with_compiled_risk(few).omega == few.omega  # the penalty stays
    fast = solve(problem, "lbfgs", tol=1e-9)
    assert fast.converged
    assert fast.objective - reference.objective <= 2e-9 * reference.objective
    focal = Problem(
        X,
        SoftmaxRisk(LossSpec(np.ones(C), focus=1.0), problem.risk.y, problem.risk.weight, None),
        0.01,
    )
    assert with_compiled_risk(focal) is focal
