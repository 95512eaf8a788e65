"""The gain of one method over another, with its uncertainty over the test rows."""

from __future__ import annotations

import numpy as np

from immax.arrays import Array
from immax.compare.results import Comparison
from immax.evaluation.statistics import PairedGain, paired_gain

__all__ = ["GroupedValues", "make_row_groups"]

GROUPS = 20  # of rows, each of which is left out once


def make_row_groups(comparison: Comparison) -> Array:
    """Return the group of each row; classes and folds are spread evenly over the groups.

    Parameters
    ----------
    comparison : Comparison

    Returns
    -------
    ndarray of shape (n,)
        From 0 to ``GROUPS - 1``.
    """
    fold = np.zeros(len(comparison.codes), dtype=np.intp)
    for number, split in enumerate(comparison.splits[: comparison.protocol.folds]):
        fold[split.test] = number
    order = np.lexsort((fold, comparison.codes))
    groups = np.empty(len(fold), dtype=np.intp)
    groups[order] = np.arange(len(fold)) % GROUPS
    return groups


class GroupedValues:
    """The measure of each method in each fold, with all rows and with a group of them left out.

    Parameters
    ----------
    comparison : Comparison
    """

    def __init__(self, comparison: Comparison) -> None:
        self._parts = comparison.protocol.folds
        scorer, c = comparison.scorer, len(comparison.classes)
        groups = make_row_groups(comparison)
        self._folds: dict[str, Array] = {}
        self._left_out: dict[str, Array] = {}
        for name, results in comparison.fold_results.items():
            own = np.empty((GROUPS, len(results)))
            for k, (result, split) in enumerate(zip(results, comparison.splits, strict=True)):
                y, labels, proba = comparison.codes[split.test], result.labels, result.proba
                for group in range(GROUPS):
                    rest = groups[split.test] != group
                    given = None if proba is None else proba[rest]
                    own[group, k] = scorer.measure(y[rest], labels[rest], given, c)
            self._left_out[name] = scorer.sign * own
            values = [fold[scorer.name] for fold in comparison.scores(name)]
            self._folds[name] = scorer.sign * np.array(values)

    def value(self, name: str) -> PairedGain:
        """Return the measure of a method, times -1 if lower is better, with its interval.

        Parameters
        ----------
        name : str

        Returns
        -------
        PairedGain
        """
        return paired_gain(self._folds[name], self._left_out[name], self._parts)

    def gain(self, name: str, other: str) -> PairedGain:
        """Return by how much a method is better than another one.

        Parameters
        ----------
        name, other : str

        Returns
        -------
        PairedGain
        """
        return paired_gain(
            self._folds[name] - self._folds[other],
            self._left_out[name] - self._left_out[other],
            self._parts,
        )
