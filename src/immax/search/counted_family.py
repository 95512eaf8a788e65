"""A family of margins for other class counts than those of the data."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import ArrayLike

from immax.arrays import Vector
from immax.class_vectors import class_vector
from immax.search.families import resolve_family
from immax.search.margin_family import MarginFamily, family_weights, own_grid

__all__ = ["CountedFamily"]


@dataclass(frozen=True)
class CountedFamily(MarginFamily):
    """A family whose class counts are given, or weighed, instead of those of the data.

    Two uses: the counts of the original sample, where a resampling step comes before the
    classifier, which then sees classes of one size and would make the theory's margins equal; and
    radii, since the theory's margins for radii r are those for the counts ``m_k r_k^2``.

    Parameters
    ----------
    family : str or MarginFamily, default="auto"
        The family of the margins.
    counts : tuple of float, optional
        Counts that take the place of those of the data, in the order of the classes.
    radii : tuple of float, optional
        The largest feature norm within each class.

    Examples
    --------
    >>> CountedFamily("power", counts=(8000, 1000)).margins([1 / 3], [500, 500])
    array([1.33333333, 0.66666667])
    """

    family: str | MarginFamily = "auto"
    counts: tuple[float, ...] | None = None
    radii: tuple[float, ...] | None = None

    def _counted(self, counts: ArrayLike) -> Vector:
        m = class_vector(counts, "counts")
        if self.counts is None:
            return m
        return class_vector(self.counts, "the family's counts", m.size)

    def _own(self, counts: ArrayLike) -> Vector:
        m = self._counted(counts)
        if self.radii is None:
            return m
        return m * class_vector(self.radii, "the family's radii", m.size) ** 2

    def margins(self, parameters: ArrayLike, counts: ArrayLike) -> Vector:
        """Return the margins of a point of the family, for its own counts and radii.

        Parameters
        ----------
        parameters : array-like of shape (n_parameters,)
            The point.
        counts : array-like of shape (n_classes,)
            Those of the data, used if the family has none of its own.

        Returns
        -------
        ndarray of shape (n_classes,)

        Raises
        ------
        ValueError
            If the family's counts or radii are not of this many classes.
        """
        return resolve_family(self.family).margins(parameters, self._own(counts))

    def weights(self, parameters: ArrayLike, counts: ArrayLike) -> Vector:
        """Return the class weights of a point of the family; radii do not enter.

        Parameters
        ----------
        parameters : array-like of shape (n_parameters,)
            The point.
        counts : array-like of shape (n_classes,)
            As in ``margins``.

        Returns
        -------
        ndarray of shape (n_classes,)
            Ones for a family of margins alone.
        """
        return family_weights(resolve_family(self.family), parameters, self._counted(counts))

    def centre(self, counts: ArrayLike) -> Vector:
        return resolve_family(self.family).centre(self._own(counts))

    def plain(self, counts: ArrayLike) -> Vector:
        return resolve_family(self.family).plain(self._own(counts))

    def box(self, counts: ArrayLike) -> tuple[Vector, Vector]:
        return resolve_family(self.family).box(self._own(counts))

    def axes(self, counts: ArrayLike, n: int) -> list[Vector]:
        return resolve_family(self.family).axes(self._own(counts), n)

    def grid(self, counts: ArrayLike, n: int) -> list[Vector] | None:
        """Return the points to try, if the family determines them itself.

        Parameters
        ----------
        counts : array-like of shape (n_classes,)
            As in ``margins``.
        n : int
            The number of values of each parameter.

        Returns
        -------
        list of ndarray, or None
            None for a family without a method ``grid``.
        """
        return own_grid(resolve_family(self.family), self._own(counts), n)
