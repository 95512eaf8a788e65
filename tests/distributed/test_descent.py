"""L-BFGS by questions and answers."""

import numpy as np
import pytest

from immax.distributed.descent import Descent, Stopping


def identity(gradient):
    return gradient


def answer(descent, function):
    trials = descent.trials()
    found = [function(trial.theta) for trial in trials]
    descent.receive([value for value, _ in found], [gradient for _, gradient in found])
    return trials


def quadratic(centre, scales):
    return lambda theta: (
        0.5 * float(((theta - centre) ** 2 * scales).sum()) + 1,
        scales * (theta - centre),
    )


def test_it_finds_the_minimum():
    scales = np.array([[1.0, 30.0, 0.1]])
    centre = np.array([[3.0, -2.0, 1.0]])
    lam = 0.2
    starts = [np.zeros((1, 3)), np.ones((1, 3))]
    descent = Descent(starts, lam, True, identity, Stopping(1e-9), np.dtype(np.float64))
    function = quadratic(centre, scales)
    assert len(answer(descent, function)) == 2
    assert descent.theta is not None
    rounds = 1
    while not descent.done:
        answer(descent, function)
        rounds += 1
    solution = descent.solution()
    expected = scales * centre / (scales + np.array([[2 * lam, 2 * lam, 0]]))
    np.testing.assert_allclose(solution.theta, expected, atol=1e-4)
    assert solution.converged
    assert solution.gap <= 1e-9 * solution.objective
    assert rounds < 40


def test_several_shorter_steps_in_one_round():
    # The preconditioner is a thousand times too long.
    descent = Descent(
        [np.zeros((1, 2))],
        1e-3,
        False,
        lambda gradient: 1000 * gradient,
        Stopping(1e-8),
        np.dtype(np.float64),
    )
    function = quadratic(np.ones((1, 2)), np.ones((1, 2)))
    kinds = []
    while not descent.done:
        trials = answer(descent, function)
        kinds.append((len(trials), trials[0].gradient, bool(trials[0].parents)))
    assert kinds[0] == (1, True, False)
    assert kinds[1] == (1, True, False)
    several, with_gradient, from_known_scores = kinds[2]
    assert several >= 4
    assert not with_gradient
    assert from_known_scores
    assert descent.converged


def test_what_cannot_be_computed_stops_it():
    descent = Descent([np.zeros((1, 2))], 1e-3, False, identity, Stopping(), np.dtype(np.float64))
    first = True

    def broken(theta):
        nonlocal first
        value = (1.0 if first else np.nan), np.ones((1, 2))
        first = False
        return value

    for _ in range(50):
        if descent.done:
            break
        answer(descent, broken)
    assert descent.done
    assert not descent.converged
    assert descent.solution().objective == 1.0


@pytest.mark.parametrize("certified", [True, False])
def test_the_number_of_iterations_is_limited(certified):
    scales = np.array([[1.0, 1e4]])
    descent = Descent(
        [np.zeros((1, 2))],
        1e-9,
        False,
        identity,
        Stopping(1e-12, 3, certified),
        np.dtype(np.float64),
    )
    while not descent.done:
        answer(descent, quadratic(np.ones((1, 2)), scales))
    assert descent.n_iter == 3
    assert not descent.converged
    assert (descent.solution().gap is None) == (not certified)


def joint_quadratic(centre, hessian):
    """Return a function of (1, d) parameters whose bias is coupled with the weights."""

    def function(theta):
        away = (theta - centre).ravel()
        return 0.5 * float(away @ hessian @ away) + 1, (hessian @ away)[None]

    return function


def test_biases_that_conceal_the_gap_are_settled():
    hessian = np.eye(3)
    hessian[0, 2] = hessian[2, 0] = 1e-3
    function = joint_quadratic(np.array([[0.0, 0.0, 2.0]]), hessian)
    # The weights are at their best from the start. The preconditioner expects a steep bias.
    slow = np.array([1.0, 1.0, 0.01])
    start = np.array([[0.0, 0.0, 1.99]])
    descent = Descent([start], 0.5, True, lambda g: g * slow, Stopping(), np.dtype(np.float64))
    answer(descent, function)
    steps = []
    while not descent.done:
        (trial,) = descent.trials()
        steps.append(trial)
        value, gradient = function(trial.theta)
        asked = hessian[2:, 2:].copy() if trial.bias_curvature else 0.0
        descent.receive([value], [gradient], [asked])
    assert descent.converged
    full, settling = steps
    assert full.shift is None
    assert settling.parents == ((full.name, 1.0),)
    assert full.name in settling.kept
    np.testing.assert_allclose(settling.theta - full.theta, [[0, 0, settling.shift[0]]], atol=1e-12)
    assert descent.theta[0, 2] == pytest.approx(2, abs=1e-5)


def test_without_certificates_biases_are_not_asked_about():
    for stopping in (Stopping(certified=False), Stopping(convex=False)):
        descent = Descent([np.zeros((1, 2))], 0.5, True, identity, stopping, np.dtype(np.float64))
        answer(descent, quadratic(np.full((1, 2), 1e-4), np.ones((1, 2))))
        assert descent.done or not descent.trials()[0].bias_curvature
