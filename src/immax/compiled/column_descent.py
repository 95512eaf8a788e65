"""Passes of coordinate descent over the columns of the features, for ``solvers.column_descent``.

Dense columns are in Fortran order; sparse ones are those of a CSC matrix.
"""

from __future__ import annotations

from immax.arrays import Array
from immax.compiled.compiler import jit

__all__ = ["dense_moments", "dense_passes", "sparse_moments", "sparse_passes"]

ACTIVE_PASSES = 10  # over the coefficients that are not zero, for each pass over all


@jit(fastmath={"contract", "reassoc", "nsz"})
def _dense_dot(X: Array, j: int, v: Array) -> float:
    total = 0.0
    for i in range(v.size):
        total += X[i, j] * v[i]
    return total


@jit(fastmath={"contract", "reassoc", "nsz"})
def _dense_add(X: Array, j: int, h: Array, v: Array, change: float) -> None:
    for i in range(v.size):
        v[i] += change * X[i, j] * h[i]


@jit(fastmath={"contract", "reassoc", "nsz"})
def _sparse_dot(data: Array, indices: Array, first: int, last: int, v: Array) -> float:
    total = 0.0
    for e in range(first, last):
        total += data[e] * v[indices[e]]
    return total


@jit(fastmath={"contract"})
def _sparse_add(
    data: Array, indices: Array, first: int, last: int, h: Array, v: Array, change: float
) -> None:
    for e in range(first, last):
        i = indices[e]
        v[i] += change * data[e] * h[i]


@jit(fastmath={"contract", "reassoc", "nsz"})
def dense_moments(X: Array, columns: Array, h: Array, first: Array, second: Array) -> None:
    """Write the sums of the weighted columns, and of their squares.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Features, in Fortran order.
    columns : ndarray of int, shape (p,)
        Which columns.
    h : ndarray of shape (n,)
        Weights of the samples.
    first, second : ndarrays of shape (p,)
        The sums; changed in place.
    """
    for q in range(columns.size):
        j = columns[q]
        one = two = 0.0
        for i in range(h.size):
            x = X[i, j]
            weighted = x * h[i]
            one += weighted
            two += weighted * x
        first[q] = one
        second[q] = two


@jit(fastmath={"contract", "reassoc", "nsz"})
def sparse_moments(
    data: Array,
    indices: Array,
    indptr: Array,
    columns: Array,
    h: Array,
    first: Array,
    second: Array,
) -> None:
    """Write the sums of the weighted columns of a sparse matrix, and of their squares.

    Parameters
    ----------
    data, indices, indptr : ndarrays
        The arrays of a CSC matrix.
    columns, h, first, second : ndarrays
        As in ``dense_moments``.
    """
    for q in range(columns.size):
        j = columns[q]
        one = two = 0.0
        for e in range(indptr[j], indptr[j + 1]):
            x = data[e]
            weighted = x * h[indices[e]]
            one += weighted
            two += weighted * x
        first[q] = one
        second[q] = two


@jit()
def _best(z: float, slope: float, curvature: float, threshold: float) -> float:
    """Return the best value of a coefficient with this slope and curvature."""
    target = curvature * z - slope
    if target > threshold:
        return (target - threshold) / curvature
    if target < -threshold:
        return (target + threshold) / curvature
    return 0.0


@jit()
def dense_passes(
    X: Array,
    columns: Array,
    h: Array,
    v: Array,
    gradient: Array,
    start: Array,
    z: Array,
    thresholds: Array,
    ridges: Array,
    damping: Array,
    curvatures: Array,
    sums: Array,
    total: float,
    bias: float,
    passes: int,
    tol: float,
) -> tuple[float, float]:
    """Minimise a quadratic model over one coefficient after the other.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Features, in Fortran order.
    columns : ndarray of int, shape (p,)
        The column of each coefficient.
    h, v : ndarrays of shape (n,)
        The curvature of the samples, and the curvature times the change of the scores without
        that of the bias; v is changed in place.
    gradient, start, z : ndarrays of shape (p,)
        The gradient at the start, the coefficients there and now; z is changed in place.
    thresholds, ridges, damping : ndarrays of shape (p,)
        The weights of the absolute values, of the squares (twice), and of the squared changes.
    curvatures, sums : ndarrays of shape (p,)
        The second derivatives, bias included, and the columns summed by curvature.
    total : float
        The sum of the curvature, or zero without a bias.
    bias : float
        The change of the bias.
    passes : int
        The most passes over all coefficients.
    tol : float
        Stop when no coefficient changes by more than this, times its curvature.

    Returns
    -------
    violation : float
        The largest such change in the last pass over all coefficients.
    bias : float
        The change of the bias.
    """
    violation = 0.0
    for _ in range(passes):
        for inner in range(ACTIVE_PASSES + 1):
            largest = 0.0
            for q in range(columns.size):
                if (inner > 0 and z[q] == 0.0) or not curvatures[q] > 0.0:
                    continue
                old = z[q]
                slope = gradient[q] + _dense_dot(X, columns[q], v) + bias * sums[q]
                slope += damping[q] * (old - start[q]) + ridges[q] * old
                new = _best(old, slope, curvatures[q], thresholds[q])
                if new != old:
                    change = new - old
                    z[q] = new
                    _dense_add(X, columns[q], h, v, change)
                    if total > 0.0:
                        bias -= change * sums[q] / total
                    largest = max(largest, abs(change) * curvatures[q])
            if inner == 0:
                violation = largest
            if largest <= tol:
                break
        if violation <= tol:
            break
    return violation, bias


@jit()
def sparse_passes(
    data: Array,
    indices: Array,
    indptr: Array,
    columns: Array,
    h: Array,
    v: Array,
    gradient: Array,
    start: Array,
    z: Array,
    thresholds: Array,
    ridges: Array,
    damping: Array,
    curvatures: Array,
    sums: Array,
    total: float,
    bias: float,
    passes: int,
    tol: float,
) -> tuple[float, float]:
    """Minimise a quadratic model over one coefficient after the other, on sparse columns.

    Parameters
    ----------
    data, indices, indptr : ndarrays
        The arrays of a CSC matrix.
    columns, h, v, gradient, start, z, thresholds, ridges, damping, curvatures, sums
        As in ``dense_passes``.
    total, bias, passes, tol
        As in ``dense_passes``.

    Returns
    -------
    violation : float
        The largest change in the last pass over all coefficients, times its curvature.
    bias : float
        The change of the bias.
    """
    violation = 0.0
    for _ in range(passes):
        for inner in range(ACTIVE_PASSES + 1):
            largest = 0.0
            for q in range(columns.size):
                if (inner > 0 and z[q] == 0.0) or not curvatures[q] > 0.0:
                    continue
                first, last = indptr[columns[q]], indptr[columns[q] + 1]
                old = z[q]
                slope = gradient[q] + _sparse_dot(data, indices, first, last, v) + bias * sums[q]
                slope += damping[q] * (old - start[q]) + ridges[q] * old
                new = _best(old, slope, curvatures[q], thresholds[q])
                if new != old:
                    change = new - old
                    z[q] = new
                    _sparse_add(data, indices, first, last, h, v, change)
                    if total > 0.0:
                        bias -= change * sums[q] / total
                    largest = max(largest, abs(change) * curvatures[q])
            if inner == 0:
                violation = largest
            if largest <= tol:
                break
        if violation <= tol:
            break
    return violation, bias
