"""The two-loop recursion against the matrix that it stands for."""

import numpy as np
import pytest

from immax.solvers.memory import Memory


def test_the_recursion_is_the_bfgs_update():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(4, 4))
    hessian = root @ root.T + np.eye(4)
    memory = Memory(3)
    memory.restart(lambda gradient: gradient)
    steps = rng.normal(size=(5, 1, 4))
    for step in steps:
        memory.update(step, step @ hessian)
    assert len(memory) == 3
    last = (steps[-1] @ hessian).ravel()
    inverse = np.eye(4) * (steps[-1].ravel() @ last) / (last @ last)
    for step in steps[-3:]:
        s, change = step.ravel(), (step @ hessian).ravel()
        factor = np.eye(4) - np.outer(s, change) / (s @ change)
        inverse = factor @ inverse @ factor.T + np.outer(s, s) / (s @ change)
    gradient = rng.normal(size=(1, 4))
    np.testing.assert_allclose(memory.direction(gradient), -gradient @ inverse)
    np.testing.assert_allclose(memory.direction(steps[-1] @ hessian), -steps[-1])


def test_steps_of_negative_curvature_are_ignored():
    memory = Memory()
    memory.restart(lambda gradient: 2 * gradient)
    memory.update(np.ones((1, 2)), -np.ones((1, 2)))
    assert not memory
    np.testing.assert_array_equal(memory.direction(np.ones((1, 2))), [[-2, -2]])


def test_a_restart_keeps_the_preconditioner():
    memory = Memory()
    memory.restart(lambda gradient: 2 * gradient)
    memory.update(np.ones((1, 2)), np.ones((1, 2)))
    single = memory.astype(np.float32)
    assert len(single) == 1
    assert single.direction(np.ones((1, 2), np.float32)).dtype == np.float32
    memory.restart()
    assert not memory
    np.testing.assert_array_equal(memory.direction(np.ones((1, 2))), [[-2, -2]])


def test_without_a_preconditioner_there_is_no_direction():
    with pytest.raises(RuntimeError, match="no preconditioner"):
        Memory().direction(np.ones((1, 2)))
