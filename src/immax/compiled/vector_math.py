"""Exponentials, logarithms and sums that the compiler vectorises."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from immax.arrays import Array
from immax.compiled.compiler import jit

__all__ = [
    "FAST",
    "exp2_of_negative",
    "exp_of_negative",
    "exponentials",
    "exponentiate",
    "log1p_of_positive",
    "total",
]


FAST = {"contract", "nnan", "nsz"}  # fast arithmetic without reassociation


def exp_of_negative(x: float) -> float:
    """Return ``e^x`` for ``x <= 0``, compiled to about two units in the last place.

    ``x = k log 2 + r`` with an integer k and ``|r| <= log(2) / 2``: a Taylor polynomial in r,
    and k added to the exponent's bits. Zero where the result would not be a normal number.
    Reassociation would remove the rounding.

    Parameters
    ----------
    x : float
        Not positive, in single or double precision.

    Returns
    -------
    float
    """
    return np.exp(x)


def exp2_of_negative(x: float) -> float:
    """Return ``2^x`` for ``x <= 0``, as ``exp_of_negative`` does, in fewer operations.

    Parameters
    ----------
    x : float
        Not positive, in single or double precision.

    Returns
    -------
    float
    """
    return np.exp2(x)


@intrinsic
def _to_bits(typing_context: Any, number: Any) -> Any:  # noqa: ARG001
    width = number.bitwidth

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        return builder.bitcast(args[0], ir.IntType(width))

    return (types.int32 if width == 32 else types.int64)(number), generate


@intrinsic
def _from_bits(typing_context: Any, bits: Any) -> Any:  # noqa: ARG001
    double = bits.bitwidth == 64

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        return builder.bitcast(args[0], ir.DoubleType() if double else ir.FloatType())

    return (types.float64 if double else types.float32)(bits), generate


def _power(double: bool, base: float) -> Callable[[Any], Any]:
    """Return the function ``base^x`` for base e or 2."""
    number, integer = (np.float64, np.int64) if double else (np.float32, np.int32)
    width, terms = (52, 12) if double else (23, 7)
    in_base_2 = base == 2
    lowest, zero = number((-1022 if double else -126) * math.log(2, base)), number(0)
    log2_base = number(math.log2(base))
    # log(2) in two parts; products of the first with small integers are exact.
    high = number(0.693147180369123816490 if double else 0.693359375)
    low = number(1.90821492927058770002e-10 if double else -2.12194440e-4)
    # Added to a small number, it leaves that number's nearest integer in the lowest bits.
    rounder, digits = number(1.5 * 2.0**width), integer(width)
    series = tuple(number(math.log(base) ** k / math.factorial(k)) for k in range(terms, -1, -1))

    def power(x: Any) -> Any:
        shifted = x + rounder if in_base_2 else x * log2_base + rounder
        k = shifted - rounder
        r = x - k if in_base_2 else (x - k * high) - k * low
        p = series[0]
        for coefficient in series[1:]:
            p = p * r + coefficient
        bits = integer(_to_bits(p) + (_to_bits(shifted) << digits))
        return _from_bits(bits) if x > lowest else zero  # below, the bits mean nothing

    return power


@intrinsic
def ordinal(typing_context: Any, number: Any) -> Any:  # noqa: ARG001
    """Return an integer that is larger where a number is: the compiler vectorises its maximum.

    It does not vectorise that of numbers, whose order NaN and signed zeros disturb.
    """
    width = number.bitwidth

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        return _flip_negative(builder, builder.bitcast(args[0], ir.IntType(width)))

    return (types.int32 if width == 32 else types.int64)(number), generate


@intrinsic
def from_ordinal(typing_context: Any, rank: Any) -> Any:  # noqa: ARG001
    """Return the number that ``ordinal`` makes an integer of."""
    double = rank.bitwidth == 64

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        bits = _flip_negative(builder, args[0])
        return builder.bitcast(bits, ir.DoubleType() if double else ir.FloatType())

    return (types.float64 if double else types.float32)(rank), generate


@intrinsic
def magnitude(typing_context: Any, number: Any) -> Any:  # noqa: ARG001
    """Return an integer that grows with a number's size; NaN's is larger than infinity's."""
    width = number.bitwidth

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:  # noqa: ARG001
        bits = builder.bitcast(args[0], ir.IntType(width))
        return builder.and_(bits, ir.Constant(bits.type, (1 << (width - 1)) - 1))

    return (types.int32 if width == 32 else types.int64)(number), generate


