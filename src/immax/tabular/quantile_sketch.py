"""Quantiles of a stream of numbers, from a summary of bounded size."""

from __future__ import annotations

from typing import Self

import numpy as np

from immax.arrays import Array

__all__ = ["QuantileSketch"]


class QuantileSketch:
    """A summary of numbers whose quantiles are close to those of all of them.

    Level h holds values that stand for 2^h numbers each. A level that is full is sorted, and every
    second value of it goes to the next level, the first of each pair and the second in turn. The
    rank of a quantile is then wrong by less than ``levels / capacity`` of all ranks, whatever the
    order of the numbers, and two summaries add up. While no level has been full, that is for up to
    ``capacity`` numbers, quantiles are exact.

    Parameters
    ----------
    capacity : int
        The most values of a level, at least 2.

    References
    ----------
    Manku, Rajagopalan and Lindsay, *Approximate Medians and other Quantiles in One Pass and with
    Limited Memory*, SIGMOD 1998.

    Examples
    --------
    >>> sketch = QuantileSketch(capacity=100)
    >>> for begin in range(0, 100_000, 1000):
    ...     sketch.add(np.arange(begin, begin + 1000))
    >>> bool(abs(sketch.median() - 50_000) < 2000)
    True
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = int(capacity)
        self._levels: list[list[Array]] = [[]]
        self._seconds: list[bool] = [False]  # whether the second of a pair is next to be kept

    def add(self, values: Array) -> None:
        """Add numbers.

        Parameters
        ----------
        values : ndarray of shape (n,)
            Numbers; none is NaN.
        """
        if len(values):
            self._levels[0].append(np.array(values, dtype=np.float64))
            self._reduce()

    def __add__(self, other: QuantileSketch) -> Self:
        """Return a summary of the numbers of both."""
        both = type(self)(min(self._capacity, other._capacity))
        for own in (self, other):
            while len(both._levels) < len(own._levels):
                both._grow()
            for joined, level in zip(both._levels, own._levels, strict=False):
                joined.extend(level)
        both._reduce()
        return both

    def _grow(self) -> None:
        self._levels.append([])
        self._seconds.append(False)

    def _reduce(self) -> None:
        """Halve the levels that are full, the lowest first."""
        height = 0
        while height < len(self._levels):
            if sum(map(len, self._levels[height])) > self._capacity:
                if height + 1 == len(self._levels):
                    self._grow()
                values = np.sort(np.concatenate(self._levels[height]))
                paired = len(values) - len(values) % 2
                # Copies, so that the values that go are released.
                self._levels[height] = [values[paired:].copy()]
                promoted = values[int(self._seconds[height]) : paired : 2].copy()
                self._levels[height + 1].append(promoted)
                self._seconds[height] = not self._seconds[height]
            height += 1

    def median(self) -> float:
        """Return the median, or NaN if there are no numbers.

        Returns
        -------
        float
        """
        joined = [np.concatenate([np.empty(0), *level]) for level in self._levels]
        values = np.concatenate(joined)
        if not len(values):
            return np.nan
        numbers = np.concatenate(
            [np.full(len(level), 2**height) for height, level in enumerate(joined)]
        )
        order = np.argsort(values, kind="stable")
        ranks = np.cumsum(numbers[order])
        middle = np.searchsorted(ranks, [(ranks[-1] - 1) // 2, ranks[-1] // 2], side="right")
        return float(np.mean(values[order][middle]))
