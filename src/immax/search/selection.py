"""Which cell of a search to take."""

from __future__ import annotations

import numpy as np

from immax.arrays import Array

__all__ = ["choose_cell", "near_ties", "spread"]


def near_ties(scores: Array, best: int) -> Array:
    """Which cells are within a standard error of the best one.

    Of the differences from the best, fold by fold: the folds' own ups and downs do not count.

    Parameters
    ----------
    scores : ndarray of shape (n_cells, n_folds)
    best : int
        The cell with the highest mean.
    """
    behind = scores[best] - scores
    error = behind.std(axis=1, ddof=1) / np.sqrt(scores.shape[1]) if scores.shape[1] > 1 else 0.0
    return np.asarray(behind.mean(axis=1) <= error + 1e-12)


def spread(rho: Array) -> float:
    """How unequal margins are: the standard deviation of their logarithms."""
    return round(float(np.std(np.log(rho))), 10)


def choose_cell(
    scores: Array, losses: Array, spreads: Array, strength: Array, rules: Array, one_se: bool
) -> int:
    """The best cell; with ``one_se`` the best of those with the simplest margins near it.

    Ties, of which labels make many, go to the more equal margins, then to the lower log-loss, then
    to the stronger penalty, then to the rule that is listed first.
    """
    means = scores.mean(axis=1)
    best = int(np.flatnonzero(means >= means.max() - 1e-12)[0])
    candidates = np.flatnonzero(near_ties(scores, best) if one_se else means >= means[best] - 1e-12)
    simplest = candidates[spreads[candidates] <= spreads[candidates].min() + 1e-9]
    top = simplest[means[simplest] >= means[simplest].max() - 1e-12]
    order = np.lexsort([rules[top], -strength[top], losses[top].round(12)])
    return int(top[order[0]])
