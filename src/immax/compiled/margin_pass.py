"""Logistic losses of two classes along a direction, in a single pass over the features.

A block of rows is read from memory once: its scores, its losses and its part of the gradient
are computed while it is in the cache.
"""

from __future__ import annotations

import numpy as np

from immax.arrays import Array
from immax.compiled.compiler import jit
from immax.compiled.vector_math import FAST, exp_of_negative, log1p_of_positive

__all__ = ["dense_margin_pass", "sparse_margin_pass"]

REDUCTION = {"reassoc", "contract", "nsz"}
BLOCK_ENTRIES = 2**16  # of the features, that stay in a cache of the core
MOST_ROWS = 2048


@jit(fastmath=REDUCTION, owns_arrays=False)
def _dense_scores(X: Array, w: Array, bias: float, ray: Array) -> None:
    n, d = X.shape
    together = n - n % 4
    for i in range(0, together, 4):
        a = b = c = e = bias
        for j in range(d):
            a += X[i, j] * w[j]
            b += X[i + 1, j] * w[j]
            c += X[i + 2, j] * w[j]
            e += X[i + 3, j] * w[j]
        ray[i], ray[i + 1], ray[i + 2], ray[i + 3] = a, b, c, e
    for i in range(together, n):
        a = bias
        for j in range(d):
            a += X[i, j] * w[j]
        ray[i] = a


@jit(fastmath=REDUCTION, owns_arrays=False)
def _add_dense_gradient(X: Array, residuals: Array, gradient: Array) -> None:
    n, d = X.shape
    together = n - n % 4
    for i in range(0, together, 4):
        a, b, c, e = residuals[i], residuals[i + 1], residuals[i + 2], residuals[i + 3]
        for j in range(d):
            gradient[j] += a * X[i, j] + b * X[i + 1, j] + c * X[i + 2, j] + e * X[i + 3, j]
    for i in range(together, n):
        a = residuals[i]
        for j in range(d):
            gradient[j] += a * X[i, j]


@jit(fastmath=FAST, owns_arrays=False)
def _write_margins(
    h: Array, ray: Array, slope: Array, shift: Array, moved: Array, margins: Array
) -> None:
    # The compiler does not vectorise loops over many arrays, which might overlap.
    for i in range(h.size):
        moved[i] = h[i] + ray[i]
    for i in range(h.size):
        margins[i] = slope[i] * moved[i] + shift[i]


@jit(fastmath=FAST, error_model="numpy", owns_arrays=False)
def _write_losses(margins: Array, loss: Array) -> None:
    """Write the losses, and replace the margins by their slopes."""
    one, zero = loss.dtype.type(1), loss.dtype.type(0)
    for i in range(margins.size):
        u = margins[i]
        small = exp_of_negative(-abs(u))
        loss[i] = log1p_of_positive(small) - (u if u < zero else zero)
        margins[i] = -(small if u > zero else one) / (one + small)


@jit(fastmath=REDUCTION, owns_arrays=False)
def _weigh(
    slope: Array, weight: Array, ray: Array, moved: Array, loss: Array, residuals: Array
) -> tuple[float, float]:
    """Turn slopes into residuals; return the weighted loss and its derivative."""
    value = derivative = 0.0
    for i in range(weight.size):
        residuals[i] *= slope[i] * weight[i]
    for i in range(weight.size):
        # A score that is not finite makes the value NaN.
        value += np.float64(weight[i]) * loss[i] + 0.0 * moved[i]
        derivative += np.float64(residuals[i]) * ray[i]
    return value, derivative


@jit(owns_arrays=False)
def _evaluate(
    h: Array,
    ray: Array,
    slope: Array,
    shift: Array,
    weight: Array,
    moved: Array,
    residuals: Array,
    loss: Array,
) -> tuple[float, float]:
    """Write the scores ``h + ray`` and the residuals there; return the loss and its derivative."""
    _write_margins(h, ray, slope, shift, moved, residuals)
    _write_losses(residuals, loss)
    return _weigh(slope, weight, ray, moved, loss, residuals)


