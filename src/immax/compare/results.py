"""The results of a comparison."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from immax.arrays import Array
from immax.compare.fold_cache import FoldResult
from immax.compare.protocol import Protocol, Split
from immax.evaluation.held_out_scorer import HeldOutScorer
from immax.evaluation.metrics import measure
from immax.tabular import Schema

if TYPE_CHECKING:
    from pandas import DataFrame

    from immax.tabular.streamed_table import StreamedTable

__all__ = ["Comparison", "PooledPredictions"]


class PooledPredictions(NamedTuple):
    """The predictions of a method for the test parts of all folds, one after the other.

    Attributes
    ----------
    y, labels : ndarray of shape (n,)
        Codes of the true and of the predicted classes.
    proba : ndarray of shape (n, n_classes) or None
    """

    y: Array
    labels: Array
    proba: Array | None


@dataclass(frozen=True, eq=False)
class Comparison:
    """The results of methods on the same folds.

    Attributes
    ----------
    protocol : Protocol
    X : DataFrame or StreamedTable
        The table of features.
    schema : Schema
        The columns of the table.
    classes : ndarray of shape (n_classes,)
    codes : ndarray of shape (n,)
        The class of each row, as an index of ``classes``.
    splits : tuple of Split
        Training and test rows of each fold.
    fold_results : mapping of str to tuple of FoldResult
        For each method that was run on all folds, a result for each fold.
    left_out : mapping of str to str
        Why other methods are missing.
    unfinished : mapping of str to int
        Of these, the methods that the time limit has cut off, and how many folds they finished.
    """

    protocol: Protocol
    X: DataFrame | StreamedTable = field(repr=False)
    schema: Schema = field(repr=False)
    classes: Array
    codes: Array = field(repr=False)
    splits: tuple[Split, ...] = field(repr=False)
    fold_results: Mapping[str, tuple[FoldResult, ...]] = field(repr=False)
    left_out: Mapping[str, str]
    unfinished: Mapping[str, int] = field(default_factory=dict)

    @property
    def planned_folds(self) -> int:
        """Return the number of folds of the protocol; a time limit may have left fewer."""
        return self.protocol.planned_folds

    @property
    def repeats(self) -> int:
        """Return how often the rows were split: by the protocol, or more often for an answer."""
        return -(-len(self.splits) // self.protocol.folds)

    @property
    def counts(self) -> Array:
        """Return the number of rows of each class."""
        return np.bincount(self.codes, minlength=len(self.classes))

    @property
    def class_names(self) -> list[str]:
        """Return the classes as texts."""
        return [str(name) for name in self.classes]

    @property
    def complete(self) -> list[str]:
        """Return the names of the methods that were run on all folds."""
        return list(self.fold_results)

    @property
    def pieces(self) -> Mapping[str, tuple[FoldResult, ...]]:
        """Return ``fold_results``, under the name that it had in version 0.1.0."""
        message = "Comparison.pieces is deprecated: use Comparison.fold_results"
        warnings.warn(message, FutureWarning, stacklevel=2)
        return self.fold_results

    @cached_property
    def scorer(self) -> HeldOutScorer:
        """Return what methods are ranked by."""
        return self.protocol.scorer(self.classes, self.counts)

    @cached_property
    def _scores(self) -> Mapping[str, tuple[dict[str, float], ...]]:
        return {
            name: tuple(
                self._measure(self.codes[split.test], result)
                for result, split in zip(results, self.splits, strict=True)
            )
            for name, results in self.fold_results.items()
        }

    def _measure(self, y: Array, result: FoldResult) -> dict[str, float]:
        c = len(self.classes)
        values = measure(y, result.labels, result.proba, c, self.counts)
        values[self.scorer.name] = self.scorer.measure(y, result.labels, result.proba, c)
        return values

    def scores(self, name: str) -> tuple[dict[str, float], ...]:
        """Return all metrics of a method, one dictionary for each fold.

        Parameters
        ----------
        name : str
            One of ``complete``.

        Returns
        -------
        tuple of dict of str to float
        """
        return self._scores[name]

    def pooled(self, name: str, *, for_decisions: bool = False) -> PooledPredictions:
        """Return the predictions of a method for the test parts of all folds.

        Parameters
        ----------
        name : str
            One of ``complete``.
        for_decisions : bool, default=False
            Whether probabilities are those that the method decides by, where it has others beside
            them.

        Returns
        -------
        PooledPredictions
        """
        results = self.fold_results[name]
        proba = [
            result.proba
            if result.decision_proba is None or not for_decisions
            else result.decision_proba
            for result in results
            if result.proba is not None
        ]
        return PooledPredictions(
            self.codes[np.concatenate([split.test for split in self.splits])],
            np.concatenate([result.labels for result in results]),
            np.concatenate(proba) if len(proba) == len(results) else None,
        )
