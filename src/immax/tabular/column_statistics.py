"""What preprocessing must know of the columns of a table, added up over batches of rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

import numpy as np

from immax.arrays import Array, Vector
from immax.tabular.quantile_sketch import QuantileSketch

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["ColumnStatistics"]


class ColumnStatistics:
    """Counts, means, variances and medians of numbers, and counts of categories.

    Counts, means and variances are exact. Medians are those of a ``QuantileSketch``, and exact for
    up to ``capacity`` numbers.

    Parameters
    ----------
    numbers : sequence of str
        Columns of floats, in which missing values are NaN.
    categories : sequence of str
        Columns of strings.
    capacity : int, default=10_000
        Of the sketch of each column of numbers.
    """

    def __init__(
        self, numbers: Sequence[str], categories: Sequence[str], capacity: int = 10_000
    ) -> None:
        self.numbers, self.categories, self._capacity = list(numbers), list(categories), capacity
        self.n_rows = 0
        self.present: Vector = np.zeros(len(self.numbers))
        self._means: Vector = np.zeros(len(self.numbers))
        self._squares: Vector = np.zeros(len(self.numbers))  # sums of squared deviations
        self._sketches = [QuantileSketch(capacity) for _ in self.numbers]
        self.counts: dict[str, Counter[str]] = {name: Counter() for name in self.categories}

    def add(self, typed: DataFrame) -> None:
        """Add rows.

        Parameters
        ----------
        typed : DataFrame
            The columns, as ``TypedColumns`` converts them.
        """
        n = len(typed)
        if not n:
            return
        if self.numbers:
            values = typed[self.numbers].to_numpy(np.float64)
            known = ~np.isnan(values)
            for sketch, column, own in zip(self._sketches, values.T, known.T, strict=True):
                sketch.add(column[own])
            self._add_moments(values, known)
        for name in self.categories:
            self.counts[name].update(typed[name].value_counts(dropna=False).to_dict())
        self.n_rows += n

    def _add_moments(self, values: Array, known: Array) -> None:
        """Add the means and squared deviations of the values that are known."""
        count = known.sum(axis=0).astype(np.float64)
        safe = np.maximum(count, 1)
        mean = np.where(known, values, 0).sum(axis=0) / safe
        deviations = np.where(known, values - mean, 0)
        self._join_moments(count, mean, np.einsum("ij,ij->j", deviations, deviations))

    def _join_moments(self, count: Vector, mean: Vector, squares: Vector) -> None:
        """Add means and squared deviations by the formula of Chan, Golub and LeVeque."""
        total = self.present + count
        shift = np.where(count > 0, mean - self._means, 0)
        share = count / np.maximum(total, 1)
        self._squares += squares + shift**2 * self.present * share
        self._means += shift * share
        self.present = total

    def __add__(self, other: ColumnStatistics) -> Self:
        """Return the statistics of the rows of both."""
        both = type(self)(self.numbers, self.categories, self._capacity)
        both._sketches = [a + b for a, b in zip(self._sketches, other._sketches, strict=True)]
        for own in (self, other):
            both.n_rows += own.n_rows
            both._join_moments(own.present, own._means, own._squares)
            for name in self.categories:
                both.counts[name].update(own.counts[name])
        return both

    def medians(self) -> Vector:
        """Return the medians of the numbers; NaN where all values are missing.

        Returns
        -------
        ndarray of shape (n_numbers,)
        """
        return np.array([sketch.median() for sketch in self._sketches])

    def imputed_moments(self, fill: Vector) -> tuple[Vector, Vector]:
        """Return means and variances where missing values are replaced.

        Parameters
        ----------
        fill : ndarray of shape (n_numbers,)
            The values that replace missing ones.

        Returns
        -------
        means, variances : ndarray of shape (n_numbers,)
        """
        share = 1 - self.present / self.n_rows
        shift = fill - self._means
        means = self._means + share * shift
        variances = self._squares / self.n_rows + share * (1 - share) * shift**2
        return means, variances
