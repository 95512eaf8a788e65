"""The link's Markov chain over temperatures, a few samples at a time, so that all stays cached."""

from __future__ import annotations

import numpy as np

from immax.arrays import Array
from immax.compiled.compiler import jit
from immax.compiled.vector_math import exponentials, total

__all__ = ["temperature_chain"]

LANES = 8  # samples that are computed side by side
MOST_EXPONENTIALS = 20_000  # of a sample, if those of eight are to fit into the cache
LOWEST_LOG_RATE = -250.0  # products of larger rates are far from underflow


def temperature_chain(
    h: Array, inverse: Array, groups: Array, own: bool
) -> tuple[Array, Array | None, Array]:
    """Return the stationary distributions when row k is ``softmax(h * inverse_g(k))``.

    Parameters
    ----------
    h : ndarray of shape (n, c)
        Scores.
    inverse : ndarray of shape (g,)
        The distinct inverse temperatures, ascending.
    groups : ndarray of int, shape (c,)
        The index of each class's inverse temperature.
    own : bool
        Whether to return each class's probability of staying.

    Returns
    -------
    q : ndarray of shape (n, c)
        The stationary distributions.
    staying : ndarray of shape (n, c), or None
        The probabilities of staying.
    well_scaled : ndarray of bool, shape (n,)
        Samples whose rates are far from underflow; the rows of all others are meaningless.
    """
    order = np.argsort(groups, kind="stable")
    starts = np.searchsorted(groups[order], np.arange(inverse.size + 1))
    q = np.empty(h.shape)
    staying = np.empty(h.shape if own else (0, 0))
    well_scaled = np.empty(h.shape[0], np.bool_)
    lanes = LANES if inverse.size * h.shape[1] <= MOST_EXPONENTIALS else 1
    _fill_chains(h, inverse, order, starts, lanes, q, staying, well_scaled)
    return q, staying if own else None, well_scaled


@jit(fastmath={"contract"}, error_model="numpy")
def _invert(values: Array) -> None:
    for b in range(values.size):
        values[b] = 1.0 / values[b]


@jit(fastmath={"contract"}, error_model="numpy")
def _stationary(rates: Array, state: Array) -> None:
    """Reduce the states of several chains side by side; overwrites the rates."""
    g, lanes = state.shape
    leaving = np.empty(lanes)
    for k in range(g - 1, 0, -1):
        leaving[:] = 0.0
        for a in range(k):
            for b in range(lanes):
                leaving[b] += rates[k, a, b]
        _invert(leaving)
        for a in range(k):
            into = rates[a, k]
            for b in range(lanes):
                into[b] *= leaving[b]
            for j in range(k):
                here, added = rates[a, j], rates[k, j]
                for b in range(lanes):
                    here[b] += into[b] * added[b]
    state[:] = 0.0
    state[0] = 1.0
    for k in range(1, g):
        for a in range(k):
            for b in range(lanes):
                state[k, b] += state[a, b] * rates[a, k, b]
        for b in range(lanes):
            leaving[b] = max(state[k, b], 1.0)
        _invert(leaving)
        for a in range(k + 1):
            for b in range(lanes):
                state[a, b] *= leaving[b]


@jit(fastmath={"contract"}, error_model="numpy")
def _fill_chains(
    h: Array,
    beta: Array,
    order: Array,
    starts: Array,
    lanes: int,
    q: Array,
    staying: Array,
    well_scaled: Array,
) -> None:
    n, c = h.shape
    g = beta.size
    single = g == c  # a class is its group, and all of its mass
    z, sink = np.empty((lanes, c)), np.empty(c)
    rows = np.ones((lanes, g, c))
    best = np.zeros((1, g * lanes))
    tops = best.reshape((g, lanes))
    flat = np.empty((g, g * lanes))
    mass = flat.reshape((g, g, lanes))
    sums = np.ones((g, g, lanes))
    share = np.empty((g, g, lanes))
    state, whole = np.empty((g, lanes)), np.empty(lanes)
    for begin in range(0, n, lanes):
        count = min(lanes, n - begin)
        for b in range(count):
            highest = -np.inf
            for j in range(g):
                top = -np.inf
                for p in range(starts[j], starts[j + 1]):
                    z[b, p] = h[begin + b, order[p]]
                    top = max(top, z[b, p])
                for p in range(starts[j], starts[j + 1]):
                    z[b, p] -= top
                tops[j, b] = top
                highest = max(highest, top)
            lowest = 0.0
            for j in range(g):
                tops[j, b] -= highest
                lowest = min(lowest, tops[j, b])
            well_scaled[begin + b] = beta[-1] * lowest > LOWEST_LOG_RATE
            if not well_scaled[begin + b]:
                tops[:, b] = 0.0
        for s in range(g):
            exponentials(best, 0, beta[s], 0.0, flat, s)
            if not single:
                for b in range(count):
                    exponentials(z, b, beta[s], 0.0, rows[b], s)
                    for j in range(g):
                        sums[s, j, b] = total(rows[b], s, starts[j], starts[j + 1])
                        mass[s, j, b] *= sums[s, j, b]
            whole[:] = 0.0
            for j in range(g):
                for b in range(lanes):
                    whole[b] += mass[s, j, b]
            _invert(whole)
            for j in range(g):
                for b in range(lanes):
                    mass[s, j, b] *= whole[b]
            if staying.size or not single:
                # A row's share of each exponential; the reduction overwrites the masses.
                for j in range(g):
                    for b in range(lanes):
                        share[s, j, b] = mass[s, j, b] / sums[s, j, b]
        _stationary(mass, state)
        whole[:] = 0.0
        for s in range(g):
            for b in range(lanes):
                whole[b] += state[s, b]
        _invert(whole)
        for b in range(count):
            i = begin + b
            if single:
                for p in range(c):
                    q[i, order[p]] = state[p, b] * whole[b]
            else:
                sink[:] = 0.0
                for s in range(g):
                    for j in range(g):
                        weight = state[s, b] * whole[b] * share[s, j, b]
                        for p in range(starts[j], starts[j + 1]):
                            sink[p] += weight * rows[b, s, p]
                for p in range(c):
                    q[i, order[p]] = sink[p]
            if staying.size:
                for s in range(g):
                    for p in range(starts[s], starts[s + 1]):
                        staying[i, order[p]] = rows[b, s, p] * share[s, s, b]
