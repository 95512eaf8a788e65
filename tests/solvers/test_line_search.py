"""Line searches by the conditions that their result must meet."""

import numpy as np
import pytest
from problems import make_problem

from immax.solvers.line_search import Point, ScoreBuffers, find_step, step_along


@pytest.mark.parametrize("flatness", [0.9, 0.1])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("kind", ["immax", "exponential-sum"])
def test_the_wolfe_conditions(kind, scale, flatness):
    problem = make_problem(kind, 3)
    point = Point.at(problem, problem.zeros())
    direction = -scale * point.gradient
    with np.errstate(over="ignore", invalid="ignore"):
        found = find_step(problem, point, direction, ScoreBuffers(problem), flatness)
    again = Point.at(problem, found.theta)
    assert found.value == pytest.approx(again.value, rel=1e-10)
    np.testing.assert_allclose(found.scores, again.scores, atol=1e-10)
    np.testing.assert_allclose(found.gradient, again.gradient, atol=1e-10)
    slope = np.vdot(point.gradient, direction)
    length = np.vdot(found.theta, direction) / np.vdot(direction, direction)
    assert found.value <= point.value + 1e-4 * length * slope
    assert abs(np.vdot(found.gradient, direction)) <= flatness * abs(slope) * (1 + 1e-9)


def test_a_direction_of_ascent_is_refused():
    problem = make_problem("immax", 3)
    point = Point.at(problem, problem.zeros())
    assert find_step(problem, point, point.gradient, ScoreBuffers(problem)) is None


def test_steps_along_a_ray_use_the_buffers():
    problem = make_problem("immax", 3)
    buffers = ScoreBuffers(problem)
    scores, ray = problem.scores(problem.zeros()), np.ones_like(problem.new_scores())
    ray[:, 0] = 2
    spare = buffers.take()
    buffers.give_back(spare)
    step = step_along(problem.risk, scores, ray, 0.5, buffers)
    assert step.scores is spare
    np.testing.assert_allclose(step.scores, scores + 0.5 * ray)
    value, residuals = problem.risk.value_gradient(scores + 0.5 * ray)
    assert step.value == pytest.approx(value)
    assert step.derivative == pytest.approx(np.vdot(residuals, ray))
