"""Bounds by surrogate risks: the margin loss replaced by a convex loss that lies above it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from immax.arrays import Array
from immax.class_vectors import class_vector
from immax.losses.surrogates import SURROGATES
from immax.theory.bounds import Bound, margin_bound, uniform_margin_bound
from immax.theory.margin_losses import check_sample, margins_of, phi
from immax.theory.targets import target_of

__all__ = ["Psi", "check_psi", "surrogate_bound"]

Psi = Callable[[Array], Array]
"""A function of margins divided by rho."""

GRID = np.linspace(-30, 30, 12_001)


def check_psi(psi: str | Psi) -> Psi:
    """Return a surrogate that lies above the margin loss, or say why it does not.

    The bounds need ``Phi_rho(u) <= Psi(u / rho)`` for all u and rho, which is
    ``min(1, max(0, 1 - u)) <= Psi(u)``, and the algorithms that Psi does not increase and is
    convex. A function of your own is evaluated on a fine grid from -30 to 30.

    Parameters
    ----------
    psi : {"hinge", "logistic", "exponential"} or callable
        The logistic loss is ``log_2(1 + e^{-u})``: with the natural logarithm it does not lie
        above the margin loss. A callable takes an array and returns one.

    Returns
    -------
    callable

    Raises
    ------
    ValueError
        If the function is below the margin loss somewhere, increases or is not convex.

    Examples
    --------
    >>> check_psi(lambda u: np.maximum(0, 1 - u) ** 2)
    Traceback (most recent call last):
    ValueError: psi is below the margin loss: psi(0.5) = 0.25, and Phi_1(0.5) = 0.5
    >>> float(check_psi("logistic")(np.array([0.0]))[0])
    1.0
    """
    if isinstance(psi, str):
        if psi not in ("hinge", "logistic", "exponential"):
            raise ValueError(
                f"psi must be 'hinge', 'logistic', 'exponential' or a function; got {psi!r}"
            )
        value = SURROGATES[psi].value
        if psi == "logistic":
            return lambda u: np.asarray(value(u) / np.log(2))
        return value
    values = np.asarray(psi(GRID), dtype=np.float64)
    if values.shape != GRID.shape or np.isnan(values).any():
        raise ValueError(f"psi must return a number for each margin; got shape {values.shape}")
    below = phi(GRID, 1.0) - values
    if below.max() > 1e-9:
        u = float(GRID[below.argmax()])
        raise ValueError(
            f"psi is below the margin loss: psi({u:g}) = {float(values[below.argmax()]):.4g}, and "
            f"Phi_1({u:g}) = {float(phi(u, 1.0)):.4g}"
        )
    finite = values[np.isfinite(values)]
    steps = np.diff(finite)
    if (steps > 1e-9 * (1 + np.abs(finite[:-1]))).any():
        raise ValueError("psi must not increase")
    slopes = steps / np.diff(GRID[np.isfinite(values)])
    if (np.diff(slopes) < -1e-6 * (1 + np.abs(slopes[:-1]))).any():
        raise ValueError("psi must be convex")
    return psi


def surrogate_bound(
    scores: ArrayLike,
    y: ArrayLike,
    rho: ArrayLike,
    complexity: float,
    psi: str | Psi = "hinge",
    delta: float = 0.05,
    *,
    radii: ArrayLike | None = None,
    scaled: bool = False,
    costs: ArrayLike | str | None = None,
    expected: bool = False,
    proof: str = "sharp",
) -> Bound:
    """Return a bound in which the surrogate risk takes the place of the margin loss.

    ``error <= mean of Psi(margin / rho_y) + …``, with the complexity and the confidence of
    ``margin_bound``, or of ``uniform_margin_bound`` if radii are given. This is the step from the
    bounds to the algorithms; the bound is never smaller than the one that it comes from.

    Parameters
    ----------
    scores, y, rho, complexity, delta, costs, expected, proof
        As in ``margin_bound``.
    psi : {"hinge", "logistic", "exponential"} or callable, default="hinge"
        As in ``check_psi``.
    radii : array-like of shape (c,), optional
        As in ``uniform_margin_bound``, for margins that are chosen after the sample was seen.
    scaled : bool, default=False
        Whether the scores are those of a hypothesis of norm ``1 / sum_k rho_k``, which the paper's
        algorithms minimise over: ``Psi(y h(x) (rho_+ + rho_-) / rho_+)`` for class +1. The
        complexity is that of the ball of radius one.

    Returns
    -------
    Bound

    Examples
    --------
    >>> bound = surrogate_bound([2.0, -1.0, 0.5], [1, 0, 1], [1.0, 1.0], 0.1, psi="hinge")
    >>> round(bound.empirical, 3)
    0.167
    """
    margins = class_vector(rho, "rho")
    h, labels = check_sample(scores, y, margins.size)
    if scaled:
        h = h * margins.sum()
    options = {"costs": costs, "expected": expected, "proof": proof}
    if radii is None:
        bound = margin_bound(h, labels, margins, complexity, delta, **options)  # type: ignore[arg-type]
    else:
        bound = uniform_margin_bound(h, labels, margins, complexity, radii, delta, **options)  # type: ignore[arg-type]
    weights = target_of(costs, labels, margins.size).weights
    values = check_psi(psi)(margins_of(h, labels) / margins[labels])
    return replace(bound, empirical=float(np.mean(weights[labels] * values)))
