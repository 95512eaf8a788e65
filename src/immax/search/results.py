"""Scores and times of the cells of a search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Self

import numpy as np

from immax.arrays import Array

__all__ = ["CellResults"]


@dataclass(frozen=True)
class CellResults:
    """Scores and times of all combinations of margins and penalty strengths.

    Attributes
    ----------
    scores : ndarray of shape (n_margins, n_penalties, n_rules, n_tests)
        Scores of the held-out samples, by each rule.
    losses : ndarray of shape (n_margins, n_penalties, n_tests)
        Their log-loss, or zero where there are no probabilities.
    fit_times, score_times : ndarray of shape (n_margins, n_penalties, n_tests)
        Seconds.
    """

    scores: Array
    losses: Array
    fit_times: Array
    score_times: Array

    @classmethod
    def empty(cls, n_margins: int, n_penalties: int, n_rules: int, n_tests: int = 1) -> Self:
        """Return results to be filled in.

        Parameters
        ----------
        n_margins, n_penalties, n_rules : int
            The numbers of margins, penalty strengths and decision rules.
        n_tests : int, default=1
            The number of sets of held-out samples.

        Returns
        -------
        CellResults
            All zero.
        """
        cells = n_margins, n_penalties
        losses, fit_times, score_times = np.zeros((3, *cells, n_tests))
        return cls(np.zeros((*cells, n_rules, n_tests)), losses, fit_times, score_times)

    @classmethod
    def join(cls, parts: Sequence[CellResults], axis: int) -> Self:
        """Join results along an axis: 0 for more margins, -1 for more tests.

        Parameters
        ----------
        parts : sequence of CellResults
            Results that agree in the other axes.
        axis : {0, -1}
            The axis along which they are joined.

        Returns
        -------
        CellResults
            All of them.
        """
        names = [field.name for field in fields(cls)]
        return cls(
            *(np.concatenate([getattr(part, name) for part in parts], axis) for name in names)
        )
