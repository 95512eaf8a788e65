"""The decorator of the compiled kernels."""

import numpy as np
import pytest

pytest.importorskip("numba")

from immax.compiled import compiler


def test_kernels_compile_where_nothing_can_be_cached(monkeypatch):
    real = compiler.njit

    def without_cache(cache=False, **options):
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return real(**options)

    monkeypatch.setattr(compiler, "njit", without_cache)
    assert compiler.jit()(lambda x: x + 1)(1) == 2


def test_c_functions_compile_where_nothing_can_be_cached(monkeypatch):
    real = compiler.cfunc

    def without_cache(signature, cache=False):
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return real(signature)

    monkeypatch.setattr(compiler, "cfunc", without_cache)
    assert compiler.c_function("float64(float64)")(lambda x: x + 1).ctypes(1.0) == 2


def test_the_error_model_decides_about_divisions_by_zero(monkeypatch):
    monkeypatch.setattr(compiler, "njit", lambda cache, real=compiler.njit, **o: real(**o))
    divide = lambda x, y: x / y  # noqa: E731
    assert np.isinf(compiler.jit(error_model="numpy")(divide)(1.0, 0.0))
    with pytest.raises(ZeroDivisionError):
        compiler.jit()(divide)(1.0, 0.0)
