"""The best biases for given weights, found on the scores alone."""

from __future__ import annotations

from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from immax.arrays import Array
from immax.losses.risks import SmoothRisk
from immax.solvers.line_search import largest_size
from immax.solvers.preconditioners import above_zero

__all__ = ["BiasCurvature", "BiasCurvatureRisk", "Settled", "best_biases"]

MAX_REDUCTIONS = 10
MOST_ROUNDED = 100  # times the noise, by which the value of a much flatter point may be larger
MAX_GROWTH = 10.0  # of the scores in one step, as where there is no curvature
BLOCK_ROWS = 1024
MOST_FACTORED = 50  # biases; the Hessian of more takes longer to form than to multiply with
MAX_CONJUGATE_STEPS = 30
CONJUGATE_TOL = 1e-3


class BiasCurvature(Protocol):
    """The Hessian of a risk in its biases, never formed."""

    @property
    def scale(self) -> Array:
        """The approximate diagonal, shape (k,)."""

    def product(self, vector: Array) -> Array:
        """Multiply the Hessian by a vector.

        Parameters
        ----------
        vector : ndarray of shape (k,)
            The vector.

        Returns
        -------
        ndarray of shape (k,)
        """


@runtime_checkable
class BiasCurvatureRisk(Protocol):
    """A risk that knows the Hessian of its biases from its gradient in the scores."""

    def bias_curvature(self, residuals: Array) -> BiasCurvature:
        """Return the Hessian of the risk in its biases.

        Parameters
        ----------
        residuals : ndarray of shape (n, k)
            The gradient of the risk in the scores, at the point in question.

        Returns
        -------
        BiasCurvature
        """


class Settled(NamedTuple):
    """Scores whose biases minimise the risk."""

    biases: Array  # (k,), to be added to those before
    scores: Array  # (n, k)
    value: float  # of the risk
    residuals: Array  # (n, k), its gradient in the scores


def best_biases(
    risk: SmoothRisk,
    scores: Array,
    max_steps: int = 20,
    flat: float = 0.0,
    known: tuple[float, Array] | None = None,
) -> Settled:
    """Add to every score the constant that minimises the risk.

    Newton steps on the scores find it: there is no product with the features.

    Parameters
    ----------
    risk : SmoothRisk
        The risk as a function of the scores.
    scores : ndarray of shape (n, k)
        The scores of some weights and biases; they are not changed.
    max_steps : int, default=20
        Upper bound on the number of Newton steps.
    flat : float, default=0
        Stop when the slopes of all biases sum to no more than this in absolute value. With zero
        nothing but rounding is left of them.
    known : tuple of float and ndarray of shape (n, k), optional
        The risk of the scores and its gradient, if they have been computed.

    Returns
    -------
    Settled
        The constants, the new scores, and the risk there.
    """
    value, residuals = risk.value_gradient(scores) if known is None else known
    biases = np.zeros(scores.shape[1], dtype=scores.dtype)
    noise = 8 * float(np.finfo(scores.dtype).eps)
    spare = None
    for steps_before in range(max_steps):
        slope = residuals.sum(axis=0, dtype=np.float64)
        if np.abs(slope).sum() <= flat or np.abs(slope).max() <= noise * _sum_of_sizes(residuals):
            break
        move = _newton_step(risk, scores, residuals, slope)
        best = None
        for _ in range(MAX_REDUCTIONS):
            moved = move.astype(scores.dtype)
            trial_scores = spare = np.add(scores, moved, out=spare)
            trial = risk.value_gradient(trial_scores)
            # Close to the optimum the values differ by rounding only, and the slopes decide.
            flatter = np.abs(trial[1].sum(axis=0)).max() < 0.1 * np.abs(slope).max()
            if trial[0] <= value + (MOST_ROUNDED if flatter else 1) * noise * abs(value):
                best = trial
                break
            move *= 0.25
        if best is None:
            break
        flatter = np.abs(best[1].sum(axis=0)).max() < np.abs(slope).max()
        if not (flatter or best[0] < value - noise * abs(value)):
            break
        value, residuals = best
        # The scores that came in belong to the caller; others are used again.
        scores, spare = trial_scores, scores if steps_before else None
        biases += moved
    return Settled(biases, scores, value, residuals)


def _sum_of_sizes(values: Array) -> float:
    """Return the sum of the absolute values, without an array of their size."""
    blocks = range(0, len(values), BLOCK_ROWS)
    return sum(float(np.abs(values[i : i + BLOCK_ROWS]).sum(dtype=np.float64)) for i in blocks)


def _newton_step(risk: SmoothRisk, scores: Array, residuals: Array, slope: Array) -> Array:
    """Return the Newton step; that of many biases comes from conjugate gradients."""
    if slope.size > MOST_FACTORED and isinstance(risk, BiasCurvatureRisk):
        move = _conjugate_step(risk.bias_curvature(residuals), slope)
    else:
        hessian = risk.curvature(scores).total().astype(np.float64)
        size = max(float(np.trace(hessian)), 1e-290)  # far above what underflows below
        if risk.null_direction is not None:
            hessian += size * np.outer(risk.null_direction, risk.null_direction)
        move = -np.linalg.solve(hessian + 1e-15 * size * np.eye(slope.size), slope)
    longest = float(np.abs(move).max())
    if longest <= MAX_GROWTH:
        return move
    reach = MAX_GROWTH * (1 + largest_size(scores))
    if not np.isfinite(longest):
        return np.asarray(-slope / np.abs(slope).max() * reach)  # there is no curvature at all
    return np.asarray(move * min(1.0, reach / longest))


def _conjugate_step(curvature: BiasCurvature, slope: Array) -> Array:
    scale = above_zero(curvature.scale)
    step, residual = np.zeros_like(slope), -slope
    conjugate = preconditioned = residual / scale
    energy = first_energy = float(residual @ preconditioned)
    for _ in range(MAX_CONJUGATE_STEPS):
        product = curvature.product(conjugate)
        along = float(conjugate @ product)
        if along <= 0:
            break
        step += energy / along * conjugate
        residual = residual - energy / along * product
        preconditioned = residual / scale
        following = float(residual @ preconditioned)
        if following <= CONJUGATE_TOL**2 * first_energy:
            break
        conjugate = preconditioned + following / energy * conjugate
        energy = following
    return step
