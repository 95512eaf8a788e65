"""The choice of a cell of a search."""

from __future__ import annotations

import numpy as np

from immax.arrays import Array

__all__ = ["choose_cell", "near_ties", "spread"]


def near_ties(scores: Array, best: int) -> Array:
    """Return which cells are within a standard error of the best one.

    The error is that of the differences from the best cell, fold by fold, so that differences
    between the folds themselves do not count.

    Parameters
    ----------
    scores : ndarray of shape (n_cells, n_folds)
        Higher is better.
    best : int
        The cell with the highest mean.

    Returns
    -------
    ndarray of bool, shape (n_cells,)
        True for the best cell itself.
    """
    behind = scores[best] - scores
    error = behind.std(axis=1, ddof=1) / np.sqrt(scores.shape[1]) if scores.shape[1] > 1 else 0.0
    return np.asarray(behind.mean(axis=1) <= error + 1e-12)


def spread(rho: Array) -> float:
    """Return how unequal margins are: the standard deviation of their logarithms.

    Parameters
    ----------
    rho : ndarray of shape (c,)
        Margins; their scale does not matter.

    Returns
    -------
    float
        Zero for equal margins.
    """
    return round(float(np.std(np.log(rho))), 10)


def choose_cell(
    scores: Array, losses: Array, spreads: Array, strengths: Array, rules: Array, one_se: bool
) -> int:
    """Return the best cell, or the best of those with the simplest margins near it.

    Ties, of which labels make many, go to the more equal margins, then to the lower log-loss, then
    to the stronger penalty, then to the rule that is listed first.

    Parameters
    ----------
    scores : ndarray of shape (n_cells, n_folds)
        Higher is better.
    losses : ndarray of shape (n_cells,)
        Mean log-losses.
    spreads : ndarray of shape (n_cells,)
        How unequal the margins of the cells are.
    strengths : ndarray of shape (n_cells,)
        Strengths of the penalty.
    rules : ndarray of int, shape (n_cells,)
        Positions of the cells' rules in the list of rules.
    one_se : bool
        Whether every cell within a standard error of the best is a candidate.

    Returns
    -------
    int
        The index of the cell.
    """
    means = scores.mean(axis=1)
    best = int(np.flatnonzero(means >= means.max() - 1e-12)[0])
    candidates = np.flatnonzero(near_ties(scores, best) if one_se else means >= means[best] - 1e-12)
    simplest = candidates[spreads[candidates] <= spreads[candidates].min() + 1e-9]
    top = simplest[means[simplest] >= means[simplest].max() - 1e-12]
    order = np.lexsort([rules[top], -strengths[top], losses[top].round(12)])
    return int(top[order[0]])
