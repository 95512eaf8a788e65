"""The choice of a cell of a search."""

from __future__ import annotations

import numpy as np

from immax.arrays import Array

__all__ = ["choose_cell", "choose_probabilities", "near_ties", "spread"]

ERRORS = 2.0  # by which unequal margins must be better than equal ones to give probabilities
AS_LOW = 1e-3  # a log-loss that is higher by this share is as low: one fit serves both purposes


def near_ties(totals: Array, without: Array, best: int) -> Array:
    """Return which cells are within a standard error of the best one.

    The error is the jackknife's, of the differences from the best cell when one test is left out,
    so that differences between the tests themselves do not count. For means over the tests it is
    the usual standard error of the paired differences.

    Parameters
    ----------
    totals : ndarray of shape (n_cells,)
        By which cells are compared; higher is better.
    without : ndarray of shape (n_cells, n_tests)
        The same without the samples of each test.
    best : int
        The cell with the highest total.

    Returns
    -------
    ndarray of bool, shape (n_cells,)
        True for the best cell itself.
    """
    behind = without[best] - without
    n = behind.shape[1]
    error = np.sqrt((n - 1) * behind.var(axis=1))
    return np.asarray(totals[best] - totals <= error + 1e-12)


def spread(rho: Array) -> float:
    """Return how unequal margins or weights are: the standard deviation of their logarithms.

    Parameters
    ----------
    rho : ndarray of shape (c,)
        Margins or weights; their scale does not matter.

    Returns
    -------
    float
        Zero for equal margins.
    """
    return round(float(np.std(np.log(rho))), 10)


def choose_cell(
    totals: Array,
    without: Array,
    losses: Array,
    spreads: Array,
    strengths: Array,
    rules: Array,
    one_se: bool,
) -> int:
    """Return the best cell, or the best of those with the simplest margins near it.

    Ties, of which labels make many, go to the more equal margins and weights, then to the lower
    log-loss, then to the stronger penalty, then to the rule that is listed first.

    Parameters
    ----------
    totals : ndarray of shape (n_cells,)
        By which cells are compared; higher is better, and NaN is never chosen.
    without : ndarray of shape (n_cells, n_tests)
        The same without the samples of each test.
    losses : ndarray of shape (n_cells,)
        Mean log-losses.
    spreads : ndarray of shape (n_cells,)
        How unequal the margins and weights of the cells are.
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

    Raises
    ------
    ValueError
        If all totals are NaN.
    """
    if np.isnan(totals).all():
        raise ValueError(
            "the score of every cell is NaN, so none can be chosen; some metrics, such as the "
            "area under the ROC curve, are NaN on test folds that lack a class"
        )
    totals = np.where(np.isnan(totals), -np.inf, totals)
    best = int(np.flatnonzero(totals >= totals.max() - 1e-12)[0])
    candidates = np.flatnonzero(
        near_ties(totals, without, best) if one_se else totals >= totals[best] - 1e-12
    )
    simplest = candidates[spreads[candidates] <= spreads[candidates].min() + 1e-9]
    top = simplest[totals[simplest] >= totals[simplest].max() - 1e-12]
    order = np.lexsort([rules[top], -strengths[top], losses[top].round(12)])
    return int(top[order[0]])


def choose_probabilities(losses: Array, spreads: Array, chosen: int) -> int:
    """Return the cell with the best probabilities, or the chosen one if its own are as good.

    Of the cells with the most equal margins and weights the one of the lowest log-loss is taken,
    unless another cell is better by more than two standard errors: scores that minimise a loss
    with unequal margins have exact probabilities only where the model is flexible enough.

    Parameters
    ----------
    losses : ndarray of shape (n_cells, n_tests)
        Log-losses on held-out samples.
    spreads : ndarray of shape (n_cells,)
        How unequal the margins and weights of the cells are.
    chosen : int
        The cell that was chosen for its decisions.

    Returns
    -------
    int
        The index of the cell.
    """
    means = losses.mean(axis=1)
    plain = np.flatnonzero(spreads <= spreads.min() + 1e-9)
    best = int(plain[np.argmin(means[plain])])
    other = int(np.argmin(means))
    ahead = losses[best] - losses[other]
    n = ahead.size
    error = ahead.std(ddof=1) / np.sqrt(n) if n > 1 else 0.0
    if means[best] - means[other] > ERRORS * error:
        best = other
    return chosen if means[chosen] <= (1 + AS_LOW) * means[best] else best
