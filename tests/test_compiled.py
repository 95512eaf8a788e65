"""The compiled kernels against the NumPy code that they stand in for."""

import numpy as np
import pytest

from immax import compiled, links

pytest.importorskip("numba")


@pytest.fixture
def eager(monkeypatch):
    monkeypatch.setattr(compiled, "PATIENCE", 0)


@pytest.mark.parametrize(("dtype", "lowest"), [(np.float32, -87), (np.float64, -708)])
def test_exponential_is_right_to_two_units_in_the_last_place(dtype, lowest):
    from immax.compiled.vector_math import exponentials

    inside = -np.geomspace(1e-12, -lowest, 10_001)[:-1]
    x = np.append(inside, [0.0, -1e30, -np.inf]).astype(dtype)[None]
    out = np.empty_like(x)
    exponentials(x, 0, dtype(1), dtype(0), out, 0)
    exact = np.exp(x.astype(np.float64)).astype(dtype)
    assert (np.abs(out - exact) <= 2 * np.spacing(exact)).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_logarithm_is_right_to_four_units_in_the_last_place(dtype):
    from numba import njit

    from immax.compiled.vector_math import log1p_of_positive

    @njit
    def logarithms(x, out):
        for i in range(x.size):
            out[i] = log1p_of_positive(x[i])

    x = np.append(np.geomspace(1e-30, 1e6, 10_001), 0).astype(dtype)
    out = np.empty_like(x)
    logarithms(x, out)
    exact = np.log1p(x.astype(np.float64)).astype(dtype)
    assert (np.abs(out - exact) <= 4 * np.spacing(exact)).all()


def test_the_same_functions_in_plain_python():
    from immax.compiled.vector_math import exp_of_negative, log1p_of_positive

    assert exp_of_negative(-2.0) == np.exp(-2.0)
    assert log1p_of_positive(1e-20) == 1e-20


@pytest.mark.parametrize("scale", [1.0, 30.0, 1e4])
@pytest.mark.parametrize("loss", ["logistic", "exponential"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_link_agrees(scale, loss, dtype, eager, monkeypatch):
    rng = np.random.default_rng(0)
    scores = (scale * rng.standard_normal((40, 30))).astype(dtype)
    scores[::2] /= scale  # tame rows among the wild ones
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


def test_small_work_and_a_missing_numba_are_left_to_numpy(monkeypatch):
    assert not compiled.worth_compiling(compiled.PATIENCE - 1)
    assert compiled.worth_compiling(compiled.PATIENCE)
    monkeypatch.setattr(compiled, "numba_is_here", lambda: False)
    assert not compiled.worth_compiling(compiled.PATIENCE)


def test_kernels_compile_where_nothing_can_be_kept(monkeypatch):
    from immax.compiled import jit

    real = jit.njit

    def nowhere(cache=False, **options):
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return real(**options)

    monkeypatch.setattr(jit, "njit", nowhere)
    assert jit.jit()(lambda x: x + 1)(1) == 2
