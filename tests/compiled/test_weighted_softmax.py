"""Weighted losses along a ray against those of NumPy."""

import numpy as np
import pytest

from immax.losses.catalog import make_spec

pytest.importorskip("numba")


def test_values_slopes_and_gradients_are_those_of_numpy():
    from immax.compiled.weighted_softmax import weighted_softmax_rows

    rng = np.random.default_rng(0)
    h, ray = rng.standard_normal((2, 40, 5))
    y, weight, step = rng.integers(0, 5, 40), rng.random(40), 0.3
    weight[3] = 0
    spec = make_spec("immax", [50, 40, 30, 20, 10])
    ones, zeros = np.ones(5), np.zeros(5)
    moved, gradient = np.empty_like(h), np.empty_like(h)
    columns = (1 / spec.temperature, ones, zeros, zeros, True)
    value, derivative = weighted_softmax_rows(
        h, y, *columns, weight, step, ray, moved, gradient, 0, 40
    )
    np.testing.assert_allclose(moved, h + step * ray)
    assert value == pytest.approx(weight @ spec.loss(moved, y))
    assert derivative == pytest.approx((gradient * ray).sum())
    eps = 1e-6
    up, down = (weight @ spec.loss(moved + sign * eps * ray, y) for sign in (1, -1))
    assert derivative == pytest.approx((up - down) / (2 * eps), rel=1e-6)
    assert not gradient[3].any()
