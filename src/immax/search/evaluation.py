"""Scores, rules and log-losses of all cells, from the scores of held-out samples."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from sklearn.utils import _safe_indexing

from immax.arrays import Array, Features
from immax.search.cell_scores import Criterion, TestSamples, score_others
from immax.search.held_out import HeldOutCells
from immax.search.predictions import HeldOutPredictions, HeldOutScores, log_probabilities
from immax.search.results import CellResults
from immax.search.samples import SearchSamples
from immax.search.scoring import Scorer, group_means

__all__ = ["CellEvaluator"]


@dataclass(frozen=True)
class CellEvaluator:
    """What all cells are scored by.

    Attributes
    ----------
    samples : SearchSamples
        All samples.
    given : {array-like, sparse matrix, data frame} of shape (n, d)
        Their features as they were given, for scorers that look at them.
    loss : {"logistic", "hinge", "exponential"}
        The surrogate.
    has_link : bool
        Whether it determines probabilities; if not, they are calibrated.
    criterion : Criterion
        By what cells are compared.
    others : mapping of str to Scorer
        Further metrics.
    """

    samples: SearchSamples
    given: Features
    loss: str
    has_link: bool
    criterion: Criterion
    others: Mapping[str, Scorer] = field(default_factory=dict)

    def test_samples(self, cells: HeldOutCells) -> TestSamples:
        """Return the samples that the cells are scored on.

        Parameters
        ----------
        cells : HeldOutCells
            Scores of all cells.

        Returns
        -------
        TestSamples
        """
        own = self.samples
        weight = None if own.weight is None else own.weight[cells.rows]
        X = _safe_indexing(self.given, cells.rows)
        return TestSamples(X, own.y[cells.rows], weight, own.classes, cells.groups, cells.rows)

    def predictions(
        self, cells: HeldOutCells, i: int, j: int, samples: TestSamples
    ) -> HeldOutPredictions:
        """Return the held-out predictions of a cell.

        Parameters
        ----------
        cells : HeldOutCells
            Scores of all cells.
        i, j : int
            The point and the penalty.
        samples : TestSamples
            The samples of the cells.

        Returns
        -------
        HeldOutPredictions
        """
        terms = cells.terms[i]
        scores = HeldOutScores(
            self.samples.classes,
            cells.values[i, j],
            terms.margins,
            self.loss,
            cells.model_index,
            terms.weights,
        )
        if not self.has_link:
            scores = scores.calibrated(samples.y, samples.weight)
        return HeldOutPredictions(scores)

    def evaluate(self, cells: HeldOutCells) -> CellResults:
        """Score all cells.

        Parameters
        ----------
        cells : HeldOutCells
            The scores that they gave held-out samples.

        Returns
        -------
        CellResults
        """
        n_points, n_penalties = cells.values.shape[:2]
        samples = self.test_samples(cells)
        results = CellResults.empty(
            n_points, n_penalties, self.criterion.n_rules, len(cells.groups), list(self.others)
        )
        results.fit_times[:] = cells.fit_times
        for cell in np.ndindex(n_points, n_penalties):
            start = time.perf_counter()
            model = self.predictions(cells, cell[0], cell[1], samples)
            cell_scores = self.criterion.score(model, samples)
            results.scores[cell], results.totals[cell] = cell_scores.splits, cell_scores.totals
            results.without[cell] = cell_scores.without
            results.rules[cell] = cell_scores.rules
            results.calibrations[cell] = model.held_out.calibration
            results.losses[cell] = _log_losses(model, samples)
            for name, values in score_others(
                self.others, model, cell_scores.rules, samples
            ).items():
                results.others[name][cell] = values
            results.score_times[cell] = (time.perf_counter() - start) / len(cells.groups)
        return results


def _log_losses(model: HeldOutPredictions, samples: TestSamples) -> Array:
    losses = -log_probabilities(model, samples.labels)
    return np.array(group_means(losses, samples.weight, samples.groups))
