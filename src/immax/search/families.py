"""Families of margins: a few parameters determine a margin for each class.

A family knows the parameters of the theory's margins and the range that is worth a search, and
nothing of the classifier that is searched for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from immax.arrays import Vector
from immax.margins import (
    class_vector,
    power_margins,
    scale_margins,
    share_tail,
    tail_margins,
    theory_margins,
)
from immax.search.weighted_family import WeightedFamily, own_grid

__all__ = [
    "BoxFamily",
    "FreeFamily",
    "MarginFamily",
    "PowerFamily",
    "SharedTailFamily",
    "WeightedFamily",
    "full_grid",
    "resolve_family",
]


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
        """Return the values to try for each parameter.

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


@dataclass(frozen=True)
class PowerFamily:
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
        """Return the power of the theory's margins, 1/3, or the nearest one in the box.

        Parameters
        ----------
        counts : array-like of shape (n_classes,)
            Number of training samples per class; the power does not depend on it.

        Returns
        -------
        ndarray of shape (1,)
        """
        return np.clip([1 / 3], *self.box(counts))

    def plain(self, counts: ArrayLike) -> Vector:
        """Return the power of equal margins, 0, or the nearest one in the box.

        Parameters
        ----------
        counts : array-like of shape (n_classes,)
            Number of training samples per class; the power does not depend on it.

        Returns
        -------
        ndarray of shape (1,)
        """
        return np.clip([0.0], *self.box(counts))

    def box(self, counts: ArrayLike) -> tuple[Vector, Vector]:  # noqa: ARG002
        """Return the lowest and the highest power to try.

        Parameters
        ----------
        counts : array-like of shape (n_classes,)
            Number of training samples per class; the box does not depend on it.

        Returns
        -------
        low, high : ndarrays of shape (1,)
        """
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
class BoxFamily:
    """The paper's box: each margin within ``width`` of the theory's, as a multiple of it.

    The multiples go from ``1 - width`` to ``1 + width``, class by class. The margins are not
    rescaled: those of the theory have mean one, and the others lie around them.

    With two classes, where λ takes care of the scale, the one parameter is the paper's
    ``alpha = rho_1 / (rho_0 + rho_1)``. It lies within ``width`` times the rarer class's share of
    the theory's: at ``alpha* = 0.1``, from 0.02 to 0.18.

    Parameters
    ----------
    width : float, default=0.8
        Half the width of the box, as a share of the theory's margins, strictly between 0 and 1.

    Examples
    --------
    >>> BoxFamily().margins([1, 1, 1], [8000, 1000, 1000])
    array([1.5 , 0.75, 0.75])
    >>> BoxFamily().margins([1, 0.2, 1.8], [8000, 1000, 1000])
    array([1.5 , 0.15, 1.35])
    >>> low, high = BoxFamily().box([729, 1])
    >>> low.round(2), high.round(2)
    (array([0.02]), array([0.18]))
    """

    width: float = 0.8

    def __post_init__(self) -> None:
        if not 0 < self.width < 1:
            raise ValueError(f"width must lie strictly between 0 and 1; got {self.width!r}")

    def margins(self, parameters: ArrayLike, counts: ArrayLike) -> Vector:
        """Return the margins of a point of the box.

        Parameters
        ----------
        parameters : array-like of shape (n_parameters,)
            With two classes, alpha; else the multiple of each class's margin, or of each group of
            classes that share one.
        counts : array-like of shape (n_classes,)
            Number of training samples per class.

        Returns
        -------
        ndarray of shape (n_classes,)
            Of mean one with two classes; otherwise not rescaled.

        Raises
        ------
        ValueError
            If there are three classes or more, and the number of parameters does not fit them.
        """
        given = np.asarray(parameters, dtype=np.float64)
        m = class_vector(counts, "counts")
        if m.size == 2:
            alpha = float(given[0])
            return scale_margins([1 - alpha, alpha])
        if given.shape != (self._dimension(m),):
            raise ValueError(self._mismatch(m, given.size))
        return np.asarray(given[self._groups(m)] * self._middle(m))

    def _middle(self, m: Vector) -> Vector:
        """Return the margins in the middle of the box."""
        return theory_margins(m)

    def _groups(self, m: Vector) -> NDArray[np.intp]:
        """Return the number of each class's parameter."""
        return np.arange(m.size)

    def _mismatch(self, m: Vector, given: int) -> str:
        return f"there are {m.size} classes, and {given} parameters for them"

    def _dimension(self, m: Vector) -> int:
        return 1 if m.size == 2 else int(self._groups(m).max()) + 1

    def centre(self, counts: ArrayLike) -> Vector:
        """Return the parameters of the theory's margins.

        Parameters
        ----------
        counts : array-like of shape (n_classes,)
            Number of training samples per class.

        Returns
        -------
        ndarray of shape (n_parameters,)
            With two classes, the theory's alpha; else ones.
        """
        m = class_vector(counts, "counts")
        return theory_margins(m, total=1)[1:] if m.size == 2 else np.ones(self._dimension(m))

    def plain(self, counts: ArrayLike) -> Vector:
        """Return the parameters of equal margins, or the nearest to them in the box.

        Parameters
        ----------
        counts : array-like of shape (n_classes,)
            Number of training samples per class.

        Returns
        -------
        ndarray of shape (n_parameters,)
        """
        m = class_vector(counts, "counts")
        low, high = self.box(m)
        if m.size == 2:
            return np.clip([0.5], low, high)
        groups = self._groups(m)
        wanted = np.bincount(groups, 1 / self._middle(m)) / np.bincount(groups)
        return np.clip(wanted, low, high)

    def box(self, counts: ArrayLike) -> tuple[Vector, Vector]:
        """Return the bounds of the box.

        Parameters
        ----------
        counts : array-like of shape (n_classes,)
            Number of training samples per class.

        Returns
        -------
        low, high : ndarrays of shape (n_parameters,)
        """
        m = class_vector(counts, "counts")
        if m.size == 2:
            shares = theory_margins(m, total=1)
            reach = self.width * shares.min()
            return shares[1:] - reach, shares[1:] + reach
        ones = np.ones(self._dimension(m))
        return (1 - self.width) * ones, (1 + self.width) * ones

    def axes(self, counts: ArrayLike, n: int) -> list[Vector]:
        """Return values to try for each parameter, evenly spaced from bound to bound.

        Parameters
        ----------
        counts : array-like of shape (n_classes,)
            Number of training samples per class.
        n : int
            The number of values of each parameter.

        Returns
        -------
        list of ndarray of shape (n,)
            The values of each parameter.
        """
        low, high = self.box(counts)
        return list(np.linspace(low, high, n, axis=1))


