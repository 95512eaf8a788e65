"""The values of the penalty's strength that a search tries."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from immax.arrays import Array

__all__ = ["penalty_grid"]


def penalty_grid(name: str, values: ArrayLike | None, default: Array) -> Array:
    """Return the values of a penalty parameter, ascending and without repetitions.

    Parameters
    ----------
    name : str
        The name of the parameter, for error messages.
    values : array-like or None
        Values that were given.
    default : ndarray
        The values if none were given.

    Returns
    -------
    ndarray
        Positive numbers.

    Raises
    ------
    ValueError
        If there are no values, or if one is not positive and finite.
    """
    grid = np.ravel(np.asarray(default if values is None else values, dtype=np.float64))
    if not grid.size:
        raise ValueError(f"{name} is empty: there is nothing to search")
    if not (np.isfinite(grid) & (grid > 0)).all():
        raise ValueError(f"{name} must be positive, finite numbers; got {grid.tolist()}")
    return np.unique(grid)