@jit(error_model="numpy")
def dense_margin_pass(
    X: Array,
    w: Array,
    bias: float,
    h: Array,
    slope: Array,
    shift: Array,
    weight: Array,
    ray: Array,
    moved: Array,
    residuals: Array,
    begin: int,
    end: int,
) -> tuple[float, float, Array]:
    """Evaluate the risk of some rows at scores ``h + X w + bias``, with its gradient.

    All arrays have the precision of X. Only the rows ``begin`` to ``end`` are read and written.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Features in C order.
    w : ndarray of shape (d,) or (0,)
        A direction of the weights; empty for the risk of the scores ``h`` themselves.
    bias : float
        The direction's bias, in the precision of X.
    h : ndarray of shape (n,)
        Scores.
    slope, shift, weight : ndarray of shape (n,)
        The loss of sample i is ``weight_i log(1 + exp(-slope_i h_i - shift_i))``.
    ray : ndarray of shape (n,)
        Receives ``X w + bias``.
    moved : ndarray of shape (n,)
        Receives ``h + ray``; may be ``h``.
    residuals : ndarray of shape (n,)
        Receives the gradient of the risk in these scores.
    begin, end : int
        The range of rows.

    Returns
    -------
    value : float
        The risk; NaN if a score is not finite.
    derivative : float
        Its derivative along the ray.
    gradient : ndarray of shape (d,)
        Its gradient in the weights.
    """
    d = X.shape[1]
    size = max(4, min(BLOCK_ENTRIES // max(d, 1), MOST_ROWS) // 4 * 4)
    loss, gradient = np.empty(size, X.dtype), np.zeros(d, X.dtype)
    value = derivative = 0.0
    for i in range(begin, end, size):
        e = min(i + size, end)
        own_ray, own_loss, own = ray[i:e], loss[: e - i], residuals[i:e]
        if w.size:
            _dense_scores(X[i:e], w, bias, own_ray)
        else:
            own_ray[:] = 0
        part, change = _evaluate(
            h[i:e], own_ray, slope[i:e], shift[i:e], weight[i:e], moved[i:e], own, own_loss
        )
        value += part
        derivative += change
        _add_dense_gradient(X[i:e], own, gradient)
    return value, derivative, gradient


@jit(fastmath=REDUCTION, owns_arrays=False)
def _sparse_scores(
    data: Array, indices: Array, indptr: Array, w: Array, bias: float, ray: Array
) -> None:
    for i in range(ray.size):
        a = bias
        # Numba asks of every signed index whether it counts from the end.
        for k in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            a += data[k] * w[np.uint64(indices[k])]
        ray[i] = a


@jit(fastmath=REDUCTION, owns_arrays=False)
def _add_sparse_gradient(
    data: Array, indices: Array, indptr: Array, residuals: Array, gradient: Array
) -> None:
    for i in range(residuals.size):
        a = residuals[i]
        for k in range(np.uint64(indptr[i]), np.uint64(indptr[i + 1])):
            gradient[np.uint64(indices[k])] += a * data[k]


@jit(error_model="numpy")
def sparse_margin_pass(
    data: Array,
    indices: Array,
    indptr: Array,
    d: int,
    w: Array,
    bias: float,
    h: Array,
    slope: Array,
    shift: Array,
    weight: Array,
    ray: Array,
    moved: Array,
    residuals: Array,
    begin: int,
    end: int,
) -> tuple[float, float, Array]:
    """Do as ``dense_margin_pass`` with features in a CSR matrix.

    Parameters
    ----------
    data, indices, indptr : ndarray
        The arrays of the matrix; the indices are not checked.
    d : int
        The number of its columns.
    w, bias, h, slope, shift, weight, ray, moved, residuals, begin, end
        As in ``dense_margin_pass``.

    Returns
    -------
    value, derivative, gradient
        As of ``dense_margin_pass``.
    """
    per_row = max(data.size // max(h.size, 1), 1)
    size = max(1, min(BLOCK_ENTRIES // per_row, MOST_ROWS))
    loss, gradient = np.empty(size, data.dtype), np.zeros(d, data.dtype)
    value = derivative = 0.0
    for i in range(begin, end, size):
        e = min(i + size, end)
        own_ray, own_loss, own = ray[i:e], loss[: e - i], residuals[i:e]
        if w.size:
            _sparse_scores(data, indices, indptr[i : e + 1], w, bias, own_ray)
        else:
            own_ray[:] = 0
        part, change = _evaluate(
            h[i:e], own_ray, slope[i:e], shift[i:e], weight[i:e], moved[i:e], own, own_loss
        )
        value += part
        derivative += change
        _add_sparse_gradient(data, indices, indptr[i : e + 1], own, gradient)
    return value, derivative, gradient
