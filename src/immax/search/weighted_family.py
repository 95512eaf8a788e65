"""Margins and class weights together, as a family that a search can try."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from immax.arrays import Vector
from immax.class_weights import power_weights
from immax.margins import power_margins
from immax.search.margin_family import MarginFamily

__all__ = ["WeightedFamily"]

POINTS = ((1 / 3, 0.0), (0.0, 0.0), (0.0, 1.0), (-1 / 3, 1.0))


@dataclass(frozen=True)
class WeightedFamily(MarginFamily):
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
        return np.array([1 / 3, 0.0])

    def plain(self, counts: ArrayLike) -> Vector:  # noqa: ARG002
        return np.zeros(2)

    def box(self, counts: ArrayLike) -> tuple[Vector, Vector]:  # noqa: ARG002
        pairs = np.array(self.values)
        return pairs.min(axis=0), pairs.max(axis=0)

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
