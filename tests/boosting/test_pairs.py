"""Gradients, Hessians and the scores to begin with."""

import numpy as np
import pytest
from scipy.optimize import minimize

from immax.boosting.pairs import HESSIAN_FLOOR, constant_scores, gradient_hessian
from immax.losses.catalog import METHODS, make_spec
from immax.losses.spec import LossSpec

COUNTS = np.array([900.0, 80.0, 15.0, 5.0])


def sample(n=40, c=4, order="C", dtype=np.float64):
    rng = np.random.default_rng(0)
    scores = np.array(2 * rng.standard_normal((n, c)), order=order, dtype=dtype)
    return scores, rng.integers(0, c, n), rng.uniform(0.5, 2, n)


def differences(f, h, step=1e-4):
    """First and second derivatives of every sample's loss in every score."""
    first, second = np.empty_like(h), np.empty_like(h)
    here = f(h)
    for j in range(h.shape[1]):
        up, down = h.copy(), h.copy()
        up[:, j] += step
        down[:, j] -= step
        first[:, j] = (f(up) - f(down)) / (2 * step)
        second[:, j] = (f(up) - 2 * here + f(down)) / step**2
    return first, second


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("method", METHODS)
def test_many_classes_beside_finite_differences(method, order, compiled, monkeypatch):
    monkeypatch.setattr("immax.boosting.pairs.worth_compiling", lambda _: compiled)
    h, y, w = sample(order=order)
    spec = make_spec(method, COUNTS)
    drop = spec.draw(len(y), 0)
    gradient, hessian = gradient_hessian(spec, h, y, w, drop, factor=2.0)
    kernel_loss = lambda s: w * spec.loss(s, y, 0)  # noqa: E731
    first, second = differences(kernel_loss, h.copy())
    scale = np.abs(first).max()
    np.testing.assert_allclose(gradient, first, atol=2e-5 * scale, rtol=1e-4)
    bend = np.abs(second).max()
    expected = np.maximum(2 * second, HESSIAN_FLOOR)
    np.testing.assert_allclose(hessian, expected, atol=2e-3 * bend, rtol=1e-3)
    assert gradient.dtype == hessian.dtype == np.float32
    assert gradient.flags.f_contiguous == (order == "F")


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_two_classes_beside_finite_differences(method, compiled, monkeypatch):
    monkeypatch.setattr("immax.boosting.pairs.worth_compiling", lambda _: compiled)
    h, y, w = sample(c=2)
    h = h[:, 0]
    spec = make_spec(method, np.array([90.0, 10.0]))
    drop = spec.draw(len(y), 0)
    gradient, hessian = gradient_hessian(spec, h, y, w, drop)
    both = lambda s: w * spec.loss(np.stack([-s[:, 0] / 2, s[:, 0] / 2], 1), y, 0)  # noqa: E731
    first, second = differences(both, h[:, None].copy())
    np.testing.assert_allclose(gradient, first[:, 0], atol=2e-5 * np.abs(first).max(), rtol=1e-4)
    expected = np.maximum(second[:, 0], HESSIAN_FLOOR)
    np.testing.assert_allclose(hessian, expected, atol=2e-3 * np.abs(second).max(), rtol=1e-3)


@pytest.mark.parametrize("compiled", [False, True])
def test_hessians_do_not_vanish(compiled, monkeypatch):
    monkeypatch.setattr("immax.boosting.pairs.worth_compiling", lambda _: compiled)
    h = np.array([[80.0, -80.0, 0.0]], dtype=np.float32)
    spec = LossSpec(np.ones(3))
    gradient, hessian = gradient_hessian(spec, h, np.array([0]))
    assert (hessian >= np.float32(HESSIAN_FLOOR)).all()
    assert np.isfinite(gradient).all()
    single = gradient_hessian(LossSpec(np.ones(2)), np.array([200.0]), np.array([1]))
    assert single[1][0] >= np.float32(HESSIAN_FLOOR)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("counts", [COUNTS, np.array([970.0, 30.0])], ids=["many", "two"])
def test_the_start_is_the_best_constant(method, counts):
    spec = make_spec(method, counts)
    c = len(counts)
    share = counts / counts.sum()

    def risk(b, drop):
        scores = np.tile(np.array([-b[0] / 2, b[0] / 2]) if c == 2 else b, (c, 1))
        from immax.losses.softmax import SoftmaxKernel

        kept = None if drop is None else np.full(c, drop)
        return share @ SoftmaxKernel(spec, np.arange(c), kept).loss(scores)

    def mean(b):
        if not spec.random:
            return risk(b, None)
        return spec.drop_rate * risk(b, True) + (1 - spec.drop_rate) * risk(b, False)

    found = constant_scores(spec, counts)
    assert found.shape == ((1,) if c == 2 else (c,))
    best = minimize(mean, np.zeros(found.size), tol=1e-12)
    assert mean(found) <= best.fun + 1e-8
