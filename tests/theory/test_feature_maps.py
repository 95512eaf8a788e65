"""Complexities for general feature maps."""

import numpy as np
import pytest

from immax.theory import rademacher_features, rademacher_l1, rademacher_linear

RNG = np.random.default_rng(0)
RHO = np.array([1.0, 0.5, 2.0])
Y = RNG.integers(0, 3, 30)
PHI = RNG.normal(size=(30, 3, 5))


@pytest.mark.parametrize("order", [1, 2])
def test_theorems_rad_kernel_1_and_2_in_plain_loops(order):
    moment = 0.0
    for k in range(3):
        own = [PHI[i, j] for i in range(30) if Y[i] == k for j in range(3)]
        r = max(np.linalg.norm(v, 2 if order == 2 else np.inf) for v in own)
        moment += (k == Y).sum() * r**2 / RHO[k] ** 2
    expected = 1.5 * np.sqrt(3 * moment) / 30
    if order == 1:
        expected = 1.5 * np.sqrt(2 * 3) / 30 * np.sqrt(moment * np.log(2 * 5))
    assert rademacher_features(PHI, Y, RHO, 1.5, order) == pytest.approx(expected)


@pytest.mark.parametrize("order", [1, 2])
def test_steps_are_ever_looser_and_above_the_estimate(order):
    bounds = [
        rademacher_features(PHI, Y, RHO, 1.0, order, step)
        for step in ("sample", "classes", "radius")
    ]
    rng = np.random.default_rng(1)
    weighed = PHI / RHO[Y][:, None, None]
    dual = 2 if order == 2 else np.inf
    sums = [
        np.linalg.norm((rng.choice([-1.0, 1.0], (30, 3, 1)) * weighed).sum(axis=(0, 1)), dual)
        for _ in range(300)
    ]
    assert np.mean(sums) / 30 <= bounds[0] <= bounds[1] <= bounds[2]


@pytest.mark.parametrize("step", ["sample", "classes", "radius"])
def test_a_weight_vector_per_class_is_a_map(step):
    X = RNG.normal(size=(30, 4))
    blocks = np.zeros((30, 3, 12))
    for k in range(3):
        blocks[:, k, 4 * k : 4 * k + 4] = X
    two = rademacher_features(blocks, Y, RHO, 1.0, 2, step)
    assert two == pytest.approx(rademacher_linear(X, Y, RHO, 1.0, step=step))
    one = rademacher_features(blocks, Y, RHO, 1.0, 1, step)
    assert one == pytest.approx(rademacher_l1(X, Y, RHO, 1.0, step=step))


def test_bad_input():
    for arguments, message in [
        ((PHI[:, :2], Y, RHO, 1.0), r"features must have shape \(m, 3, d\)"),
        ((PHI, Y[:4], RHO, 1.0), "y must have shape"),
        ((PHI, Y, RHO, -1.0), "norm must be"),
        ((PHI, Y, RHO, 1.0, 3), "order must be 1 or 2"),
        ((np.full_like(PHI, np.nan), Y, RHO, 1.0), "finite"),
    ]:
        with pytest.raises(ValueError, match=message):
            rademacher_features(*arguments)
