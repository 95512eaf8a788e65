import math

import numpy as np
import pytest

from immax.losses.surrogates import (
    SURROGATES,
    exponential,
    focal,
    hinge,
    logistic,
    max_form,
    smoothed_hinge,
    softplus,
)

SMOOTH = [logistic, exponential, smoothed_hinge(0.3), smoothed_hinge(2.0), focal(0.5), focal(2.0)]
GRID = np.linspace(-4.013, 4, 301)
RNG = np.random.default_rng(0)


def plain(name, u):
    return {
        "logistic": math.log(1 + math.exp(-u)),
        "hinge": max(0.0, 1 - u),
        "exponential": math.exp(-u),
    }[name]


@pytest.mark.parametrize("name", SURROGATES)
def test_values(name):
    expected = [plain(name, u) for u in GRID]
    np.testing.assert_allclose(SURROGATES[name].value(GRID), expected, rtol=1e-13)


@pytest.mark.parametrize("surrogate", [*SMOOTH, hinge], ids=lambda s: s.name)
def test_slopes_and_curvature_by_finite_differences(surrogate):
    step = 1e-6
    away = np.abs(GRID - 1) > 1e-3
    away &= np.abs(GRID - 0.7) > 1e-3
    u = GRID[away]
    slope = (surrogate.value(u + step) - surrogate.value(u - step)) / (2 * step)
    np.testing.assert_allclose(surrogate.slope(u), slope, rtol=1e-6, atol=1e-7)
    bend = (surrogate.slope(u + step) - surrogate.slope(u - step)) / (2 * step)
    np.testing.assert_allclose(surrogate.curvature(u), bend, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("surrogate", [*SMOOTH[:4], hinge], ids=lambda s: s.name)
def test_convex_and_non_increasing(surrogate):
    value = surrogate.value(GRID)
    assert (np.diff(value) <= 0).all()
    assert (np.diff(value, 2) >= -1e-12).all()


@pytest.mark.parametrize("surrogate", SURROGATES.values(), ids=lambda s: s.name)
def test_above_the_margin_loss(surrogate):
    # Phi(u) = min(1, max(0, 1 - u)); natural logarithms need the factor 1 / log 2.
    scale = 1 / math.log(2) if surrogate is logistic else 1
    assert (scale * surrogate.value(GRID) >= np.clip(1 - GRID, 0, 1) - 1e-12).all()


def test_smoothed_hinge_is_the_hinge_s_moreau_envelope():
    width = 0.5
    z = np.linspace(-10, 10, 200_001)
    for u in (-2.0, 0.4, 0.6, 0.9, 1.5):
        envelope = np.min(hinge.value(z) + (z - u) ** 2 / (2 * width))
        np.testing.assert_allclose(smoothed_hinge(width).value(u), envelope, atol=1e-8)
    with pytest.raises(ValueError, match="width must be a positive number"):
        smoothed_hinge(0)


@pytest.mark.parametrize("surrogate", [*SMOOTH, hinge], ids=lambda s: s.name)
def test_extremes_do_not_overflow_into_nan(surrogate):
    for dtype in (np.float32, np.float64):
        u = np.array([-1e4, 0, 1e4], dtype)
        value, slope = surrogate.value_slope(u)
        assert not np.isnan(value).any()
        assert not np.isnan(slope).any()
        assert value.dtype == dtype


def test_softplus():
    np.testing.assert_allclose(softplus(np.array([-1e4, 0.0, 1e4])), [0, math.log(2), 1e4])


@pytest.mark.parametrize("name", SURROGATES)
def test_max_form_against_plain_loops(name):
    n, c = 50, 5
    scores, y = RNG.normal(size=(n, c)), RNG.integers(0, c, n)
    rho = RNG.uniform(0.2, 1, c)
    loss, gradient = max_form(SURROGATES[name], scores, y, rho)
    for i in range(n):
        k = y[i]
        terms = [plain(name, (scores[i, k] - scores[i, j]) / rho[k]) for j in range(c) if j != k]
        assert loss[i] == pytest.approx(max(terms), rel=1e-12)
    step = 1e-6
    for j in range(c):
        shift = step * np.eye(c)[j]
        ahead = max_form(SURROGATES[name], scores + shift, y, rho)[0]
        behind = max_form(SURROGATES[name], scores - shift, y, rho)[0]
        np.testing.assert_allclose(gradient[:, j], (ahead - behind) / (2 * step), atol=1e-5)


def test_max_form_breaks_ties_towards_the_highest_index():
    _, gradient = max_form(hinge, [[0.0, 0.0, 0.0]], [0], [1.0, 1.0, 1.0])
    np.testing.assert_array_equal(gradient, [[-1, 0, 1]])
