"""The table of a search: a row for every cell, as in GridSearchCV."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from immax.arrays import Array
from immax.search.results import CellResults
from immax.search.selection import choose_cell, choose_probabilities, near_ties, spread

__all__ = ["SearchTable"]


@dataclass(frozen=True)
class SearchTable:
    """All cells of a search: points, penalties and rules.

    Attributes
    ----------
    points : sequence of ndarray
        Parameters of the family.
    margins, weights : sequence of ndarray of shape (c,)
        Margins and class weights of the points, for the class counts of all samples.
    penalties : ndarray
        Values of lam or C.
    strengths : ndarray
        Numbers that are larger for stronger penalties.
    results : CellResults
        Scores of the cells.
    penalty_name : str
        What the penalty's parameter is called.
    """

    points: Sequence[Array]
    margins: Sequence[Array]
    weights: Sequence[Array]
    penalties: Array
    strengths: Array
    results: CellResults
    penalty_name: str

    @property
    def cells(self) -> list[tuple[int, ...]]:
        """The point, penalty and rule of every row."""
        return list(np.ndindex(*self.results.totals.shape))

    def choose(self, one_se: bool) -> int:
        """Return the row of the chosen cell.

        Parameters
        ----------
        one_se : bool
            Whether the simplest cell within a standard error of the best is preferred.

        Returns
        -------
        int
        """
        point, penalty, rule = np.array(self.cells).T
        n = self.results.scores.shape[-1]
        return choose_cell(
            self.results.totals.ravel(),
            self.results.without.reshape(-1, n),
            self.results.losses.mean(axis=-1)[point, penalty],
            self._spreads()[point],
            self.strengths[penalty],
            rule,
            one_se,
        )

    def choose_probabilities(self, chosen: int) -> int:
        """Return the row of the cell with the best probabilities.

        Parameters
        ----------
        chosen : int
            The row that was chosen for its decisions, which is preferred.

        Returns
        -------
        int
        """
        point, penalty, _ = np.array(self.cells).T
        losses = self.results.losses[point, penalty]
        return choose_probabilities(losses, self._spreads()[point], chosen)

    def _spreads(self) -> Array:
        pairs = zip(self.margins, self.weights, strict=True)
        return np.array([spread(rho) + spread(weights) for rho, weights in pairs])

    def columns(self) -> dict[str, Any]:
        """Return the table by columns.

        Returns
        -------
        dict of str to sequence
        """
        results, name = self.results, self.penalty_name
        point, penalty, _ = np.array(self.cells).T
        totals = results.totals.ravel()
        n = results.scores.shape[-1]
        rules = [str(rule) for rule in results.rules.ravel()]
        table: dict[str, Any] = {
            "params": [
                {
                    "parameters": self.points[i].tolist(),
                    name: float(self.penalties[j]),
                    "rule": rule,
                }
                for (i, j, _), rule in zip(self.cells, rules, strict=True)
            ],
            "param_parameters": [tuple(self.points[i].tolist()) for i in point],
            f"param_{name}": self.penalties[penalty],
            "param_rule": np.array(rules),
            "margins": [self.margins[i] for i in point],
            "weights": [self.weights[i] for i in point],
            "total_test_score": totals,
            "rank_test_score": _ranks(totals),
            "near_best": near_ties(
                totals, results.without.reshape(-1, n), int(np.nanargmax(totals))
            ),
            "mean_test_log_loss": results.losses.mean(axis=-1)[point, penalty],
        }
        for kind, times in (("fit", results.fit_times), ("score", results.score_times)):
            each = times[point, penalty]
            table |= {f"mean_{kind}_time": each.mean(axis=1), f"std_{kind}_time": each.std(axis=1)}
        for metric, values in {"score": results.scores, **results.others}.items():
            scores = values.reshape(-1, n)
            table[f"mean_test_{metric}"] = scores.mean(axis=1)
            table[f"std_test_{metric}"] = scores.std(axis=1)
            if metric != "score":
                table[f"rank_test_{metric}"] = _ranks(scores.mean(axis=1))
            for test, column in enumerate(scores.T):
                table[f"split{test}_test_{metric}"] = column
        return table


def _ranks(scores: Array) -> Array:
    """Return the ranks of scores, the highest first; equal ones share one, and NaN is last."""
    known = np.nan_to_num(scores, nan=-np.inf)
    return np.asarray((known[None, :] > known[:, None] + 1e-12).sum(axis=1) + 1)
