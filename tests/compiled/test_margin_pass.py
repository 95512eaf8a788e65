"""The single pass over the features against products and losses of NumPy."""

import numpy as np
import pytest
from scipy import sparse

from immax.losses.margin_risks import MarginRisk
from immax.losses.surrogates import logistic

pytest.importorskip("numba")

N, D = 2300, 35  # several blocks, and no multiple of four


def make_pass(kind, dtype):
    """Return a kernel with its features, a direction, and the arrays of the samples."""
    from immax.compiled.margin_pass import dense_margin_pass, sparse_margin_pass

    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, D)) * (rng.random((N, D)) < 0.3)
    X[5] = 0
    X = X.astype(dtype)
    w, h = rng.standard_normal(D).astype(dtype), 3 * rng.standard_normal(N).astype(dtype)
    slope = rng.choice([-1.2, 0.8], N).astype(dtype)
    shift, weight = rng.standard_normal(N).astype(dtype), (rng.random(N) / N).astype(dtype)
    if kind == "dense":
        return dense_margin_pass, (X,), X, w, h, (slope, shift, weight)
    rows = sparse.csr_matrix(X)
    features = (rows.data, rows.indices, rows.indptr, D)
    return sparse_margin_pass, features, X, w, h, (slope, shift, weight)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_values_scores_and_gradients_are_those_of_numpy(kind, dtype):
    kernel, features, X, w, h, columns = make_pass(kind, dtype)
    bias = dtype(0.3)
    tolerance = {"rtol": 1e-4, "atol": 1e-6} if dtype == np.float32 else {"rtol": 1e-9}
    risk = MarginRisk(logistic, *columns)
    for direction in (w, w[:0]):
        ray, moved, residuals = np.full((3, N), np.nan, dtype)
        parts = [
            kernel(*features, direction, bias, h, *columns, ray, moved, residuals, begin, end)
            for begin, end in ((0, 1001), (1001, N))
        ]
        expected_ray = X @ w + bias if direction.size else np.zeros(N)
        expected = h + expected_ray
        value, gradient = risk.value_gradient(expected[:, None].astype(dtype))
        np.testing.assert_allclose(ray, expected_ray, **tolerance)
        np.testing.assert_allclose(moved, expected, **tolerance)
        np.testing.assert_allclose(residuals, gradient[:, 0], **tolerance)
        assert sum(part[0] for part in parts) == pytest.approx(value, rel=1e-5)
        derivative = float(gradient[:, 0].astype(float) @ expected_ray)
        assert sum(part[1] for part in parts) == pytest.approx(derivative, rel=1e-4, abs=1e-12)
        own = sum(part[2] for part in parts)
        np.testing.assert_allclose(own, X.T @ gradient[:, 0], **(tolerance | {"atol": 1e-7}))


@pytest.mark.parametrize("score", [np.inf, -np.inf, np.nan])
def test_scores_that_are_not_finite_have_no_risk(score):
    kernel, features, _, w, h, columns = make_pass("dense", np.float64)
    h[77] = score
    value, _, _ = kernel(*features, w, 0.0, h, *columns, *np.empty((3, N)), 0, N)
    assert np.isnan(value)


def test_large_margins_neither_overflow_nor_vanish():
    kernel, features, _, w, h, (slope, shift, weight) = make_pass("dense", np.float64)
    h = 1e4 * h
    ray, moved, residuals = np.empty((3, N))
    value, _, _ = kernel(
        *features, w[:0], 0.0, h, slope, shift, weight, ray, moved, residuals, 0, N
    )
    expected = weight @ np.maximum(-(slope * h + shift), 0)
    assert value == pytest.approx(expected, rel=1e-6)
    assert np.isfinite(residuals).all()
