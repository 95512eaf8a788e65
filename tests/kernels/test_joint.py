"""The machine of all classes at once."""

import numpy as np
import pytest
from kernel_samples import OPTIONS, sample, state

from immax.kernels import joint, working_set
from immax.kernels.joint import joint_machine
from immax.kernels.machine import MachineOptions
from immax.kernels.samples import Points


def test_without_numba_the_machine_is_the_same(monkeypatch):
    X, y = sample(120)
    rho = np.array([0.4, 0.3, 0.2, 0.1])
    data, limits = Points(X, "rbf", **OPTIONS), np.full(120, 0.05)
    compiled = joint_machine(data, y, limits, rho, MachineOptions(tol=1e-4))
    monkeypatch.setattr(working_set, "has_numba", lambda: False)
    assert working_set.loops() is working_set
    plain = joint_machine(data, y, limits, rho, MachineOptions(tol=1e-4))
    assert plain.converged
    assert plain.objective == pytest.approx(compiled.objective, rel=2e-4)


def test_a_small_cache_gives_the_same_machine():
    X, y = sample(1500)
    rho = np.array([0.4, 0.3, 0.2, 0.1])
    data, limits = Points(X, "rbf", **OPTIONS), np.full(1500, 0.02)
    roomy = joint_machine(data, y, limits, rho, MachineOptions(tol=1e-5))
    tight = joint_machine(data, y, limits, rho, MachineOptions(tol=1e-5, cache_size=0.5))
    assert tight.converged
    assert tight.objective == pytest.approx(roomy.objective, rel=2e-5)


def test_a_warm_start_leads_to_the_same_machine():
    X, y = sample(400)
    data, rho = Points(X, "rbf", **OPTIONS), np.array([0.4, 0.3, 0.2, 0.1])
    options = MachineOptions(tol=1e-5)
    first = joint_machine(data, y, np.full(400, 0.5), rho, options)
    for limits, other in ((0.4, rho), (0.6, rho), (0.01, rho[::-1])):
        cold = joint_machine(data, y, np.full(400, limits), other, options)
        warm = joint_machine(data, y, np.full(400, limits), other, options, first)
        assert warm.converged
        assert warm.objective == pytest.approx(cold.objective, rel=2e-5)
    again = joint_machine(data, y, np.full(400, 0.5), rho, options, first)
    assert again.n_iter < first.n_iter
    assert again.objective == pytest.approx(first.objective, rel=1e-5)


def test_balanced_coefficients_satisfy_everything():
    _, y, caps, _, a = state()
    assert np.abs(a.sum(axis=0)).max() > 0.1
    balanced, could = joint._balanced(a, y, caps)
    assert could
    np.testing.assert_allclose(balanced.sum(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(balanced.sum(axis=1), 0, atol=1e-12)
    rows = np.arange(len(y))
    assert (balanced[rows, y] <= caps + 1e-12).all()
    others = balanced.copy()
    others[rows, y] = 0
    assert (others <= 1e-15).all()


def test_what_cannot_be_balanced_is_said_to_be_unbalanced():
    a = np.array([[1.0, -1.0], [0.0, 0.0]])
    caps = np.array([1.0, 0.25])  # the second can take up a quarter; the first gives the rest
    balanced, could = joint._balanced(a, np.array([0, 1]), caps)
    assert could
    np.testing.assert_allclose(balanced.sum(axis=0), 0, atol=1e-15)
    # Class 0 has one too much and class 2 one too little, and no sample of either can help.
    a = np.array([[1.0, -1.0, 0.0], [0.0, 1.0, -1.0], [0.0, 0.0, 0.0]])
    _, could = joint._balanced(a, np.array([0, 1, 2]), np.array([1.0, 1.0, 0.0]))
    assert not could
