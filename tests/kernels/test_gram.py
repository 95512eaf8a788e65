"""Kernel values."""

import numpy as np
import pytest
from kernel_samples import OPTIONS, sample
from scipy import sparse
from sklearn.metrics.pairwise import pairwise_kernels

from immax.kernels import gram
from immax.kernels.gram import Kernel


@pytest.mark.parametrize("thin", [False, True])
@pytest.mark.parametrize("name", ["linear", "poly", "rbf", "sigmoid"])
def test_kernel_values(name, thin):
    X, _ = sample()
    points = X[::2] + 100  # far from the origin, where distances lose digits
    X = X + 100 if name == "rbf" else X
    points = points if name == "rbf" else points - 100
    expected = pairwise_kernels(X, points, metric=name, filter_params=True, **OPTIONS)
    convert = sparse.csr_matrix if thin else np.asarray
    kernel = Kernel(name, convert(points), **OPTIONS)
    np.testing.assert_allclose(kernel(convert(X)), expected, rtol=1e-9)
    single = np.empty(expected.shape, np.float32)
    np.testing.assert_allclose(kernel(convert(X), single), expected, rtol=1e-5)
    np.testing.assert_allclose(
        kernel.diagonal(),
        np.diag(pairwise_kernels(points, metric=name, filter_params=True, **OPTIONS)),
    )
    coefficients = np.random.default_rng(0).standard_normal((2, len(points)))
    np.testing.assert_allclose(
        kernel.combine(convert(X), coefficients), expected @ coefficients.T, rtol=1e-7, atol=1e-9
    )


@pytest.mark.parametrize("degree", [1, 2, 5, 2.5, 12])
def test_powers(degree):
    X = np.abs(sample()[0])
    kernel = Kernel("poly", X, 0.3, degree, 0.5)
    np.testing.assert_allclose(kernel(X), (0.3 * X @ X.T + 0.5) ** degree, rtol=1e-12)


def test_large_blocks_by_threads_and_compiled_are_the_same():
    rng = np.random.default_rng(0)
    X, points = rng.standard_normal((2, 2500, 5))
    coefficients = rng.standard_normal((3, 2500))
    for name in ("rbf", "linear"):
        expected = pairwise_kernels(X, points, metric=name, filter_params=True, gamma=0.3)
        kernel = Kernel(name, points, 0.3)
        np.testing.assert_allclose(
            kernel.combine(X, coefficients), expected @ coefficients.T, rtol=1e-9, atol=1e-9
        )


def test_an_unknown_kernel():
    with pytest.raises(ValueError, match="no kernel 'gauss'"):
        Kernel("gauss", np.ones((2, 2)))


def test_a_kernel_is_compiled_for_all_rows_that_are_expected_together(monkeypatch):
    expected = []
    monkeypatch.setattr(gram, "worth_compiling", expected.append)
    X = np.random.default_rng(0).standard_normal((300, 2))
    kernel = Kernel("rbf", X[:20])
    kernel(X[:1])
    kernel(X[:1], expected_rows=500)
    kernel.combine(X, np.ones((1, 20)))
    assert expected == [20 * 20, 500 * 20, 300 * 20]
