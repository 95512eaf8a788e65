"""The focal factor: derivatives by finite differences, and extremes."""

import numpy as np
import pytest

from immax.losses.focal import focal_curvature, focal_factor, focal_slope, focal_slope_at

focuses = pytest.mark.parametrize("focus", [0.5, 1.0, 2.0, 3.5])


@focuses
def test_derivatives_by_finite_differences(focus):
    nll, step = np.geomspace(0.01, 20, 60), 1e-6
    rest = lambda x: -np.expm1(-x)  # noqa: E731
    loss = lambda x: focal_factor(rest(x), focus) * x  # noqa: E731
    slope = lambda x: focal_slope(x, rest(x), focus)  # noqa: E731
    first = (loss(nll + step) - loss(nll - step)) / (2 * step)
    second = (slope(nll + step) - slope(nll - step)) / (2 * step)
    np.testing.assert_allclose(slope(nll), first, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(focal_curvature(nll, rest(nll), focus), second, rtol=1e-5, atol=1e-7)


@focuses
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_certain_samples_give_finite_numbers(dtype, focus):
    nll = np.array([0.0, 1e-40, 1e-36, 1e-30, 1e4], dtype)
    rest = -np.expm1(-nll)
    for values in (
        focal_factor(rest, focus),
        focal_slope(nll, rest, focus),
        focal_curvature(nll, rest, focus),
    ):
        assert values.dtype == dtype
        assert np.isfinite(values).all()


@pytest.mark.parametrize("focus", [0.0, 0.5, 2.0, 40.0])
def test_the_slope_at_a_probability_can_be_divided_by(focus):
    p = np.array([0.0, 1e-300, 0.5, 1 - 1e-16, 1.0, 1 + 1e-15])
    slope = np.broadcast_to(focal_slope_at(p, focus), p.shape)
    assert (slope > 0).all()
    assert np.isfinite(1 / slope).all()
    exact = focal_slope(np.log(2), 0.5, focus)
    assert slope[2] == pytest.approx(exact)
