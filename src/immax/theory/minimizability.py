"""Minimizability gaps, and H-consistency of the risks of a finite distribution.

The distribution has n points with class probabilities, and a hypothesis gives scores to each of
them. The family is a list of hypotheses, so that every infimum over it is a minimum.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from immax.arrays import Array
from immax.theory.consistency import best_conditional_risk, conditional_risk

__all__ = ["ExcessRisks", "conditional_risks", "excess_risks", "minimizability_gap"]


def conditional_risks(
    loss: str, p: ArrayLike, scores: ArrayLike, parameters: ArrayLike | None = None
) -> Array:
    """Return the expected loss of every hypothesis at every point.

    Parameters
    ----------
    loss : str
        As in ``conditional_risk``.
    p : array-like of shape (n, c)
        Class probabilities at the points.
    scores : array-like of shape (H, n) or (H, n, c)
        The scores of H hypotheses: one for two classes, or one per class.
    parameters : array-like of shape (c,), optional
        The margins rho; for "cost-sensitive" the costs.

    Returns
    -------
    ndarray of shape (H, n)
    """
    points, h = _checked(p, scores)

    def at_points(own: Array) -> list[float]:
        pairs = zip(points, own, strict=True)
        return [conditional_risk(loss, row, value, parameters) for row, value in pairs]

    return np.array([at_points(own) for own in h])


def minimizability_gap(
    loss: str,
    p: ArrayLike,
    scores: ArrayLike,
    parameters: ArrayLike | None = None,
    weights: ArrayLike | None = None,
) -> float:
    """Return ``min_h R(h) - E_x min_h C(h, x)``: what a family loses by having one h for all x.

    Parameters
    ----------
    loss, p, scores, parameters
        As in ``conditional_risks``.
    weights : array-like of shape (n,), optional
        Probabilities of the points; equal by default.

    Returns
    -------
    float
        Zero or more.

    Examples
    --------
    Two points and two constant classifiers; either of them is wrong at one point.

    >>> minimizability_gap("zero-one", [[0.9, 0.1], [0.2, 0.8]], [[-1.0, -1.0], [1.0, 1.0]])
    0.3...
    """
    risks = conditional_risks(loss, p, scores, parameters)
    q = _shares(weights, risks.shape[1])
    return float((risks @ q).min() - risks.min(axis=0) @ q)


class ExcessRisks(NamedTuple):
    """``R(h) - R* + M`` of each hypothesis, for the zero-one loss and for the margin loss.

    Attributes
    ----------
    zero_one, margin : ndarray of shape (n_hypotheses,)
        The excess of each loss.
    """

    zero_one: Array
    margin: Array

    @property
    def holds(self) -> bool:
        """Whether the excess of the zero-one loss is nowhere above that of the margin loss."""
        return bool((self.zero_one <= self.margin + 1e-12).all())


def excess_risks(
    p: ArrayLike,
    scores: ArrayLike,
    rho: ArrayLike,
    weights: ArrayLike | None = None,
    complete: bool = True,
) -> ExcessRisks:
    """Return both sides of the H-consistency theorems for every hypothesis of a list.

    ``R(h) - R*(H) + M(H)`` is ``R(h) - E_x inf C(h, x)``. The theorems say that this is for the
    zero-one loss at most what it is for the margin loss, if the family is complete.

    Parameters
    ----------
    p : array-like of shape (n, c)
        Class probabilities at the points.
    scores : array-like of shape (H, n) or (H, n, c)
        The scores of H hypotheses.
    rho : array-like of shape (c,)
        Margins.
    weights : array-like of shape (n,), optional
        Probabilities of the points; equal by default.
    complete : bool, default=True
        Whether the family contains every vector of scores at every point, as the theorems need
        it, and the hypotheses are some of it. Otherwise they are the whole family, and the
        statement may be false.

    Returns
    -------
    ExcessRisks

    Examples
    --------
    >>> excess_risks([[0.7, 0.3], [0.4, 0.6]], [[1.0, -0.2], [0.1, 2.0]], [1.0, 0.5]).holds
    True
    """
    points, _ = _checked(p, scores)
    sides = []
    for loss, parameters in (("zero-one", None), ("margin", rho)):
        risks = conditional_risks(loss, p, scores, parameters)
        q = _shares(weights, risks.shape[1])
        if complete:
            least = np.array([best_conditional_risk(loss, row, parameters) for row in points])
        else:
            least = risks.min(axis=0)
        sides.append((risks - least) @ q)
    return ExcessRisks(*sides)


def _checked(p: ArrayLike, scores: ArrayLike) -> tuple[Array, Array]:
    points, h = np.asarray(p, dtype=np.float64), np.asarray(scores, dtype=np.float64)
    if points.ndim != 2:
        raise ValueError(f"p must have shape (n, c), a row for each point; got {points.shape}")
    if h.ndim not in (2, 3) or h.shape[1] != len(points) or not len(h):
        raise ValueError(
            f"scores must have shape (H, {len(points)}) or (H, {len(points)}, {points.shape[1]}), "
            f"a row for each hypothesis; got {h.shape}"
        )
    return points, h


def _shares(weights: ArrayLike | None, n: int) -> Array:
    if weights is None:
        return np.full(n, 1 / n)
    q = np.asarray(weights, dtype=np.float64)
    if q.shape != (n,) or (q < 0).any() or not np.isclose(q.sum(), 1):
        raise ValueError(f"weights must be the probabilities of {n} points; got {weights!r}")
    return q
