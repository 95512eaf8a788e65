"""The best biases for given weights, found on the scores alone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from immax.arrays import Array
from immax.losses.risks import SmoothRisk

__all__ = ["Settled", "best_biases"]

MAX_REDUCTIONS = 10
MAX_GROWTH = 10.0  # of the scores in one step, as where there is no curvature


class Settled(NamedTuple):
    """Scores whose biases minimise the risk."""

    biases: Array  # (k,), to be added to those before
    scores: Array  # (n, k)
    value: float  # of the risk
    residuals: Array  # (n, k), its gradient in the scores


def best_biases(risk: SmoothRisk, scores: Array, max_steps: int = 20) -> Settled:
    """Add to every score the constant that minimises the risk.

    Newton steps on the scores find it: there is no product with the features.

    Parameters
    ----------
    risk : SmoothRisk
        The risk as a function of the scores.
    scores : ndarray of shape (n, k)
        The scores of some weights and biases.
    max_steps : int, default=20
        Upper bound on the number of Newton steps.

    Returns
    -------
    Settled
        The constants, the new scores, and the risk there.
    """
    value, residuals = risk.value_gradient(scores)
    biases = np.zeros(scores.shape[1], dtype=scores.dtype)
    eps = np.finfo(scores.dtype).eps
    for _ in range(max_steps):
        slope = residuals.sum(axis=0, dtype=np.float64)
        scale = np.abs(residuals).sum(dtype=np.float64)
        if np.abs(slope).max() <= 8 * eps * scale:
            break
        hessian = risk.curvature(scores).total().astype(np.float64)
        size = max(float(np.trace(hessian)), np.finfo(np.float64).tiny)
        if risk.null_direction is not None:
            hessian += size * np.outer(risk.null_direction, risk.null_direction)
        move = -np.linalg.solve(hessian + 1e-15 * size * np.eye(slope.size), slope)
        reach = MAX_GROWTH * (1 + float(np.abs(scores).max(initial=0)))
        if not np.isfinite(move).all():
            move = -slope / np.abs(slope).max() * reach  # there is no curvature at all
        move *= min(1.0, reach / float(np.abs(move).max()))
        best = None
        for _ in range(MAX_REDUCTIONS):
            moved = move.astype(scores.dtype)
            trial = risk.value_gradient(scores + moved)
            if trial[0] <= value + 8 * eps * abs(value):
                best = trial
                break
            move *= 0.25
        if best is None:
            break
        flatter = np.abs(best[1].sum(axis=0)).max() < np.abs(slope).max()
        if not (flatter or best[0] < value - 8 * eps * abs(value)):
            break
        value, residuals = best
        scores = scores + moved
        biases += moved
    return Settled(biases, scores, value, residuals)