@dataclass(frozen=True)
class SharedTailFamily(BoxFamily):
    """The paper's box with one margin for all rare classes.

    The ``n_groups - 1`` most frequent classes have a margin each, and all others share the last:
    the mean of the theory's margins for them, times its parameter.

    Parameters
    ----------
    width : float, default=0.8
        As in ``BoxFamily``.
    n_groups : int, default=3
        The number of margins.

    Examples
    --------
    >>> SharedTailFamily(n_groups=2).margins([1, 0.5], [8000, 1000, 50]).round(3)
    array([1.781, 0.305, 0.305])
    """

    n_groups: int = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        if int(self.n_groups) != self.n_groups or self.n_groups < 1:
            raise ValueError(
                f"n_groups must be a whole number of at least 1; got {self.n_groups!r}"
            )

    def _groups(self, m: Vector) -> NDArray[np.intp]:
        return share_tail(m, min(self.n_groups, m.size))

    def _middle(self, m: Vector) -> Vector:
        return tail_margins(m, min(self.n_groups, m.size))

    def _mismatch(self, m: Vector, given: int) -> str:
        return f"there are {self._dimension(m)} groups of classes, and {given} parameters"


@dataclass(frozen=True)
class FreeFamily:
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
        """Return the logarithms of the theory's margins, shifted to mean zero.

        Parameters
        ----------
        counts : array-like of shape (n_classes,)
            Number of training samples per class.

        Returns
        -------
        ndarray of shape (n_classes,)
        """
        rho = np.log(theory_margins(counts))
        return rho - rho.mean()

    def plain(self, counts: ArrayLike) -> Vector:
        """Return the logarithms of equal margins, which are zero.

        Parameters
        ----------
        counts : array-like of shape (n_classes,)
            Number of training samples per class; only its length matters.

        Returns
        -------
        ndarray of shape (n_classes,)
        """
        return np.zeros(class_vector(counts, "counts").size)

    def box(self, counts: ArrayLike) -> tuple[Vector, Vector]:
        """Return the bounds of a search, ``-log(reach)`` and ``log(reach)`` for every class.

        Parameters
        ----------
        counts : array-like of shape (n_classes,)
            Number of training samples per class; only its length matters.

        Returns
        -------
        low, high : ndarrays of shape (n_classes,)
        """
        edge = np.full(class_vector(counts, "counts").size, np.log(self.reach))
        return -edge, edge

    def axes(self, counts: ArrayLike, n: int) -> list[Vector]:
        """Return values to try for each parameter, evenly spaced from bound to bound.

        Parameters
        ----------
        counts : array-like of shape (n_classes,)
            Number of training samples per class; only its length matters.
        n : int
            The number of values of each parameter.

        Returns
        -------
        list of ndarray of shape (n,)
            The values of each class's logarithm.
        """
        low, high = self.box(counts)
        return list(np.linspace(low, high, n, axis=1))


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


def full_grid(family: MarginFamily, counts: ArrayLike, n: int) -> list[Vector]:
    """Return all combinations of n values per parameter, and equal and the theory's margins.

    A family with a method ``grid`` says itself which points to try.

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
