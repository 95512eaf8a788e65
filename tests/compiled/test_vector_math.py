"""Exponentials and logarithms against NumPy's."""

import numpy as np
import pytest

pytest.importorskip("numba")


@pytest.mark.parametrize(("dtype", "lowest"), [(np.float32, -87), (np.float64, -708)])
def test_exponential_is_right_to_two_units_in_the_last_place(dtype, lowest):
    from immax.compiled.vector_math import exponentials

    inside = -np.geomspace(1e-12, -lowest, 10_001)[:-1]
    x = np.append(inside, [0.0, -1e30, -np.inf]).astype(dtype)[None]
    out = np.empty_like(x)
    exponentials(x, 0, dtype(1), dtype(0), out, 0)
    exact = np.exp(x.astype(np.float64)).astype(dtype)
    assert (np.abs(out - exact) <= 2 * np.spacing(exact)).all()


@pytest.mark.parametrize(("dtype", "lowest"), [(np.float32, -126), (np.float64, -1022)])
def test_power_of_two_is_right_to_two_units_in_the_last_place(dtype, lowest):
    from numba import njit

    from immax.compiled.vector_math import exp2_of_negative

    @njit
    def powers(x, out):
        for i in range(x.size):
            out[i] = exp2_of_negative(x[i])

    inside = -np.geomspace(1e-12, -lowest, 10_001)[:-1]
    x = np.append(inside, [0.0, -1.0, -1e30, -np.inf]).astype(dtype)
    out = np.empty_like(x)
    powers(x, out)
    exact = np.exp2(x.astype(np.float64)).astype(dtype)
    assert (np.abs(out - exact) <= 2 * np.spacing(exact)).all()
    assert out[-4:].tolist() == [1, 0.5, 0, 0]


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


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_integers_in_the_order_of_numbers_and_of_their_sizes(dtype):
    from numba import njit

    from immax.compiled.vector_math import from_ordinal, magnitude, ordinal

    @njit
    def integers(x, ranks, sizes, back):
        for i in range(x.size):
            ranks[i], sizes[i] = ordinal(x[i]), magnitude(x[i])
            back[i] = from_ordinal(ordinal(x[i]))

    x = np.array([-np.inf, -3.5, -1, -1e-30, -0.0, 0.0, 1e-30, 1, 3.5, np.inf, np.nan], dtype)
    ranks, sizes, back = np.empty(x.size, np.int64), np.empty(x.size, np.int64), np.empty_like(x)
    integers(x, ranks, sizes, back)
    assert (np.diff(ranks[:-1]) > 0).all()
    assert (np.diff(sizes[5:]) > 0).all()
    assert sizes[:5].tolist() == sizes[5:10][::-1].tolist()
    np.testing.assert_array_equal(back, x)


def test_the_same_functions_in_plain_python():
    from immax.compiled.vector_math import exp2_of_negative, exp_of_negative, log1p_of_positive

    assert exp_of_negative(-2.0) == np.exp(-2.0)
    assert exp2_of_negative(-2.0) == 0.25
    assert log1p_of_positive(1e-20) == 1e-20
