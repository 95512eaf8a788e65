"""The inner loops of the joint dual machine, as in ``solvers.working_set``."""

from __future__ import annotations

from typing import Any

import numpy as np

from immax.compiled.jit import jit

__all__ = ["block", "spread", "sweeps", "violations"]

COLUMNS = 2048  # that stay in the cache while rows are added up


@jit()
def violations(products: Any, biases: Any, a: Any, y: Any, caps: Any, rho: Any, out: Any) -> None:
    """Into ``out``, how far each sample is from its own optimum."""
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
def block(store: Any, slots: Any, columns: Any, out: Any) -> None:
    """Some columns of some rows."""
    for p in range(slots.size):
        row = store[slots[p]]
        for q in range(columns.size):
            out[p, q] = row[columns[q]]


@jit(fastmath={"contract"})
def _add(total: Any, row: Any, factor: Any) -> None:
    for i in range(total.size):
        total[i] += factor * row[i]


@jit()
def spread(store: Any, slots: Any, changes: Any, products: Any) -> None:
    """Add the rows of the samples that changed, times their changes, to the products."""
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
def sweeps(
    kernel: Any,
    products: Any,
    a: Any,
    y: Any,
    caps: Any,
    rho: Any,
    biases: Any,
    sums: Any,
    stiffness: float,
    tol: float,
    most: int,
    eager: float,
    patience: int,
) -> int:
    """Steps over a working set, in place."""
    q, c = a.shape
    linear, order = np.empty(c), np.empty(c)
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
                linear[j] = g
            violation = (top - bottom) / rho[label]
            if violation > worst:
                worst = violation
            curvature = kernel[i, i] + stiffness
            if violation <= bar or curvature <= 0:
                continue
            for j in range(c):
                linear[j] -= curvature * a[i, j]
                order[j] = linear[j] + (curvature * cap if j == label else 0.0)
            for j in range(1, c):  # sorted, the largest first
                value, k = order[j], j - 1
                while k >= 0 and order[k] < value:
                    order[k + 1] = order[k]
                    k -= 1
                order[k + 1] = value
            total, taken = order[0] - curvature * cap, 1
            while taken < c and total < taken * order[taken]:
                total += order[taken]
                taken += 1
            level = total / taken
            steps += 1
            for j in range(c):
                value = min(cap if j == label else 0.0, (level - linear[j]) / curvature)
                change = value - a[i, j]
                if change != 0.0:
                    a[i, j] = value
                    sums[j] += change
                    _add(products[j], kernel[i], one * change)
        if turn % patience == patience - 1:
            for j in range(c):
                biases[j] += stiffness * sums[j]
        if worst <= tol:
            break
    return steps
