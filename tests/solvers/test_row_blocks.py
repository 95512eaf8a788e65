"""Blocks of rows against the same quantities from all scores at once."""

import numpy as np
import pytest

from immax.losses import LossSpec
from immax.losses.softmax_risks import SoftmaxRisk
from immax.solvers import Problem, row_blocks
from immax.solvers.biases import best_biases
from immax.solvers.compiled_risks import CompiledSoftmaxRisk
from immax.solvers.line_search import Point
from immax.solvers.preconditioners import curvature_sums
from immax.solvers.row_blocks import BlockwiseBiases, RowBlocks, step_in_blocks

N, D, C = 200, 5, 20


@pytest.fixture(autouse=True)
def several_blocks(monkeypatch):
    monkeypatch.setattr(row_blocks, "BLOCK_SCORES", 33 * C)


def make_problem(compiled=False, fit_intercept=True, dtype=np.float64):
    rng = np.random.default_rng(0)
    y = np.concatenate([np.arange(C), rng.integers(0, C, N - C)])
    weight = rng.random(N).astype(dtype)
    spec = LossSpec(
        rng.uniform(0.5, 2, C), weight=rng.uniform(0.5, 2, C), offset=rng.normal(size=C)
    )
    risk = SoftmaxRisk(spec, y, weight / weight.sum(), None)
    if compiled:
        pytest.importorskip("numba")
        risk = CompiledSoftmaxRisk(risk)
    X = rng.normal(size=(N, D)).astype(dtype)
    problem = Problem(X, risk, 0.01, fit_intercept)
    return problem, rng.normal(size=problem.shape).astype(dtype)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_points_and_curvatures_are_those_of_all_scores(compiled, fit_intercept):
    problem, theta = make_problem(compiled, fit_intercept)
    blocks, expected = RowBlocks(problem), Point.at(problem, theta)
    point = blocks.point(theta)
    assert point.value == pytest.approx(expected.value, rel=1e-12)
    np.testing.assert_allclose(point.gradient, expected.gradient, atol=1e-14)
    assert point.scores.size == 0
    value, slopes = blocks.slopes(theta)
    assert value == pytest.approx(problem.risk.value(expected.scores), rel=1e-12)
    residuals = problem.risk.value_gradient(expected.scores)[1]
    np.testing.assert_allclose(slopes[:, 0], residuals.sum(axis=0), atol=1e-14)
    sums = zip(
        blocks.curvature_sums(theta), curvature_sums(problem.risk, expected.scores), strict=True
    )
    for found, known in sums:
        np.testing.assert_allclose(found, known, rtol=1e-9)


def test_rows_that_lack_the_droppable_classes():
    rng = np.random.default_rng(0)
    y, drop = rng.integers(0, C, N), rng.random(N) < 0.5
    spec = LossSpec(np.ones(C), droppable=np.arange(C) % 2 == 0)
    risk = SoftmaxRisk(spec, y, np.full(N, 1 / N), drop)
    problem = Problem(rng.normal(size=(N, D)), risk, 0.01)
    theta = rng.normal(size=problem.shape)
    expected = Point.at(problem, theta)
    np.testing.assert_allclose(RowBlocks(problem).point(theta).gradient, expected.gradient)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_settled_biases_are_those_of_newtons_method(dtype):
    problem, theta = make_problem(dtype=dtype)
    blocks = RowBlocks(problem)
    flat = 1e-9 if dtype == np.float64 else 1e-5
    settled = BlockwiseBiases(problem, blocks).settle(blocks.point(theta), flat)
    assert np.abs(settled.gradient[:, -1]).sum() <= 2 * flat
    np.testing.assert_array_equal(settled.theta[:, :-1], theta[:, :-1])
    expected = best_biases(problem.risk, problem.scores(theta))
    value = settled.value - problem.penalty(theta)
    assert value == pytest.approx(expected.value, rel=1e-12 if dtype == np.float64 else 1e-5)


def test_steps_of_biases_end_at_the_rounding(monkeypatch):
    problem, theta = make_problem(dtype=np.float32)
    blocks, sums = RowBlocks(problem), []
    slopes = blocks.slopes

    def evaluate(parameters):
        value, found = slopes(parameters)
        sums.append(float(np.abs(found).sum()))
        return value, found

    monkeypatch.setattr(blocks, "slopes", evaluate)
    settled = BlockwiseBiases(problem, blocks).settle(blocks.point(theta), 0.0)
    assert len(sums) < 100
    lowest = float(np.abs(settled.gradient[:, -1]).sum())
    assert lowest == pytest.approx(min(sums), abs=1e-7)


def test_biases_are_not_settled_twice():
    problem, theta = make_problem()
    blocks = RowBlocks(problem)
    biases = BlockwiseBiases(problem, blocks)
    settled = biases.settle(blocks.point(theta), 1e-9)
    assert biases.settle(settled, 1e-8) is settled
    without, theta = make_problem(fit_intercept=False)
    blocks = RowBlocks(without)
    point = blocks.point(theta)
    assert BlockwiseBiases(without, blocks).settle(point, 0.0) is point


def test_steps_meet_the_wolfe_conditions():
    problem, theta = make_problem()
    blocks = RowBlocks(problem)
    point = blocks.point(theta)
    direction = -30 * point.gradient
    found = step_in_blocks(blocks.point, point, direction)
    slope = np.vdot(point.gradient, direction)
    assert found.value < point.value
    assert abs(np.vdot(found.gradient, direction)) <= 0.9 * abs(slope)
    assert step_in_blocks(blocks.point, point, point.gradient) is None
