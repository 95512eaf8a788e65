"""The inner loops of the joint machine."""

import numpy as np
import pytest
from kernel_samples import state

from immax.kernels import working_set


def test_violations_are_zero_at_a_sample_s_own_optimum_only():
    """Against all feasible moves of mass between two classes, one by one."""
    K, y, caps, rho, a = state()
    products, biases = a.T @ K, np.array([0.1, -0.2, 0.05, 0.05])
    found = np.empty(len(y))
    working_set.violations(products, biases, a, y, caps, rho, found)
    for i, label in enumerate(y):
        gradient = products[:, i] + biases
        gradient[label] -= rho[label]
        gains = [0.0]
        for up in range(4):
            room = a[i, up] < (caps[i] if up == label else 0)
            gains += [gradient[down] - gradient[up] for down in range(4) if room]
        assert found[i] == pytest.approx(max(gains) / rho[label])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_compiled_loops_do_the_same(dtype):
    compiled = pytest.importorskip("immax.compiled.working_set")
    K, y, caps, rho, a = state(dtype=dtype)
    slots = np.random.default_rng(1).permutation(len(y))
    results = []
    for module in (working_set, compiled):
        store = np.empty_like(K)
        store[slots] = K
        products = np.zeros((4, len(y)))
        module.spread(store, slots, a.astype(dtype), products)
        biases, sums = np.zeros(4), a.sum(axis=0)
        violation = np.empty(len(y))
        module.violations(products, biases, a, y, caps, rho, violation)
        chosen = np.arange(0, len(y), 2)
        kernel = np.empty((len(chosen), len(chosen)), dtype)
        module.block(store, slots[chosen], chosen, kernel)
        part, after = np.ascontiguousarray(products[:, chosen], dtype), a[chosen].copy()
        steps = module.sweeps(
            kernel, part, after, y[chosen], caps[chosen], rho, biases, sums, 0.01, 1e-3, 40, 0.5, 4
        )
        results.append((products, violation, kernel, part, after, biases, sums, steps))
    tolerance = 1e-9 if dtype == np.float64 else 2e-3
    for one, other in zip(*results, strict=True):
        np.testing.assert_allclose(one, other, atol=tolerance, rtol=0.1 if np.isscalar(one) else 0)


def test_a_step_is_the_best_that_one_sample_can_do():
    """One sample's sub-problem against projected gradient steps."""
    K, y, caps, rho, a = state()
    products, biases, i = a.T @ K, np.zeros(4), 7
    kernel, own = K[[i]][:, [i]], a[[i]].copy()
    part = np.ascontiguousarray(products[:, [i]])
    working_set.sweeps(
        kernel, part, own, y[[i]], caps[[i]], rho, biases, np.zeros(4), 0.0, 1e-12, 1, 0.0, 4
    )
    limits = np.where(np.arange(4) == y[i], caps[i], 0.0)
    target = np.where(np.arange(4) == y[i], rho[y[i]], 0.0)
    other = products[:, i] - K[i, i] * a[i] - target

    def value(row):
        return other @ row + K[i, i] * row @ row / 2

    assert own.sum() == pytest.approx(0, abs=1e-12)
    assert (own[0] <= limits + 1e-12).all()
    rng = np.random.default_rng(0)
    for _ in range(2000):
        up, down = rng.choice(4, 2, replace=False)
        step = rng.exponential(0.1)
        moved = own[0].copy()
        moved[up] += step
        moved[down] -= step
        if (moved <= limits).all():
            assert value(moved) >= value(own[0]) - 1e-12
