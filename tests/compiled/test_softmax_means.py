"""The mean IMMAX loss of a batch against that of NumPy."""

import numpy as np
import pytest

from immax.losses.catalog import make_spec

pytest.importorskip("numba")


@pytest.mark.parametrize("c", [2, 10, 32, 100])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1, 1e4])
def test_loss_and_gradient_are_those_of_numpy(c, dtype, size):
    from immax.compiled.softmax_means import mean_softmax

    rng = np.random.default_rng(0)
    h = (size * rng.standard_normal((40, c))).astype(dtype)
    y = rng.integers(0, c, 40)
    spec = make_spec("immax", np.geomspace(500, 5, c))
    slope, gradient = (1 / spec.temperature).astype(dtype), np.empty_like(h)
    mean = mean_softmax(h, y, slope, 1 / 40, gradient)
    tol = 2e-5 if dtype == np.float32 else 1e-12
    assert mean == pytest.approx(spec.loss(h, y).mean(), rel=tol)
    np.testing.assert_allclose(40 * gradient, spec.gradient(h, y), rtol=10 * tol, atol=tol)


def test_a_confident_prediction_keeps_its_small_loss():
    from immax.compiled.softmax_means import mean_softmax

    h, gradient = np.array([[30.0, 0.0, 0.0]]), np.empty((1, 3))
    mean = mean_softmax(h, np.array([0]), np.ones(3), 1.0, gradient)
    assert mean == pytest.approx(2 * np.exp(-30), rel=1e-12)
    assert gradient[0, 0] == pytest.approx(-2 * np.exp(-30), rel=1e-12)


@pytest.mark.parametrize("wrong", [np.nan, -np.nan, np.inf])
def test_scores_that_are_no_numbers_show(wrong):
    from immax.compiled.softmax_means import mean_softmax

    h, gradient = np.zeros((3, 4)), np.empty((3, 4))
    h[1, 2] = wrong
    assert np.isnan(mean_softmax(h, np.array([0, 1, 2]), np.ones(4), 1 / 3, gradient))
    assert np.isnan(gradient[1]).all()
    assert np.isfinite(gradient[[0, 2]]).all()
