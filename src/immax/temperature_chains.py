"""The link's Markov chains, whose rows are softmaxes of the same scores at several temperatures.

Classes that share a temperature share a row and are one state. Samples are the last axis of all
arrays here, so that each operation is one on many samples.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np

from immax.arrays import Array
from immax.compiled import worth_compiling
from immax.markov_chains import log_sum, lowest_log_rate, stationary, stationary_of

__all__ = ["Chain", "select_chain", "temperature_chain"]

MOST_COMPILED_STATES = 2000  # whose exponentials fit into the memory of a core

Chain: TypeAlias = Callable[[Array, Array, Array, bool], tuple[Array, Array | None]]
"""A function with the arguments and results of ``temperature_chain``."""


def select_chain(calls: int, shape: tuple[int, int], states: int) -> tuple[Chain, int]:
    """Return ``temperature_chain``, or its compiled form where that is worth it.

    Parameters
    ----------
    calls : int
        About how many calls of this size will be made.
    shape : tuple of int
        Samples by classes.
    states : int
        The number of distinct temperatures.

    Returns
    -------
    chain : callable
        A function with the arguments of ``temperature_chain``.
    entries : int
        The size of its largest array, for each sample.
    """
    rows, classes = shape
    work = calls * rows * classes * states
    if states <= MOST_COMPILED_STATES and worth_compiling(work):
        return _compiled_chain, classes
    return temperature_chain, classes * states


def temperature_chain(
    h: Array, inverse: Array, groups: Array, own: bool
) -> tuple[Array, Array | None]:
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
        Whether to return each class's probability of staying, ``A_kk``.

    Returns
    -------
    q : ndarray of shape (n, c)
        The stationary distributions.
    staying : ndarray of shape (n, c), or None
        The probabilities of staying.

    Examples
    --------
    Two temperatures, the second of which two classes share:

    >>> h = np.zeros((1, 3))
    >>> temperature_chain(h, np.array([0.5, 1.0]), np.array([0, 1, 1]), own=False)[0].round(4)
    array([[0.3333, 0.3333, 0.3333]])
    """
    order = np.argsort(groups, kind="stable")
    member = groups[order]
    starts = np.searchsorted(member, np.arange(inverse.size))
    z = np.take(h.T, order, axis=0)
    best = np.maximum.reduceat(z, starts, axis=0)
    z -= best[member]
    best -= best.max(axis=0)
    scores = _GroupedScores(z, best, inverse.astype(h.dtype)[:, None, None], member, starts)
    safe = inverse[-1] * best.min(axis=0) > lowest_log_rate(h.dtype)
    if safe.all():
        q, staying = _chain_of_rates(scores)
    else:
        q, staying = np.empty_like(z), np.empty_like(z)
        q[:, safe], staying[:, safe] = _chain_of_rates(scores.select(safe))
        if h.dtype == np.float64:
            q[:, ~safe], staying[:, ~safe] = _chain_of_log_rates(scores.select(~safe))
        else:  # rates that underflow in single precision may be harmless in double precision
            wide, wide_staying = temperature_chain(
                h[~safe].astype(np.float64), inverse, groups, True
            )
            q[:, ~safe] = wide[:, order].T
            staying[:, ~safe] = wide_staying[:, order].T if wide_staying is not None else 0
    back = np.argsort(order)
    return q.T[:, back], staying.T[:, back] if own else None


class _GroupedScores(NamedTuple):
    """Scores by group, relative to the best of the group, so that no group vanishes."""

    z: Array  # (c, n), relative to the best of the group
    best: Array  # (g, n), the best of each group relative to the best of all
    beta: Array  # (g, 1, 1), inverse temperatures
    member: Array  # (c,), the group of each class
    starts: Array  # (g,), the first class of each group

    def select(self, samples: Array) -> _GroupedScores:
        return self._replace(z=self.z[:, samples], best=self.best[:, samples])


def _chain_of_rates(scores: _GroupedScores) -> tuple[Array, Array]:
    """Return the distributions and the probabilities of staying, both of shape (c, n)."""
    classes = scores.member.size
    mass = _exponentials(scores.beta, scores.best)
    if scores.starts.size == classes:  # a class is its group
        mass /= mass.sum(axis=1, keepdims=True)
        staying = mass[scores.member, scores.member]
        return stationary_of(mass), staying
    rows = _exponentials(scores.beta, scores.z)
    sums = np.add.reduceat(rows, scores.starts, axis=1)
    mass *= sums
    mass /= mass.sum(axis=1, keepdims=True)
    share = mass / sums
    return _by_class(scores, rows, share, stationary_of(mass))


def _chain_of_log_rates(scores: _GroupedScores) -> tuple[Array, Array]:
    """Return the same from logarithms, for scores that differ by any amount."""
    rows = _exponentials(scores.beta, scores.z)
    sums = np.add.reduceat(rows, scores.starts, axis=1)
    log_mass = np.moveaxis(np.log(sums) + scores.beta * scores.best, 2, 0)
    log_mass = log_mass - log_sum(log_mass)
    share = np.moveaxis(np.exp(log_mass), 0, 2) / sums
    return _by_class(scores, rows, share, stationary(log_mass).T)


def _exponentials(beta: Array, z: Array) -> Array:
    out = beta * z
    return np.exp(out, out=out)


def _by_class(
    scores: _GroupedScores, rows: Array, share: Array, state: Array
) -> tuple[Array, Array]:
    """Return ``q_j = sum_s Q_s A_sj`` and ``A_jj``, where ``A_sj = rows_sj share_s,g(j)``."""
    classes = scores.member.size
    weight = state[:, None] * share
    q = np.empty(rows.shape[1:], rows.dtype)
    for j, (begin, end) in enumerate(pairwise([*scores.starts, classes])):
        np.einsum("sn,spn->pn", weight[:, j], rows[:, begin:end], out=q[begin:end])
    return q, rows[scores.member, np.arange(classes)] * share[scores.member, scores.member]


def _compiled_chain(
    h: Array, inverse: Array, groups: Array, own: bool
) -> tuple[Array, Array | None]:
    from immax.compiled.link import temperature_chain as compiled_chain

    q, staying, solved = compiled_chain(h, inverse, groups, own)
    if not solved.all():
        rows = np.flatnonzero(~solved)
        q[rows], rest = temperature_chain(h[rows], inverse, groups, own)
        if staying is not None:
            staying[rows] = rest
    return q, staying
