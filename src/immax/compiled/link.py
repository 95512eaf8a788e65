"""The link's chain of temperatures, a sample at a time: nothing leaves the cache."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from immax.compiled.jit import jit
from immax.compiled.vector_math import exponentials, total

__all__ = ["temperature_chain"]

Array = NDArray[Any]

FLOOR = -250.0  # of logarithmic rates: their products are far from underflow


def temperature_chain(
    h: Array, inverse: Array, groups: Array, own: bool
) -> tuple[Array, Array | None, Array]:
    """As ``links._temperature_chain``, and whether each sample could be done in this way."""
    order = np.argsort(groups, kind="stable")
    starts = np.searchsorted(groups[order], np.arange(inverse.size + 1))
    q = np.empty(h.shape)
    staying = np.empty(h.shape if own else (0, 0))
    tame = np.empty(h.shape[0], np.bool_)
    _chains(h, inverse, order, starts, q, staying, tame)
    return q, staying if own else None, tame


@jit(fastmath={"reassoc", "contract"})
def _stationary(rates: Array, state: Array) -> None:
    """State reduction; destroys the rates."""
    g = state.size
    for k in range(g - 1, 0, -1):
        leaving = 1.0 / total(rates, k, 0, k)
        for a in range(k):
            into = rates[a, k] * leaving
            rates[a, k] = into
            for b in range(k):
                rates[a, b] += into * rates[k, b]
    state[0] = 1.0
    for k in range(1, g):
        mass = 0.0
        for a in range(k):
            mass += state[a] * rates[a, k]
        state[k] = mass
        largest = max(mass, 1.0)
        for a in range(k + 1):
            state[a] /= largest
    state /= state.sum()


@jit(fastmath={"contract"})
def _chains(
    h: Array, beta: Array, order: Array, starts: Array, q: Array, staying: Array, tame: Array
) -> None:
    n, c = h.shape
    g = beta.size
    z, sink = np.empty((1, c)), np.empty(c)
    rows = np.empty((g, c))
    best, state = np.empty((1, g)), np.empty(g)
    sums, mass = np.empty((g, g)), np.empty((g, g))
    for i in range(n):
        for j in range(g):
            top = -np.inf
            for p in range(starts[j], starts[j + 1]):
                z[0, p] = h[i, order[p]]
                top = max(top, z[0, p])
            for p in range(starts[j], starts[j + 1]):
                z[0, p] -= top
            best[0, j] = top
        best -= best.max()
        tame[i] = beta[-1] * best.min() > FLOOR
        if not tame[i]:
            q[i] = 1.0
            continue
        for s in range(g):
            exponentials(z, 0, beta[s], 0.0, rows, s)
            exponentials(best, 0, beta[s], 0.0, mass, s)
            whole = 0.0
            for j in range(g):
                sums[s, j] = total(rows, s, starts[j], starts[j + 1])
                mass[s, j] *= sums[s, j]
                whole += mass[s, j]
            # A row's share of each exponential; the reduction may then have the masses.
            for j in range(g):
                mass[s, j] /= whole
                sums[s, j] = mass[s, j] / sums[s, j]
        _stationary(mass, state)
        sink[:] = 0.0
        for s in range(g):
            for j in range(g):
                weight = state[s] * sums[s, j]
                for p in range(starts[j], starts[j + 1]):
                    sink[p] += weight * rows[s, p]
        for p in range(c):
            q[i, order[p]] = sink[p]
        if staying.size:
            for s in range(g):
                for p in range(starts[s], starts[s + 1]):
                    staying[i, order[p]] = rows[s, p] * sums[s, s]
