"""The families of margins by name, and those of a power and of free margins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from immax.arrays import Vector
from immax.class_vectors import class_vector
from immax.margins import power_margins, scale_margins, theory_margins
from immax.search.box_families import BoxFamily, SharedTailFamily
from immax.search.margin_family import MarginFamily
from immax.search.weighted_family import WeightedFamily

__all__ = [
    "BoxFamily",
    "FreeFamily",
    "MarginFamily",
    "PowerFamily",
    "SharedTailFamily",
    "WeightedFamily",
    "resolve_family",
]


@dataclass(frozen=True)
class PowerFamily(MarginFamily):
    """``rho_k ∝ m_k^t``: one number t, 0 for equal margins and 1/3 for the theory's.

    Where classes overlap, larger powers favour rare classes: of two classes, one is predicted when
    its probability exceeds its share of the margins. Where classes can be separated, smaller
    powers favour them.

    Parameters
    ----------
    low, high : float, default=-0.5 and 1.0
        The powers to try lie evenly between these.
    values : tuple of float, default=()
        The powers to try, in place of ``low`` and ``high``.

    Examples
    --------
    >>> PowerFamily().margins([1 / 3], [8000, 1000])
    array([1.33333333, 0.66666667])
    >>> PowerFamily().axes([8000, 1000], 10)[0].round(2).tolist()
    [-0.5, -0.33, -0.17, 0.0, 0.17, 0.33, 0.5, 0.67, 0.83, 1.0]
    """

    low: float = -0.5
    high: float = 1.0
    values: tuple[float, ...] = ()

    def margins(self, parameters: ArrayLike, counts: ArrayLike) -> Vector:
        """Return margins proportional to a power of the class counts.

        Parameters
        ----------
        parameters : array-like of shape (1,)
            The power t.
        counts : array-like of shape (n_classes,)
            Number of training samples per class.

        Returns
        -------
        ndarray of shape (n_classes,)
            Margins of mean one.
        """
        return power_margins(counts, float(np.ravel(parameters)[0]))

    def centre(self, counts: ArrayLike) -> Vector:
        return np.clip([1 / 3], *self.box(counts))

    def plain(self, counts: ArrayLike) -> Vector:
        return np.clip([0.0], *self.box(counts))

    def box(self, counts: ArrayLike) -> tuple[Vector, Vector]:  # noqa: ARG002
        values = self.values or (self.low, self.high)
        return np.array([min(values)]), np.array([max(values)])

    def axes(self, counts: ArrayLike, n: int) -> list[Vector]:  # noqa: ARG002
        """Return the powers to try.

        Parameters
        ----------
        counts : array-like of shape (n_classes,)
            Number of training samples per class; the powers do not depend on it.
        n : int
            The number of powers, unless the family has ``values``.

        Returns
        -------
        list of one ndarray
            ``values`` if they are given, else n powers from ``low`` to ``high``.
        """
        if self.values:
            return [np.array(self.values)]
        values = np.linspace(self.low, self.high, n)
        values[np.abs(values) < 1e-12] = 0
        return [values]


@dataclass(frozen=True)
class FreeFamily(MarginFamily):
    """A parameter for every margin: its logarithm relative to equal margins.

    Parameters
    ----------
    reach : float, default=10.0
        The largest ratio of a margin to an equal one, or of an equal one to a margin.

    Examples
    --------
    >>> FreeFamily().margins(np.log([1, 2, 1]), [5, 5, 5])
    array([0.75, 1.5 , 0.75])
    """

    reach: float = 10.0

    def margins(self, parameters: ArrayLike, counts: ArrayLike) -> Vector:
        """Return margins from their logarithms.

        Parameters
        ----------
        parameters : array-like of shape (n_classes,)
            Logarithms of the margins, up to a common constant.
        counts : array-like of shape (n_classes,)
            Number of training samples per class; only its length matters.

        Returns
        -------
        ndarray of shape (n_classes,)
            Margins of mean one.

        Raises
        ------
        ValueError
            If the number of parameters is not that of the classes.
        """
        given = np.asarray(parameters, dtype=np.float64)
        m = class_vector(counts, "counts")
        if given.shape != (m.size,):
            raise ValueError(f"there are {m.size} classes, and {given.size} parameters for them")
        return scale_margins(np.exp(given - given.max()))

    def centre(self, counts: ArrayLike) -> Vector:
        rho = np.log(theory_margins(counts))
        return rho - rho.mean()

    def plain(self, counts: ArrayLike) -> Vector:
        return np.zeros(class_vector(counts, "counts").size)

    def box(self, counts: ArrayLike) -> tuple[Vector, Vector]:
        edge = np.full(class_vector(counts, "counts").size, np.log(self.reach))
        return -edge, edge


FAMILIES: dict[str, Callable[[], MarginFamily]] = {
    "auto": PowerFamily,
    "power": PowerFamily,
    "weighted": WeightedFamily,
    "box": BoxFamily,
    "shared_tail": SharedTailFamily,
    "free": FreeFamily,
}


def resolve_family(family: str | MarginFamily) -> MarginFamily:
    """Return the family of a name, or the one that is given.

    Parameters
    ----------
    family : str or MarginFamily
        A key of ``FAMILIES``, or an object with the methods of a ``MarginFamily``.

    Returns
    -------
    MarginFamily

    Raises
    ------
    ValueError
        If there is no such family.
    """
    if isinstance(family, str):
        if family not in FAMILIES:
            names = ", ".join(map(repr, FAMILIES))
            raise ValueError(f"family must be one of {names}, or a family; got {family!r}")
        return FAMILIES[family]()
    if not (hasattr(family, "margins") and hasattr(family, "axes")):
        raise ValueError(f"family must have the methods of a MarginFamily; got {family!r}")
    return family
