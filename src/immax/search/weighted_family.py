"""Margins and class weights together, as a family that a search can try."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from immax.arrays import Vector
from immax.class_weights import power_weights
from immax.margins import power_margins

__all__ = ["WeightedFamily", "family_weights", "own_grid"]

POINTS = ((1 / 3, 0.0), (0.0, 0.0), (0.0, 1.0), (-1 / 3, 1.0))


@dataclass(frozen=True)
class WeightedFamily:
    """Margins and class weights together: ``rho_k ∝ m_k^t`` and ``w_k ∝ m_k^-u``.

    The parameters are t and u. (0, 0) is cross-entropy, (0, 1) class weights, (1/3, 0) the
    theory's margins for the plain error, and (-1/3, 1) the weights and the theory's margins for
    the balanced error. ``catalog.weighted_immax`` is the same loss.

    Parameters
    ----------
    values : tuple of pairs of float
        The pairs of t and u to try.

    Examples
    --------
    >>> WeightedFamily().weights([-1 / 3, 1], [8000, 1000])
    array([1.125, 9.   ])
    """

    values: tuple[tuple[float, float], ...] = POINTS

    def margins(self, parameters: ArrayLike, counts: ArrayLike) -> Vector:
        """Return margins proportional to the power t of the class counts.

        Parameters
        ----------
        parameters : array-like of shape (2,)
            The powers t and u.
        counts : array-like of shape (n_classes,)
            Number of training samples per class.

        Returns
        -------
        ndarray of shape (n_classes,)
            Margins of mean one.
        """
        return power_margins(counts, float(np.ravel(parameters)[0]))

    def weights(self, parameters: ArrayLike, counts: ArrayLike) -> Vector:
        """Return class weights proportional to the power -u of the class counts.

        Parameters
        ----------
        parameters : array-like of shape (2,)
            The powers t and u.
        counts : array-like of shape (n_classes,)
            Number of training samples per class.

        Returns
        -------
        ndarray of shape (n_classes,)
        """
        return power_weights(counts, float(np.ravel(parameters)[1]))

    def centre(self, counts: ArrayLike) -> Vector:  # noqa: ARG002
        """Return the point of the theory's margins without class weights, (1/3, 0).

        Parameters
        ----------
        counts : array-like of shape (n_classes,)
            Number of training samples per class; the point does not depend on it.

        Returns
        -------
        ndarray of shape (2,)
        """
        return np.array([1 / 3, 0.0])

    def plain(self, counts: ArrayLike) -> Vector:  # noqa: ARG002
        """Return the point of equal margins and weights, (0, 0).

        Parameters
        ----------
        counts : array-like of shape (n_classes,)
            Number of training samples per class; the point does not depend on it.

        Returns
        -------
        ndarray of shape (2,)
        """
        return np.zeros(2)

    def box(self, counts: ArrayLike) -> tuple[Vector, Vector]:  # noqa: ARG002
        """Return the lowest and the highest powers among the pairs to try.

        Parameters
        ----------
        counts : array-like of shape (n_classes,)
            Number of training samples per class; the box does not depend on it.

        Returns
        -------
        low, high : ndarrays of shape (2,)
        """
        pairs = np.array(self.values)
        return pairs.min(axis=0), pairs.max(axis=0)

    def axes(self, counts: ArrayLike, n: int) -> list[Vector]:
        """Return values to try for each power, evenly spaced from bound to bound.

        Parameters
        ----------
        counts : array-like of shape (n_classes,)
            Number of training samples per class; the values do not depend on it.
        n : int
            The number of values of each power.

        Returns
        -------
        list of two ndarrays of shape (n,)
        """
        return list(np.linspace(*self.box(counts), n, axis=1))

    def grid(self, counts: ArrayLike, n: int) -> list[Vector]:  # noqa: ARG002
        """Return the pairs to try, which are not all combinations of their values.

        Parameters
        ----------
        counts : array-like of shape (n_classes,)
            Number of training samples per class; the pairs do not depend on it.
        n : int
            Not used.

        Returns
        -------
        list of ndarray of shape (2,)
        """
        return [np.array(pair) for pair in self.values]


def family_weights(family: object, parameters: ArrayLike, counts: ArrayLike) -> Vector:
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


def own_grid(family: object, counts: ArrayLike, n: int) -> list[Vector] | None:
    """Return the points to try of a family that says so itself, by a method ``grid``.

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
    """
    grid = getattr(family, "grid", None)
    return None if grid is None else grid(counts, n)
