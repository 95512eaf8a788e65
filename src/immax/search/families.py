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
from immax.class_weights import power_weights
from immax.margins import class_vector, power_margins, scale_margins, share_tail, theory_margins

__all__ = [
    "BoxFamily",
    "FreeFamily",
    "MarginFamily",
    "PowerFamily",
    "SharedTailFamily",
    "WeightedFamily",
    "family_weights",
    "full_grid",
    "resolve_family",
]

WEIGHTED_POINTS = ((1 / 3, 0.0), (0.0, 0.0), (0.0, 1.0), (-1 / 3, 1.0))


class MarginFamily(Protocol):
    """Maps parameters, a vector, to margins of mean one."""

    def margins(self, parameters: ArrayLike, counts: ArrayLike) -> Vector:
        """Return the margins of these parameters for these class counts; their mean is one."""

    def centre(self, counts: ArrayLike) -> Vector:
        """Return the parameters of the theory's margins, or the nearest to them."""

    def plain(self, counts: ArrayLike) -> Vector:
        """Return the parameters of equal margins, or the nearest to them."""

    def box(self, counts: ArrayLike) -> tuple[Vector, Vector]:
        """Return the lowest and the highest parameters that are worth a search."""

    def axes(self, counts: ArrayLike, n: int) -> list[Vector]:
        """Return n values to try for each parameter."""


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
        return power_margins(counts, float(np.ravel(parameters)[0]))

    def centre(self, counts: ArrayLike) -> Vector:
        return np.clip([1 / 3], *self.box(counts))

    def plain(self, counts: ArrayLike) -> Vector:
        return np.clip([0.0], *self.box(counts))

    def box(self, counts: ArrayLike) -> tuple[Vector, Vector]:  # noqa: ARG002
        values = self.values or (self.low, self.high)
        return np.array([min(values)]), np.array([max(values)])

    def axes(self, counts: ArrayLike, n: int) -> list[Vector]:  # noqa: ARG002
        if self.values:
            return [np.array(self.values)]
        values = np.linspace(self.low, self.high, n)
        values[np.abs(values) < 1e-12] = 0
        return [values]


@dataclass(frozen=True)
class BoxFamily:
    """The paper's box: each margin within ``width`` of the theory's, as a multiple of it.

    With two classes the one parameter is the paper's ``alpha = rho_1 / (rho_0 + rho_1)``, from
    ``(1 - width) alpha*`` to ``1 - (1 - width) (1 - alpha*)``.

    Parameters
    ----------
    width : float, default=0.8
        Half the width of the box, as a share of the theory's margins.

    Examples
    --------
    >>> BoxFamily().margins([1, 1, 1], [8000, 1000, 1000])
    array([1.5 , 0.75, 0.75])
    """

    width: float = 0.8

    def margins(self, parameters: ArrayLike, counts: ArrayLike) -> Vector:
        given = np.asarray(parameters, dtype=np.float64)
        m = class_vector(counts, "counts")
        if m.size == 2:
            alpha = float(given[0])
            return scale_margins([1 - alpha, alpha])
        return scale_margins(self._factors(given, m) * theory_margins(m))

    def _factors(self, given: Vector, m: Vector) -> Vector:
        if given.shape != (m.size,):
            raise ValueError(f"there are {m.size} classes, and {given.size} parameters for them")
        return given

    def _dimension(self, m: Vector) -> int:
        return 1 if m.size == 2 else m.size

    def centre(self, counts: ArrayLike) -> Vector:
        m = class_vector(counts, "counts")
        return theory_margins(m, total=1)[1:] if m.size == 2 else np.ones(self._dimension(m))

    def plain(self, counts: ArrayLike) -> Vector:
        m = class_vector(counts, "counts")
        if m.size == 2:
            return np.array([0.5])
        low, high = self.box(m)
        wanted = 1 / theory_margins(m)
        return np.clip(self._shared(wanted / wanted.mean(), m), low, high)

    def _shared(self, factors: Vector, m: Vector) -> Vector:  # noqa: ARG002
        return factors

    def box(self, counts: ArrayLike) -> tuple[Vector, Vector]:
        m = class_vector(counts, "counts")
        if m.size == 2:
            alpha = theory_margins(m, total=1)[1:]
            return (1 - self.width) * alpha, 1 - (1 - self.width) * (1 - alpha)
        ones = np.ones(self._dimension(m))
        return (1 - self.width) * ones, (1 + self.width) * ones

    def axes(self, counts: ArrayLike, n: int) -> list[Vector]:
        low, high = self.box(counts)
        return list(np.linspace(low, high, n, axis=1))


@dataclass(frozen=True)
class SharedTailFamily(BoxFamily):
    """The paper's box with one multiple for all rare classes.

    The ``n_groups - 1`` most frequent classes have one each, and all others share the last.

    Parameters
    ----------
    width : float, default=0.8
        As in ``BoxFamily``.
    n_groups : int, default=3
        The number of multiples.

    Examples
    --------
    >>> SharedTailFamily(n_groups=2).margins([1, 0.5], [8000, 1000, 1000]).round(3)
    array([2. , 0.5, 0.5])
    """

    n_groups: int = 3

    def _groups(self, m: Vector) -> NDArray[np.intp]:
        return share_tail(m, min(self.n_groups, m.size))

    def _dimension(self, m: Vector) -> int:
        return 1 if m.size == 2 else min(self.n_groups, m.size)

    def _factors(self, given: Vector, m: Vector) -> Vector:
        if given.shape != (self._dimension(m),):
            raise ValueError(
                f"there are {self._dimension(m)} groups of classes, and {given.size} parameters"
            )
        return np.asarray(given[self._groups(m)])

    def _shared(self, factors: Vector, m: Vector) -> Vector:
        groups = self._groups(m)
        return np.array([factors[groups == g].mean() for g in range(groups.max() + 1)])


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

    def axes(self, counts: ArrayLike, n: int) -> list[Vector]:
        low, high = self.box(counts)
        return list(np.linspace(low, high, n, axis=1))


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

    values: tuple[tuple[float, float], ...] = WEIGHTED_POINTS

    def margins(self, parameters: ArrayLike, counts: ArrayLike) -> Vector:
        return power_margins(counts, float(np.ravel(parameters)[0]))

    def weights(self, parameters: ArrayLike, counts: ArrayLike) -> Vector:
        """Return the class weights of these parameters."""
        return power_weights(counts, float(np.ravel(parameters)[1]))

    def centre(self, counts: ArrayLike) -> Vector:  # noqa: ARG002
        return np.array([-1 / 3, 1.0])

    def plain(self, counts: ArrayLike) -> Vector:  # noqa: ARG002
        return np.zeros(2)

    def box(self, counts: ArrayLike) -> tuple[Vector, Vector]:  # noqa: ARG002
        pairs = np.array(self.values)
        return pairs.min(axis=0), pairs.max(axis=0)

    def axes(self, counts: ArrayLike, n: int) -> list[Vector]:  # noqa: ARG002
        return [np.unique(column) for column in np.array(self.values).T]

    def grid(self, counts: ArrayLike, n: int) -> list[Vector]:  # noqa: ARG002
        """Return the pairs to try, which are not all combinations of their values."""
        return [np.array(pair) for pair in self.values]


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
    own = getattr(family, "grid", None)
    if own is not None:
        return list(own(counts, n))
    grid = [np.array(values) for values in product(*family.axes(counts, n))]
    for special in (family.plain(counts), family.centre(counts)):
        if not any(np.allclose(special, one, atol=1e-9) for one in grid):
            grid.append(special)
    return grid
