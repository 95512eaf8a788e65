"""Complexities that record what they belong to, so that no bound accepts the wrong one."""

from __future__ import annotations

from typing import Self

import numpy as np

from immax.arrays import Array

__all__ = ["Complexity", "check_complexity"]


class Complexity(float):
    """A class-sensitive Rademacher complexity, or a bound on it: a float with its conditions.

    The functions of ``immax.theory`` return it, and the bounds refuse it for scores or margins
    that it does not belong to. Arithmetic makes a plain float of it, which the bounds take as it
    is.

    Parameters
    ----------
    value : float
    n_scores : int
        1 for a single score, else the number of classes, each of which has a score.
    rho : ndarray of shape (c,)
        The margins.

    Examples
    --------
    >>> Complexity(0.25, 1, np.ones(2)) + 0.25
    0.5
    """

    n_scores: int
    rho: Array

    def __new__(cls, value: float, n_scores: int, rho: Array) -> Self:
        self = super().__new__(cls, value)
        self.n_scores = n_scores
        self.rho = np.array(rho, dtype=np.float64)
        return self

    def __reduce__(self) -> tuple[type[Self], tuple[float, int, Array]]:
        return type(self), (float(self), self.n_scores, self.rho)


def check_complexity(complexity: float, n_scores: int, rho: Array) -> float:
    """Return a complexity as a float if it belongs to these scores and margins.

    Parameters
    ----------
    complexity : float or Complexity
    n_scores : int
        1 for one-dimensional scores, else the number of their columns.
    rho : ndarray of shape (c,)
        The margins of the bound; with costs, the margins divided by them.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If it is negative or not finite, or the complexity of other scores or margins.
    """
    if not (np.isfinite(complexity) and complexity >= 0):
        raise ValueError(f"complexity must be a number of at least 0; got {complexity!r}")
    if isinstance(complexity, Complexity):
        if complexity.n_scores != n_scores:
            shapes = {1: "(m,)"}
            raise ValueError(
                f"scores have shape {shapes.get(n_scores, f'(m, {n_scores})')}, and complexity is "
                f"that of scores of shape "
                f"{shapes.get(complexity.n_scores, f'(m, {complexity.n_scores})')}: compute it "
                f"with multiclass={n_scores > 1}"
            )
        if complexity.rho.shape != rho.shape or not np.allclose(complexity.rho, rho, rtol=1e-9):
            raise ValueError(
                f"complexity was computed for the margins {complexity.rho.tolist()}, and the bound "
                f"needs it for {rho.tolist()} (rho, divided by the costs if there are any)"
            )
    return float(complexity)
