"""The paper's box around the theory's margins, with a margin for each class or one for the tail."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from immax.arrays import Vector
from immax.class_vectors import class_vector
from immax.margins import scale_margins, share_tail, tail_margins, theory_margins
from immax.search.margin_family import MarginFamily

__all__ = ["BoxFamily", "SharedTailFamily"]


@dataclass(frozen=True)
class BoxFamily(MarginFamily):
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
        m = class_vector(counts, "counts")
        return theory_margins(m, total=1)[1:] if m.size == 2 else np.ones(self._dimension(m))

    def plain(self, counts: ArrayLike) -> Vector:
        m = class_vector(counts, "counts")
        low, high = self.box(m)
        if m.size == 2:
            return np.clip([0.5], low, high)
        groups = self._groups(m)
        wanted = np.bincount(groups, 1 / self._middle(m)) / np.bincount(groups)
        return np.clip(wanted, low, high)

    def box(self, counts: ArrayLike) -> tuple[Vector, Vector]:
        m = class_vector(counts, "counts")
        if m.size == 2:
            shares = theory_margins(m, total=1)
            reach = self.width * shares.min()
            return shares[1:] - reach, shares[1:] + reach
        ones = np.ones(self._dimension(m))
        return (1 - self.width) * ones, (1 + self.width) * ones


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
