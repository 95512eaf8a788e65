"""Passes of coordinate descent over the columns of the features, for ``solvers.column_descent``.

The columns lie one after the other in ``data``, column j from ``indptr[j]`` to ``indptr[j + 1]``.
Those of a sparse matrix have the rows of their entries in ``indices``, as in the CSC format; those
of a dense matrix have an entry in every row, and ``indices`` is empty.
"""

from __future__ import annotations

from immax.arrays import Array
from immax.compiled.compiler import jit

__all__ = ["column_moments", "column_passes"]

ACTIVE_PASSES = 10  # over the coefficients that still change, for each pass over all
BUSY = 0.3  # of the tolerance; coefficients that change by less wait for the next pass over all


@jit(fastmath={"contract", "reassoc", "nsz"}, owns_arrays=False)
def _dot(column: Array, rows: Array, v: Array) -> float:
    total = 0.0
    if rows.size == 0:
        for i in range(column.size):
            total += column[i] * v[i]
    else:
        for e in range(column.size):
            total += column[e] * v[rows[e]]
    return total


@jit(fastmath={"contract", "reassoc", "nsz"}, owns_arrays=False)
def _add(column: Array, rows: Array, h: Array, v: Array, change: float) -> None:
    if rows.size == 0:
        for i in range(column.size):
            v[i] += change * column[i] * h[i]
    else:
        for e in range(column.size):
            v[rows[e]] += change * column[e] * h[rows[e]]


@jit(fastmath={"contract", "reassoc", "nsz"}, owns_arrays=False)
def _weighted_sums(column: Array, rows: Array, h: Array) -> tuple[float, float]:
    one = two = 0.0
    if rows.size == 0:
        for i in range(column.size):
            weighted = column[i] * h[i]
            one += weighted
            two += weighted * column[i]
    else:
        for e in range(column.size):
            weighted = column[e] * h[rows[e]]
            one += weighted
            two += weighted * column[e]
    return one, two


@jit(owns_arrays=False)
def column_moments(
    data: Array,
    indices: Array,
    indptr: Array,
    columns: Array,
    h: Array,
    first: Array,
    second: Array,
) -> None:
    """Write the sums of the weighted columns, and of their squares.

    Parameters
    ----------
    data, indices, indptr : ndarrays
        All columns; ``indices`` is empty for a dense matrix.
    columns : ndarray of int, shape (p,)
        Which of them.
    h : ndarray of shape (n,)
        Weights of the samples.
    first, second : ndarrays of shape (p,)
        The sums; changed in place.
    """
    for q in range(columns.size):
        begin, end = indptr[columns[q]], indptr[columns[q] + 1]
        first[q], second[q] = _weighted_sums(data[begin:end], indices[begin:end], h)


@jit(owns_arrays=False)
def _best(z: float, slope: float, curvature: float, threshold: float) -> float:
    """Return the best value of a coefficient with this slope and curvature."""
    target = curvature * z - slope
    if target > threshold:
        return (target - threshold) / curvature
    if target < -threshold:
        return (target + threshold) / curvature
    return 0.0


@jit(owns_arrays=False)
def column_passes(
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
    busy: Array,
    total: float,
    bias: float,
    passes: int,
    tol: float,
) -> tuple[float, float]:
    """Minimise a quadratic model over one coefficient after the other.

    Parameters
    ----------
    data, indices, indptr : ndarrays
        All columns; ``indices`` is empty for a dense matrix.
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
    busy : ndarray of bool, shape (p,)
        Scratch: the coefficients that the next passes take up.
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
                old = z[q]
                if (inner > 0 and not busy[q]) or not curvatures[q] > 0.0:
                    continue
                busy[q] = False
                begin, end = indptr[columns[q]], indptr[columns[q] + 1]
                column, rows = data[begin:end], indices[begin:end]
                slope = gradient[q] + _dot(column, rows, v) + bias * sums[q]
                slope += damping[q] * (old - start[q]) + ridges[q] * old
                new = _best(old, slope, curvatures[q], thresholds[q])
                if new != old:
                    change = new - old
                    z[q] = new
                    _add(column, rows, h, v, change)
                    if total > 0.0:
                        bias -= change * sums[q] / total
                    moved = abs(change) * curvatures[q]
                    busy[q] = moved > BUSY * tol
                    largest = max(largest, moved)
            if inner == 0:
                violation = largest
            if largest <= tol:
                break
        if violation <= tol:
            break
    return violation, bias
