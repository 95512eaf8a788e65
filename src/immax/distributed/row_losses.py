"""The losses of rows that are a part of the training data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from sklearn.utils import check_random_state

from immax.arrays import Array, Vector
from immax.losses.immax_risks import immax_risk
from immax.losses.risks import SmoothRisk
from immax.losses.softmax_risks import SoftmaxRisk, binary_risk
from immax.losses.spec import LossSpec

__all__ = ["IMMAXRows", "MethodRows", "RowLoss"]


class RowLoss(Protocol):
    """Makes the risk of some rows; the risks of all parts add up to that of the data."""

    def risk(self, y: Array, weight: Array, places: Array, dtype: np.dtype) -> SmoothRisk:
        """Return the risk of rows.

        Parameters
        ----------
        y : ndarray of int, shape (n,)
            Class indices.
        weight : ndarray of shape (n,)
            Sample weights, as they were given.
        places : ndarray of int, shape (n,)
            The positions of the rows among all rows that have a weight.
        dtype : numpy.dtype
            The precision of the computation.

        Returns
        -------
        SmoothRisk
        """


@dataclass(frozen=True, eq=False)
class IMMAXRows:
    """The loss of IMMAX.

    Parameters
    ----------
    loss, form : str
        As in ``immax_risk``.
    margins : ndarray of shape (c,)
        The margins.
    factors : ndarray of shape (c,)
        By which sample weights are multiplied: the class weights, divided by the total weight of
        all parts.
    """

    loss: str
    form: str
    margins: Vector
    factors: Vector

    def risk(self, y: Array, weight: Array, places: Array, dtype: np.dtype) -> SmoothRisk:  # noqa: ARG002
        """Return the risk of rows.

        Parameters
        ----------
        y : ndarray of int, shape (n,)
            Class indices.
        weight : ndarray of shape (n,)
            Sample weights, as they were given.
        places : ndarray of int, shape (n,)
            Not used.
        dtype : numpy.dtype
            The precision of the computation.

        Returns
        -------
        SmoothRisk
        """
        share = (weight * self.factors[y]).astype(dtype)
        return immax_risk(self.loss, self.form, y, self.margins, share)  # type: ignore[return-value]


@dataclass(frozen=True, eq=False)
class MethodRows:
    """The loss of a method of the catalogue.

    Parameters
    ----------
    spec : LossSpec
        The method.
    total : float
        The total weight of all parts.
    seed : int
        Of a method that draws: the draw of a row depends on its position alone.
    """

    spec: LossSpec
    total: float
    seed: int = 0

    def risk(self, y: Array, weight: Array, places: Array, dtype: np.dtype) -> SmoothRisk:
        """Return the risk of rows.

        Parameters
        ----------
        y : ndarray of int, shape (n,)
            Class indices.
        weight : ndarray of shape (n,)
            Sample weights, as they were given.
        places : ndarray of int, shape (n,)
            The positions of the rows among all rows that have a weight, ascending.
        dtype : numpy.dtype
            The precision of the computation.

        Returns
        -------
        SmoothRisk
        """
        share = (weight / self.total).astype(dtype)
        make = binary_risk if self.spec.n_classes == 2 else SoftmaxRisk
        return make(self.spec, y, share, self._drop(places))

    def _drop(self, places: Array) -> Array | None:
        """Return the draws that these rows have among those of all rows."""
        if not self.spec.random:
            return None
        last = int(places[-1]) + 1 if places.size else 0
        draws = self.spec.draw(last, check_random_state(self.seed))
        return None if draws is None else draws[places]
