"""Values of the Gaussian kernel from inner products, in one pass."""

from __future__ import annotations

from immax.arrays import Array
from immax.compiled.compiler import jit
from immax.compiled.vector_math import FAST, exp_of_negative

__all__ = ["gaussian"]


@jit(fastmath=FAST)
def _fill_row(products: Array, square: float, squares: Array, gamma: float, out: Array) -> None:
    number = out.dtype.type
    for i in range(products.size):
        exponent = number(gamma * (2 * products[i] - square - squares[i]))
        out[i] = exp_of_negative(exponent if exponent < 0 else number(0))


@jit()
def gaussian(products: Array, left: Array, right: Array, gamma: float, out: Array) -> None:
    """Fill ``out`` with ``exp(-gamma (left_i + right_j - 2 products_ij))``.

    Parameters
    ----------
    products : ndarray of shape (n, m)
        Inner products.
    left, right : ndarrays of shape (n,) and (m,)
        Squared norms.
    gamma : float
        The kernel's coefficient.
    out : ndarray of shape (n, m)
        Receives the values, in its own precision.
    """
    for i in range(products.shape[0]):
        _fill_row(products[i], left[i], right, gamma, out[i])
