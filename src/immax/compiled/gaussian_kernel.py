"""Gaussian kernel values from inner products, in one pass."""

from __future__ import annotations

from typing import Any

from immax.compiled.compiler import jit
from immax.compiled.vector_math import FAST, exp_of_negative

__all__ = ["gaussian"]


@jit(fastmath=FAST)
def _row(products: Any, square: float, squares: Any, gamma: float, out: Any) -> None:
    number = out.dtype.type
    for i in range(products.size):
        exponent = number(gamma * (2 * products[i] - square - squares[i]))
        out[i] = exp_of_negative(exponent if exponent < 0 else number(0))


@jit()
def gaussian(products: Any, left: Any, right: Any, gamma: float, out: Any) -> None:
    """``exp(-gamma (left_i + right_j - 2 products_ij))`` into ``out``, of either precision."""
    for i in range(products.shape[0]):
        _row(products[i], left[i], right, gamma, out[i])
