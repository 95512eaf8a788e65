"""The link's Markov chain over temperatures, a few samples at a time, so that all stays cached."""

from __future__ import annotations

import numpy as np

from immax.arrays import Array
from immax.compiled.compiler import jit
from immax.compiled.vector_math import exponentials, total

__all__ = ["temperature_chain"]

LANES = 8  # samples that are computed side by side
MOST_EXPONENTIALS = 6_000  # of a sample, if those of eight are to fit into the cache
LOWEST_LOG_RATE = -250.0  # products of larger rates are far from underflow
MOST_REDUCED_STATES = 40  # of a chain that is reduced; larger ones are iterated
MOST_ITERATIONS = 100
LEAST_OVERLAP = 0.01  # of the rows of a chain that is iterated


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
    solved : ndarray of bool, shape (n,)
        Samples whose rates are far from underflow, or whose iteration has converged; the rows of
        all others are meaningless.
    """
    order = np.argsort(groups, kind="stable")
    starts = np.searchsorted(groups[order], np.arange(inverse.size + 1))
    q = np.empty(h.shape)
    staying = np.empty(h.shape if own else (0, 0))
    solved = np.empty(h.shape[0], np.bool_)
    if inverse.size > MOST_REDUCED_STATES:
        _iterate_chains(h, inverse.astype(h.dtype), order, starts, q, staying, solved)
    else:
        lanes = LANES if inverse.size * h.shape[1] <= MOST_EXPONENTIALS else 1
        _fill_chains(h, inverse, order, starts, lanes, q, staying, solved)
    return q, staying if own else None, solved


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
    solved: Array,
) -> None:
    n, c = h.shape
    g = beta.size
    single = g == c  # a class is its group, and all of its mass
    number = h.dtype.type
    z, sink = np.empty((lanes, c), h.dtype), np.empty(c)
    rows = np.ones((lanes, g, c), h.dtype)
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
                top = number(-np.inf)
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
            solved[begin + b] = beta[-1] * lowest > LOWEST_LOG_RATE
            if not solved[begin + b]:
                tops[:, b] = 0.0
        for s in range(g):
            exponentials(best, 0, beta[s], 0.0, flat, s)
            if not single:
                for b in range(count):
                    exponentials(z, b, number(beta[s]), number(0), rows[b], s)
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


@jit(fastmath={"contract", "nsz", "reassoc"}, owns_arrays=False)
def _advance(state: Array, rates: Array, following: Array) -> None:
    """Set ``following = state @ rates``."""
    following[:] = 0
    for s in range(rates.shape[0]):
        weight = state[s]
        for j in range(rates.shape[1]):
            following[j] += weight * rates[s, j]


@jit(fastmath={"contract"}, error_model="numpy", owns_arrays=False)
def _divide(rows: Array, s: int, whole: float) -> None:
    factor = rows.dtype.type(1) / whole
    for p in range(rows.shape[1]):
        rows[s, p] *= factor


@jit(fastmath={"contract", "nnan", "nsz"}, owns_arrays=False)
def _lower(least: Array, rates: Array, s: int) -> None:
    for j in range(least.size):
        least[j] = rates[s, j] if rates[s, j] < least[j] else least[j]


@jit(fastmath={"contract"}, error_model="numpy")
def _iterate_to_rest(rates: Array, state: Array, following: Array) -> bool:
    """Iterate ``state @ rates`` until it rests, and return whether it does.

    With ``overlap = sum_j min_s rates_sj`` each step shrinks the distance from the stationary
    distribution by ``1 - overlap`` at least, so ``moved / overlap`` bounds that distance after a
    step of length ``moved``. Entries far below the largest must rest in relative terms, too.
    """
    g = state.size
    overlap = 0.0
    following[:] = rates[0]
    for s in range(1, g):
        _lower(following, rates, s)
    for j in range(g):
        overlap += following[j]
    if not overlap > LEAST_OVERLAP:
        return False
    state[:] = rates[g // 2]
    eps = 4 * np.finfo(state.dtype).eps
    for _ in range(MOST_ITERATIONS):
        _advance(state, rates, following)
        moved = relative = 0.0
        for j in range(g):
            change = abs(following[j] - state[j])
            moved += change
            relative = max(relative, change - 16 * eps * following[j])
            state[j] = following[j]
        if moved <= g * eps * overlap and relative <= 0.0:
            return True
    return False


@jit(fastmath={"contract"}, error_model="numpy")
def _iterate_chains(
    h: Array, beta: Array, order: Array, starts: Array, q: Array, staying: Array, solved: Array
) -> None:
    """Fill the same rows by power iteration, one sample at a time, in the precision of ``h``."""
    n, c = h.shape
    g = beta.size
    number = h.dtype.type
    z, sink = np.empty((1, c), h.dtype), np.empty(c, h.dtype)
    rows = np.empty((g, c), h.dtype)
    mass = rows if g == c else np.empty((g, g), h.dtype)  # a class may be its group
    state, following = np.empty(g, h.dtype), np.empty(g, h.dtype)
    for i in range(n):
        top = number(-np.inf)
        for p in range(c):
            z[0, p] = h[i, order[p]]
            top = max(top, z[0, p])
        for s in range(g):
            exponentials(z, 0, beta[s], top, rows, s)
            _divide(rows, s, total(rows, s, 0, c))
            if g < c:
                for j in range(g):
                    mass[s, j] = total(rows, s, starts[j], starts[j + 1])
        solved[i] = _iterate_to_rest(mass, state, following)
        _advance(state, rows, sink)
        for p in range(c):
            q[i, order[p]] = sink[p]
        if staying.size:
            for s in range(g):
                for p in range(starts[s], starts[s + 1]):
                    staying[i, order[p]] = rows[s, p]
