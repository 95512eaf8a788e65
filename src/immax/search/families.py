"""Families of margins: a few numbers to a margin for each class.

A family knows where the theory's optimum lies in it, what range is worth a search, and nothing of
the classifier that is searched for.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from immax.arrays import Vector
from immax.margins import class_vector, power_margins, scale_margins, share_tail, theory_margins

__all__ = [
    "BoxFamily",
    "FreeFamily",
    "MarginFamily",
    "PowerFamily",
    "SharedTailFamily",
    "full_grid",
    "resolve_family",
]


class MarginFamily(Protocol):
    """Maps parameters, a vector, to margins of mean one."""

    def margins(self, parameters: ArrayLike, counts: ArrayLike) -> Vector:
        """The margins of these parameters for these class counts."""

    def centre(self, counts: ArrayLike) -> Vector:
        """The parameters of the theory's margins, or the nearest to them."""

    def plain(self, counts: ArrayLike) -> Vector:
        """The parameters of equal margins, or the nearest to them."""

    def box(self, counts: ArrayLike) -> tuple[Vector, Vector]:
        """The lowest and the highest parameters that are worth a search."""

    def axes(self, counts: ArrayLike, n: int) -> list[Vector]:
        """For each parameter, n values to try."""


@dataclass(frozen=True)
class PowerFamily:
    """``rho_k ∝ m_k^t``: one number t, 0 for equal margins and 1/3 for the theory's.

    Where classes overlap, larger powers favour rare classes: a class is said where its probability
    is above its share of the margins. Where they can be separated, smaller ones do. The powers
    that are tried lie evenly from ``low`` to ``high``, or are those of ``values``.

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

    With two classes only the ratio matters, and the one parameter is alpha, from
    ``(1 - width) alpha*`` to ``1 - (1 - width) (1 - alpha*)``.

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
    """Every margin on its own, as a logarithm relative to equal ones.

    Examples
    --------
    >>> FreeFamily().margins(np.log([1, 2, 1]), [5, 5, 5])
    array([0.75, 1.5 , 0.75])
    """

    reach: float = 10.0  # a margin is at the most so many times an equal one, or as little

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


FAMILIES: dict[str, Any] = {
    "auto": PowerFamily,
    "power": PowerFamily,
    "box": BoxFamily,
    "shared_tail": SharedTailFamily,
    "free": FreeFamily,
}


def resolve_family(family: Any) -> MarginFamily:
    """A family by name, or one that is given."""
    if isinstance(family, str):
        if family not in FAMILIES:
            names = ", ".join(map(repr, FAMILIES))
            raise ValueError(f"family must be one of {names}, or a family; got {family!r}")
        return FAMILIES[family]()
    if not (hasattr(family, "margins") and hasattr(family, "axes")):
        raise ValueError(f"family must have the methods of a MarginFamily; got {family!r}")
    return family


def full_grid(family: MarginFamily, counts: ArrayLike, n: int) -> list[Vector]:
    """All combinations of n values a parameter, with equal margins and the theory's among them."""
    grid = [np.array(values) for values in product(*family.axes(counts, n))]
    for special in (family.plain(counts), family.centre(counts)):
        if not any(np.allclose(special, one, atol=1e-9) for one in grid):
            grid.append(special)
    return grid
