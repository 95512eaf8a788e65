"""What a family of margins is: a few parameters determine a margin for each class.

A family knows the parameters of the theory's margins and the range that is worth a search, and
nothing of the classifier that is searched for. It may have class weights too, by a method
``weights``, and choose the points of a search itself, by a method ``grid``.
"""

from __future__ import annotations

from itertools import product
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from immax.arrays import Vector

__all__ = ["MarginFamily", "family_weights", "full_grid", "own_grid"]


class MarginFamily(Protocol):
    """Maps parameters, a vector, to margins of mean one, or of about one in the paper's boxes."""

    def margins(self, parameters: ArrayLike, counts: ArrayLike) -> Vector:
        """Return the margins of a point of the family.

        Parameters
        ----------
        parameters : array-like of shape (n_parameters,)
            The point.
        counts : array-like of shape (n_classes,)
            Number of training samples per class.

        Returns
        -------
        ndarray of shape (n_classes,)
        """

    def centre(self, counts: ArrayLike) -> Vector:
        """Return the parameters of the theory's margins, or the nearest to them.

        Parameters
        ----------
        counts : array-like of shape (n_classes,)
            Number of training samples per class.

        Returns
        -------
        ndarray of shape (n_parameters,)
        """

    def plain(self, counts: ArrayLike) -> Vector:
        """Return the parameters of equal margins, or the nearest to them.

        Parameters
        ----------
        counts : array-like of shape (n_classes,)
            Number of training samples per class.

        Returns
        -------
        ndarray of shape (n_parameters,)
        """

    def box(self, counts: ArrayLike) -> tuple[Vector, Vector]:
        """Return the bounds of a search.

        Parameters
        ----------
        counts : array-like of shape (n_classes,)
            Number of training samples per class.

        Returns
        -------
        low, high : ndarrays of shape (n_parameters,)
            The lowest and the highest value of each parameter.
        """

    def axes(self, counts: ArrayLike, n: int) -> list[Vector]:
        """Return the values to try for each parameter, by default evenly spaced over the box.

        Parameters
        ----------
        counts : array-like of shape (n_classes,)
            Number of training samples per class.
        n : int
            The number of values of each parameter.

        Returns
        -------
        list of ndarray
            The values of each parameter.
        """
        return list(np.linspace(*self.box(counts), n, axis=1))


def family_weights(family: MarginFamily, parameters: ArrayLike, counts: ArrayLike) -> Vector:
    """Return the class weights of a point of a family, which are one for families of margins alone.

    Parameters
    ----------
    family : MarginFamily
        With or without a method ``weights``.
    parameters : array-like
        The point.
    counts : array-like of shape (n_classes,)
        Number of training samples per class.

    Returns
    -------
    ndarray of shape (n_classes,)
    """
    weights = getattr(family, "weights", None)
    if weights is None:
        return np.ones(np.size(counts))
    return np.asarray(weights(parameters, counts))


def own_grid(family: MarginFamily, counts: ArrayLike, n: int) -> list[Vector] | None:
    """Return the points that a family chooses itself, by a method ``grid``.

    Parameters
    ----------
    family : MarginFamily
        With or without a method ``grid``.
    counts : array-like of shape (n_classes,)
        Number of training samples per class.
    n : int
        Values of each parameter.

    Returns
    -------
    list of ndarray, or None
        None for a family without a method ``grid``.
    """
    grid = getattr(family, "grid", None)
    return None if grid is None else grid(counts, n)


def full_grid(family: MarginFamily, counts: ArrayLike, n: int) -> list[Vector]:
    """Return the points that a search tries.

    These are all combinations of n values per parameter, and equal and the theory's margins; or
    the points that the family chooses itself, by a method ``grid``.

    Parameters
    ----------
    family : MarginFamily
        The family to search.
    counts : array-like of shape (n_classes,)
        Number of training samples per class.
    n : int
        Values of each parameter.

    Returns
    -------
    list of ndarray
        Points of the family, of which none is repeated.
    """
    own = own_grid(family, counts, n)
    if own is not None:
        return own
    grid = [np.array(values) for values in product(*family.axes(counts, n))]
    for special in (family.plain(counts), family.centre(counts)):
        if not any(np.allclose(special, one, atol=1e-9) for one in grid):
            grid.append(special)
    return grid
