"""The interfaces of aims, which say what decisions are for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from immax.arrays import Array
from immax.decisions.confusion import Totals

__all__ = ["Aim", "TotalsAim"]


class Aim(ABC):
    """The base of all aims.

    Attributes
    ----------
    two_classes : bool
        Whether the aim makes sense for two classes only.
    constrained : bool
        Whether values below zero say that a constraint is not met.
    """

    two_classes: ClassVar[bool] = False
    constrained: ClassVar[bool] = False

    @property
    @abstractmethod
    def name(self) -> str:
        """The aim as it is shown."""

    @abstractmethod
    def value(self, confusion: Array, positive: int = 1) -> Array:
        """Return the value of confusion matrices; higher is better.

        Parameters
        ----------
        confusion : ndarray of shape (..., c, a)
            Rows are true classes, columns decisions.
        positive : int, default=1
            The class that aims for two classes are about.

        Returns
        -------
        ndarray of shape (...)
        """

    def gains(self, classes: Array, prior: Array) -> Array | None:  # noqa: ARG002
        """Return the gain of each decision for each true class, if the aim has a closed form.

        The decision of the largest expected gain is then the best one, whatever the data.

        Parameters
        ----------
        classes : ndarray of shape (c,)
        prior : ndarray of shape (c,)
            The share of each class.

        Returns
        -------
        ndarray of shape (c, a), or None
        """
        return None


class TotalsAim(Aim):
    """The base of aims that depend on the hits, samples and predictions of the classes alone.

    For these, rules for many classes are searched without confusion matrices.
    """

    @abstractmethod
    def value_of_totals(self, totals: Totals, positive: int = 1) -> Array:
        """Return the value of decisions; higher is better.

        Parameters
        ----------
        totals : Totals
            Of arrays of shape (..., c).
        positive : int, default=1
            The class that aims for two classes are about.

        Returns
        -------
        ndarray of shape (...)
        """

    def value(self, confusion: Array, positive: int = 1) -> Array:
        return self.value_of_totals(Totals.of(confusion), positive)
