"""Scores, rules and times of the cells of a search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from immax.arrays import Array

__all__ = ["CellResults"]


@dataclass(frozen=True)
class CellResults:
    """Scores, rules and times of all combinations of points and penalty strengths.

    Attributes
    ----------
    scores : ndarray of shape (n_points, n_penalties, n_rules, n_tests)
        Scores of the held-out samples of every test, by each rule.
    totals : ndarray of shape (n_points, n_penalties, n_rules)
        By which cells are compared: the mean of the scores, or for an aim with a constraint its
        value for the held-out samples of all tests together.
    without : ndarray of shape (n_points, n_penalties, n_rules, n_tests)
        The same without the samples of each test, from which standard errors are found.
    losses : ndarray of shape (n_points, n_penalties, n_tests)
        The log-losses.
    fit_times, score_times : ndarray of shape (n_points, n_penalties, n_tests)
        Seconds.
    rules : ndarray of object, shape (n_points, n_penalties, n_rules)
        The names of the rules, or rules that were fitted for an aim.
    calibrations : ndarray of object, shape (n_points, n_penalties)
        Maps from scores to probabilities, or None where the loss determines them.
    others : mapping of str to ndarray of shape (n_points, n_penalties, n_rules, n_tests)
        Scores by further metrics.
    """

    scores: Array
    totals: Array
    without: Array
    losses: Array
    fit_times: Array
    score_times: Array
    rules: Array
    calibrations: Array
    others: Mapping[str, Array] = field(default_factory=dict)

    @classmethod
    def empty(
        cls,
        n_points: int,
        n_penalties: int,
        n_rules: int,
        n_tests: int = 1,
        others: Sequence[str] = (),
    ) -> Self:
        """Return results to be filled in.

        Parameters
        ----------
        n_points, n_penalties, n_rules : int
            The numbers of points, penalty strengths and decision rules.
        n_tests : int, default=1
            The number of sets of held-out samples.
        others : sequence of str, default=()
            The names of further metrics.

        Returns
        -------
        CellResults
            All zero or None.
        """
        cells = n_points, n_penalties
        scores = *cells, n_rules, n_tests
        losses, fit_times, score_times = np.zeros((3, *cells, n_tests))
        return cls(
            np.zeros(scores),
            np.zeros(scores[:-1]),
            np.zeros(scores),
            losses,
            fit_times,
            score_times,
            np.full(scores[:-1], None),
            np.full(cells, None),
            {name: np.zeros(scores) for name in others},
        )

    @classmethod
    def join(cls, parts: Sequence[CellResults]) -> Self:
        """Join the results of different points.

        Parameters
        ----------
        parts : sequence of CellResults
            Results that agree in the other axes.

        Returns
        -------
        CellResults
            All of them.
        """

        def joined(name: str) -> Array:
            return np.concatenate([getattr(part, name) for part in parts])

        return cls(
            joined("scores"),
            joined("totals"),
            joined("without"),
            joined("losses"),
            joined("fit_times"),
            joined("score_times"),
            joined("rules"),
            joined("calibrations"),
            {
                name: np.concatenate([part.others[name] for part in parts])
                for name in parts[0].others
            },
        )
