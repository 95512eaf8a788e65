"""The compiled Gaussian kernel against its formula."""

import numpy as np
import pytest

pytest.importorskip("numba")

from immax.compiled.gaussian_kernel import gaussian


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_values(dtype):
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((20, 3)), rng.standard_normal((33, 3))
    out = np.empty((20, 33), dtype)
    gaussian(A @ B.T, (A**2).sum(axis=1), (B**2).sum(axis=1), 0.7, out)
    exact = np.exp(-0.7 * ((A[:, None] - B[None]) ** 2).sum(axis=2))
    np.testing.assert_allclose(out, exact, rtol=1e-5 if dtype == np.float32 else 1e-12)
