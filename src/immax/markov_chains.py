"""Stationary distributions of many small Markov chains at once."""

from __future__ import annotations

import numpy as np

from immax.arrays import Array

__all__ = ["MOST_STATES", "log_sum", "lowest_log_rate", "normalised", "stationary", "stationary_of"]

MOST_STATES = 32  # of a chain that is solved directly


def log_sum(z: Array) -> Array:
    """Return the logarithm of the sum of exponentials along the last axis, which is kept.

    Parameters
    ----------
    z : ndarray of shape (..., g)
        Logarithms.

    Returns
    -------
    ndarray of shape (..., 1)
    """
    top = z.max(axis=-1, keepdims=True)
    return np.asarray(top + np.log(np.exp(z - top).sum(axis=-1, keepdims=True)))


def normalised(p: Array) -> Array:
    """Return rows scaled to sum to one.

    Parameters
    ----------
    p : ndarray of shape (n, g)
        Non-negative numbers, some of each row positive.

    Returns
    -------
    ndarray of shape (n, g)
    """
    return np.asarray(p / p.sum(axis=1, keepdims=True))


def lowest_log_rate(dtype: np.dtype[np.float32 | np.float64]) -> float:
    """Return the logarithm above which products of rates are far from underflow.

    Parameters
    ----------
    dtype : numpy.dtype
        The precision of the rates.

    Returns
    -------
    float
    """
    return -0.4 * float(np.log(np.finfo(dtype).max))


def stationary(log_rates: Array) -> Array:
    """Return the stationary distributions of Markov chains, given the logarithms of their rates.

    Diagonal entries are not used.

    Parameters
    ----------
    log_rates : ndarray of shape (n, g, g)
        Entry (i, k, j) is the log of chain i's rate from state k to state j.

    Returns
    -------
    ndarray of shape (n, g)
        Rows sum to one.

    Examples
    --------
    >>> stationary(np.log([[[0.5, 0.5], [0.25, 0.75]]])).round(4)
    array([[0.3333, 0.6667]])
    """
    n, g, _ = log_rates.shape
    off = ~np.eye(g, dtype=bool)
    floor = lowest_log_rate(log_rates.dtype)
    well_scaled = (log_rates[:, off] > floor).all(axis=1) if g > 1 else np.ones(n, bool)
    out = np.empty((n, g), log_rates.dtype)
    if well_scaled.any():
        rates = np.moveaxis(log_rates[well_scaled], 0, 2)
        out[well_scaled] = stationary_of(np.exp(rates, order="C")).T
    if not well_scaled.all():
        out[~well_scaled] = _log_reduce(log_rates[~well_scaled])
    return out


def stationary_of(rates: Array) -> Array:
    """Return the stationary distributions of Markov chains whose rates are far from underflow.

    The chains are the last axis, so that each step is one operation on all of them.

    Parameters
    ----------
    rates : ndarray of shape (g, g, n)
        Entry (k, j, i) is chain i's rate from state k to state j. Overwritten.

    Returns
    -------
    ndarray of shape (g, n)
        Columns sum to one.

    Examples
    --------
    >>> stationary_of(np.array([[[0.5], [0.5]], [[0.25], [0.75]]])).round(4)
    array([[0.3333],
           [0.6667]])
    """
    q = _reduce(rates) if rates.shape[0] <= MOST_STATES else _iterate(rates)
    q /= q.sum(axis=0)
    return q


def _reduce(rates: Array) -> Array:
    """Return stationary distributions by state reduction, up to a factor.

    The method of Grassmann, Taksar and Heyman does without subtraction, so that even tiny
    probabilities keep their relative precision.
    """
    g, _, n = rates.shape
    through = np.empty((g, g, n), rates.dtype)
    for k in range(g - 1, 0, -1):
        into = rates[:k, k]
        into /= rates[k, :k].sum(axis=0)
        np.multiply(into[:, None], rates[k, :k], out=through[:k, :k])
        rates[:k, :k] += through[:k, :k]
    q = np.ones((g, n), rates.dtype)
    for k in range(1, g):
        np.einsum("an,an->n", q[:k], rates[:k, k], out=q[k])
        q[: k + 1] /= np.maximum(q[k], 1)
    return q


def _iterate(rates: Array) -> Array:
    """Return stationary distributions by power iteration, or by reduction where that is slow.

    Rows of a chain of softmaxes at different temperatures are much alike, so that the
    iteration converges in a few steps.
    """
    chains = np.moveaxis(rates / rates.sum(axis=1, keepdims=True), 2, 0).copy()
    q = chains.mean(axis=1)
    moved = np.full(len(q), np.inf)
    for _ in range(200):
        following = (q[:, None, :] @ chains)[:, 0]
        moved = np.abs(following - q).sum(axis=1)
        q = following
        if (moved <= 4 * np.finfo(q.dtype).eps).all():
            break
    slow = moved > 64 * np.finfo(q.dtype).eps
    if slow.any():
        q[slow] = normalised(_reduce(rates[:, :, slow]).T)
    return q.T.copy()


def _log_reduce(rates: Array) -> Array:
    """Return the same from logarithms of rates, which may differ by any factor."""
    g = rates.shape[1]
    for k in range(g - 1, 0, -1):
        rates[:, :k, k] -= log_sum(rates[:, k, :k])
        through = rates[:, :k, k, None] + rates[:, None, k, :k]
        rates[:, :k, :k] = np.logaddexp(rates[:, :k, :k], through)
    q = np.zeros(rates.shape[:2], rates.dtype)
    for k in range(1, g):
        q[:, k] = log_sum(q[:, :k] + rates[:, :k, k])[:, 0]
    return np.asarray(np.exp(q - log_sum(q)))
