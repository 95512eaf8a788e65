"""What preprocessing must know of the columns of a table, added up over batches of rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

import numpy as np

from immax.arrays import Array, Vector
from immax.distributed.row_hashes import uniform_numbers

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["ColumnStatistics"]


class ColumnStatistics:
    """Counts, means and variances of numbers, a sample of them, and counts of categories.

    Counts, means and variances are exact. Quantiles are those of a sample of the rows, which is
    all of them if there are no more than ``most_sampled``.

    Parameters
    ----------
    numbers : sequence of str
        Columns of floats, in which missing values are NaN.
    categories : sequence of str
        Columns of strings.
    rate : float, default=1.0
        The share of the rows to sample.
    """

    def __init__(
        self, numbers: Sequence[str], categories: Sequence[str], rate: float = 1.0
    ) -> None:
        self.numbers, self.categories, self._rate = list(numbers), list(categories), rate
        self.n_rows = 0
        self.present: Vector = np.zeros(len(self.numbers))
        self._means: Vector = np.zeros(len(self.numbers))
        self._squares: Vector = np.zeros(len(self.numbers))  # sums of squared deviations
        self._sampled: list[Array] = []
        self.counts: dict[str, Counter[str]] = {name: Counter() for name in self.categories}

    def add(self, typed: DataFrame, places: Array) -> None:
        """Add rows.

        Parameters
        ----------
        typed : DataFrame
            The columns, as ``TypedColumns`` converts them.
        places : ndarray of int, shape (n,)
            The positions of the rows in the table, which say whether they are sampled.
        """
        n = len(typed)
        if not n:
            return
        if self.numbers:
            values = typed[self.numbers].to_numpy(np.float64)
            self._sampled.append(values[uniform_numbers(places) < self._rate])
            self._add_moments(values)
        for name in self.categories:
            self.counts[name].update(typed[name].value_counts(dropna=False).to_dict())
        self.n_rows += n

    def _add_moments(self, values: Array) -> None:
        """Add the means and squared deviations of rows."""
        known = ~np.isnan(values)
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
        both = type(self)(self.numbers, self.categories, self._rate)
        for own in (self, other):
            both.n_rows += own.n_rows
            both._sampled += own._sampled
            both._join_moments(own.present, own._means, own._squares)
            for name in self.categories:
                both.counts[name].update(own.counts[name])
        return both

    def sample(self) -> Array:
        """Return sampled rows of the numbers, of shape (n_sampled, n_numbers)."""
        if not self._sampled:
            return np.empty((0, len(self.numbers)))
        return np.concatenate(self._sampled)

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