def _flip_negative(builder: Any, bits: Any) -> Any:
    """Return integers with all bits but the sign's inverted where they are negative."""
    width = bits.type.width
    sign = builder.ashr(bits, ir.Constant(bits.type, width - 1))
    mask = builder.and_(sign, ir.Constant(bits.type, (1 << (width - 1)) - 1))
    return builder.xor(bits, mask)


def log1p_of_positive(x: float) -> float:
    """Return ``log(1 + x)`` for finite ``x >= 0``, compiled to about three units in the last place.

    ``1 + x = 2^k m`` with m near one, ``log m = 2 atanh((m - 1) / (m + 1))`` by its series, and
    a correction for the rounding of ``1 + x``.

    Parameters
    ----------
    x : float
        Finite and not negative, in single or double precision.

    Returns
    -------
    float
    """
    return np.log1p(x)


def _log1p(double: bool) -> Callable[[Any], Any]:
    number, integer = (np.float64, np.int64) if double else (np.float32, np.int32)
    width, centre = (52, 1023) if double else (23, 127)
    digits, bias, mask = integer(width), integer(centre), integer((1 << width) - 1)
    one, two, root = number(1), number(2), number(math.sqrt(2))
    log_2 = number(math.log(2))
    terms = 10 if double else 5
    series = tuple(number(1 / (2 * k + 1)) for k in range(terms, -1, -1))

    def logarithm(x: Any) -> Any:
        u = one + x
        bits = _to_bits(u)
        k = integer((bits >> digits) - bias)
        m = _from_bits(integer((bits & mask) | (bias << digits)))
        large = m > root
        m = m / two if large else m
        k = k + 1 if large else k
        s = (m - one) / (m + one)
        square = s * s
        p = series[0]
        for coefficient in series[1:]:
            p = p * square + coefficient
        return (two * s * p + (x - (u - one)) / u) + number(k) * log_2

    return logarithm


@overload(log1p_of_positive, jit_options={"fastmath": FAST})
def _log1p_of_positive(x: Any) -> Callable[[Any], Any] | None:
    return _log1p(x == types.float64) if x in (types.float64, types.float32) else None


@overload(exp_of_negative, jit_options={"fastmath": FAST})
def _exp_of_negative(x: Any) -> Callable[[Any], Any] | None:
    return _power(x == types.float64, math.e) if x in (types.float64, types.float32) else None


@overload(exp2_of_negative, jit_options={"fastmath": FAST})
def _exp2_of_negative(x: Any) -> Callable[[Any], Any] | None:
    return _power(x == types.float64, 2) if x in (types.float64, types.float32) else None


@jit(fastmath=FAST, owns_arrays=False)
def exponentiate(z: Array, top: float) -> None:
    """Replace ``z`` by ``exp(z - top)``.

    Parameters
    ----------
    z : ndarray
        Changed in place.
    top : float
        At least the largest entry.
    """
    for j in range(z.size):
        z[j] = exp_of_negative(z[j] - top)


@jit(fastmath=FAST, owns_arrays=False)
def exponentials(z: Array, source: int, factor: float, top: float, out: Array, row: int) -> None:
    """Set ``out[row] = exp(factor * (z[source] - top))``.

    Parameters
    ----------
    z, out : two-dimensional ndarrays
        The exponents and the results.
    source, row : int
        Rows of ``z`` and ``out``.
    factor : float
        Positive.
    top : float
        At least the largest entry of the row.
    """
    for j in range(z.shape[1]):
        out[row, j] = exp_of_negative(factor * (z[source, j] - top))


@jit(fastmath={"reassoc", "nsz", "nnan"}, owns_arrays=False)
def total(values: Array, row: int, begin: int, end: int) -> float:
    """Return ``values[row, begin:end].sum()`` without the cost of creating a slice.

    Parameters
    ----------
    values : two-dimensional ndarray
        The terms.
    row, begin, end : int
        The row and its range of columns.

    Returns
    -------
    float
    """
    out = values.dtype.type(0)
    for j in range(begin, end):
        out += values[row, j]
    return out
