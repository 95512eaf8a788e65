"""The two best classes of each sample, while the offsets of classes change."""

from __future__ import annotations

import numpy as np

from immax.arrays import Array
from immax.plain_rules import highest_argmax

__all__ = ["TopTwo"]


class TopTwo:
    """The highest and the second highest of the scores ``log p_k + b_k`` of each row.

    A new offset of one class changes few rows, so that a pass over all classes takes about as long
    as one look at all scores.

    Parameters
    ----------
    log_p : ndarray of shape (n, c)
        Finite or -inf, in each row at least one finite.
    offsets : ndarray of shape (c,)
        The first ``b``, finite.

    Attributes
    ----------
    offsets : ndarray of shape (c,)
    first, second : ndarray of int, shape (n,)
        The columns of the highest and of the second highest score; the highest index wins a tie.
    high, low : ndarray of shape (n,)
        The scores there.
    """

    def __init__(self, log_p: Array, offsets: Array) -> None:
        n = len(log_p)
        self._log_p = log_p
        self.offsets = offsets.copy()
        self.first, self.second = np.empty(n, dtype=np.intp), np.empty(n, dtype=np.intp)
        self.high, self.low = np.empty(n), np.empty(n)
        self._scan(np.arange(n))

    def _scan(self, rows: Array) -> None:
        scores = self._log_p[rows] + self.offsets
        at = np.arange(len(rows))
        first = highest_argmax(scores)
        self.first[rows], self.high[rows] = first, scores[at, first]
        scores[at, first] = -np.inf
        second = highest_argmax(scores)
        self.second[rows], self.low[rows] = second, scores[at, second]

    def move(self, k: int, offset: float) -> None:
        """Change the offset of a class.

        Parameters
        ----------
        k : int
        offset : float
        """
        self.offsets[k] = offset
        own = self._log_p[:, k] + offset
        leads, follows = self.first == k, (self.second == k) & (self.first != k)
        falls = (leads | follows) & (own < self.low)
        rises = ~leads & (own > self.high)
        stays_first = leads & ~falls
        becomes_second = ~leads & ~rises & ~falls & (follows | (own > self.low))
        self.high[stays_first] = own[stays_first]
        self.second[rises], self.low[rises] = self.first[rises], self.high[rises]
        self.first[rises], self.high[rises] = k, own[rises]
        self.second[becomes_second], self.low[becomes_second] = k, own[becomes_second]
        self._scan(np.flatnonzero(falls))
