"""The inner loops of the joint dual machine, as in ``kernels.working_set``."""

from __future__ import annotations

import numpy as np

from immax.arrays import Array
from immax.compiled.compiler import jit

__all__ = ["block", "spread", "sweeps", "violations"]

COLUMNS = 2048  # that stay in the cache while rows are added


@jit()
def violations(
    products: Array, biases: Array, a: Array, y: Array, caps: Array, rho: Array, out: Array
) -> None:
    """Fill ``out`` with each sample's violation of optimality, in units of its margin.

    Parameters
    ----------
    products, biases, a, y, caps, rho, out
        As in ``kernels.working_set.violations``.
    """
    c, m = products.shape
    for i in range(m):
        label = y[i]
        top, bottom = -np.inf, np.inf
        for j in range(c):
            g = products[j, i] + biases[j]
            cap = 0.0
            if j == label:
                g -= rho[label]
                cap = caps[i]
            if g > top:
                top = g
            if a[i, j] < cap and g < bottom:
                bottom = g
        out[i] = max((top - bottom) / rho[label], 0.0)


@jit()
def block(store: Array, slots: Array, columns: Array, out: Array) -> None:
    """Fill ``out`` with some columns of some rows.

    Parameters
    ----------
    store, slots, columns, out
        As in ``kernels.working_set.block``.
    """
    for p in range(slots.size):
        row = store[slots[p]]
        for q in range(columns.size):
            out[p, q] = row[columns[q]]


@jit(fastmath={"contract"})
def _add(total: Array, row: Array, factor: float) -> None:
    for i in range(total.size):
        total[i] += factor * row[i]


@jit()
def spread(store: Array, slots: Array, changes: Array, products: Array) -> None:
    """Add the rows of the samples that changed, times their changes, to the products.

    Parameters
    ----------
    store, slots, changes, products
        As in ``kernels.working_set.spread``.
    """
    c, m = products.shape
    part = np.empty((c, COLUMNS), store.dtype)
    for start in range(0, m, COLUMNS):
        stop = min(start + COLUMNS, m)
        part[:] = 0
        for r in range(slots.size):
            row = store[slots[r], start:stop]
            for j in range(c):
                if changes[r, j] != 0:
                    _add(part[j, : stop - start], row, changes[r, j])
        for j in range(c):
            for i in range(start, stop):
                products[j, i] += part[j, i - start]


@jit()
def _settle(row: Array, label: int, cap: float, order: Array) -> None:
    """Project a row onto the rows within its limits that sum to zero."""
    c = row.size
    total = 0.0
    for j in range(c):
        total += row[j]
        room, k = (cap if j == label else 0.0) - row[j], j - 1
        while k >= 0 and order[k] > room:  # insertion sort, the least room first
            order[k + 1] = order[k]
            k -= 1
        order[k + 1] = room
    # All entries move by one amount, except those without that much room.
    shift, taken = -total / c, 0
    while taken < c - 1 and order[taken] < shift:
        total += order[taken]
        taken += 1
        shift = -total / (c - taken)
    for j in range(c):
        row[j] = min(cap if j == label else 0.0, row[j] + shift)


@jit()
def sweeps(
    kernel: Array,
    products: Array,
    a: Array,
    y: Array,
    caps: Array,
    rho: Array,
    biases: Array,
    sums: Array,
    stiffness: float,
    tol: float,
    most: int,
    eager: float,
    patience: int,
) -> int:
    """Optimise the coefficients of a working set, in place.

    Parameters
    ----------
    kernel, products, a, y, caps, rho, biases, sums, stiffness, tol, most, eager, patience
        As in ``kernels.working_set.sweeps``.

    Returns
    -------
    int
        The number of steps.
    """
    q, c = a.shape
    row, order = np.empty(c), np.empty(c)
    one = kernel.dtype.type(1)
    steps = 0
    worst = 0.0
    for turn in range(most):
        bar = max(0.1 * tol, eager * worst)
        worst = 0.0
        for i in range(q):
            label, cap = y[i], caps[i]
            top, bottom = -np.inf, np.inf
            for j in range(c):
                g = products[j, i] + biases[j] + stiffness * sums[j]
                limit = 0.0
                if j == label:
                    g -= rho[label]
                    limit = cap
                if g > top:
                    top = g
                if a[i, j] < limit and g < bottom:
                    bottom = g
                row[j] = g
            violation = (top - bottom) / rho[label]
            if violation > worst:
                worst = violation
            curvature = kernel[i, i] + stiffness
            if violation <= bar or curvature <= 0:
                continue
            for j in range(c):
                row[j] = a[i, j] - row[j] / curvature
            _settle(row, label, cap, order)
            steps += 1
            for j in range(c):
                change = row[j] - a[i, j]
                if change != 0.0:
                    a[i, j] = row[j]
                    sums[j] += change
                    _add(products[j], kernel[i], one * change)
        if turn % patience == patience - 1:
            for j in range(c):
                biases[j] += stiffness * sums[j]
        if worst <= tol:
            break
    return steps
