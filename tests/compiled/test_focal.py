"""The focal functions called from compiled code."""

import numpy as np
import pytest

numba = pytest.importorskip("numba")

from immax.compiled import focal as compiled  # noqa: E402
from immax.losses import focal  # noqa: E402


@pytest.mark.parametrize("focus", [0.5, 1.0, 2.0, 12.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_compiled_functions_are_those_of_numpy(dtype, focus):
    @numba.njit(error_model="numpy")
    def fill(nll, rest, focus, out):
        for i in range(nll.size):
            out[0, i] = compiled.focal_factor(rest[i], focus)
            out[1, i] = compiled.focal_slope(nll[i], rest[i], focus)
            out[2, i] = compiled.focal_curvature(nll[i], rest[i], focus)

    nll = np.append(np.geomspace(1e-37, 100, 50), 0.0).astype(dtype)
    rest = -np.expm1(-nll)
    out = np.empty((3, nll.size))
    fill(nll, rest, focus, out)
    exact = [a.astype(np.float64) for a in (nll, rest)]
    expected = (
        focal.focal_factor(exact[1], focus),
        focal.focal_slope(*exact, focus),
        focal.focal_curvature(*exact, focus),
    )
    for found, wanted in zip(out, expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-5 if dtype == np.float32 else 1e-12)
    assert np.isfinite(out).all()
