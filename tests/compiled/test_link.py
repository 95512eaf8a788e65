"""The compiled link against the NumPy code that it replaces."""

import numpy as np
import pytest

from immax import compiled, links

pytest.importorskip("numba")


@pytest.fixture
def eager(monkeypatch):
    monkeypatch.setattr(compiled, "SMALLEST_WORK", 0)


@pytest.mark.parametrize("scale", [1.0, 30.0, 1e4])
@pytest.mark.parametrize("loss", ["logistic", "exponential"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_link_agrees(scale, loss, dtype, eager, monkeypatch):
    rng = np.random.default_rng(0)
    scores = (scale * rng.standard_normal((40, 30))).astype(dtype)
    scores[::2] /= scale  # well-scaled rows among the others
    rho = rng.uniform(0.5, 2, 6)[rng.integers(0, 6, 30)]
    with_numba = links.immax_proba(scores, rho, loss)
    monkeypatch.setattr(links, "worth_compiling", lambda _: False)
    without = links.immax_proba(scores, rho, loss)
    tiny = np.finfo(dtype).tiny
    rtol = 2e-5 if dtype == np.float32 else 1e-12
    assert with_numba.dtype == dtype
    assert np.isfinite(with_numba).all()
    if dtype == np.float64 or scale == 1:
        np.testing.assert_allclose(with_numba, without, rtol=rtol, atol=1e-300 + tiny)
    else:  # single precision loses digits of scores divided by margins, not of the kernel's
        np.testing.assert_allclose(with_numba, without, rtol=2e-2, atol=1e-6)


def test_catalogue_link_agrees(eager, monkeypatch):
    from immax.losses import LossSpec

    rng = np.random.default_rng(1)
    scores = rng.standard_normal((20, 8))
    spec = LossSpec(rng.uniform(0.5, 2, 8), weight=rng.uniform(0.5, 2, 8))
    with_numba = links.spec_proba(scores, spec)
    monkeypatch.setattr(links, "worth_compiling", lambda _: False)
    np.testing.assert_allclose(with_numba, links.spec_proba(scores, spec), rtol=1e-12)
