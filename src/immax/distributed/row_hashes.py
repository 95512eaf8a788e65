"""Pseudo-random numbers that belong to rows by their positions, wherever the rows are."""

from __future__ import annotations

import numpy as np

from immax.arrays import Array

__all__ = ["fold_numbers", "uniform_numbers"]


def _hashes(places: Array, seed: int) -> Array:
    """Return 64 mixed bits for each position (the finaliser of splitmix64)."""
    golden = np.uint64(0x9E3779B97F4A7C15)
    with np.errstate(over="ignore"):
        bits = places.astype(np.uint64) + np.uint64(seed % 2**64) * np.uint64(0xD1B54A32D192ED03)
        bits = (bits + np.uint64(1)) * golden
        bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.asarray(bits ^ (bits >> np.uint64(31)))


def uniform_numbers(places: Array, seed: int = 0) -> Array:
    """Return a number between 0 and 1 for each row.

    Parameters
    ----------
    places : ndarray of int, shape (n,)
        The positions of the rows.
    seed : int, default=0

    Returns
    -------
    ndarray of shape (n,)

    Examples
    --------
    >>> uniform_numbers(np.array([7, 7, 8])).round(3).tolist()
    [0.772, 0.772, 0.246]
    """
    return (_hashes(places, seed) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def fold_numbers(places: Array, n_folds: int, seed: int = 0) -> Array:
    """Return the fold in which each row is held out.

    Parameters
    ----------
    places : ndarray of int, shape (n,)
        The positions of the rows.
    n_folds : int
        The number of folds.
    seed : int, default=0

    Returns
    -------
    ndarray of int, shape (n,)
    """
    return (_hashes(places, seed + 1) % np.uint64(n_folds)).astype(np.int64)
