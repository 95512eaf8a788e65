"""Dual bounds for any penalty, also with free biases.

Let ``r`` be the gradient of a convex risk f in the scores s. Then ``f*(r) = <r, s> - f(s)``, and
``t r`` for a share t of it is a feasible point of the dual problem

    max over r of  -f*(r) - (lam Omega)*(-X^T r)   with  sum_i r_i = 0 for free biases

wherever the penalty's conjugate is finite. No risk is negative, so ``f*(0) <= 0`` and, the
conjugate being convex, ``-f*(t r) >= -t f*(r)``: nothing more has to be known of the loss. Biases
that minimise the risk given the weights make the residuals of every output sum to zero.
"""

from __future__ import annotations

import numpy as np

from immax.arrays import Array
from immax.losses.risks import Risk
from immax.solvers.problem import Problem

__all__ = ["dual_bound"]


def dual_bound(problem: Problem[Risk], theta: Array, gradient: Array, conjugate: float) -> float:
    """Return a lower bound on the optimum of a convex problem.

    Parameters
    ----------
    problem : Problem
        A problem with any penalty and a convex risk.
    theta : ndarray of the problem's shape
        Parameters with settled biases. Only the biases are used, to allow for rounding.
    gradient : ndarray of the problem's shape
        ``X^T r``, the gradient of the risk there, with the sums of the residuals for the biases.
    conjugate : float
        ``-f*(r)``, which is ``f(s) - <r, s>`` where the risk f is smooth.

    Returns
    -------
    float
        Minus infinity where overflow has left nothing to compute with.
    """
    G = problem.weights(gradient)
    if not (np.isfinite(conjugate) and np.isfinite(G).all()):
        return -np.inf
    norm = problem.omega.dual_norm(G)
    shares = [1.0] if norm <= problem.lam else [1.0, problem.lam / norm]
    # The share is rounded down, so that rounding does not make the point infeasible.
    shrink = 1 - 8 * float(np.finfo(problem.dtype).eps)
    candidates = []
    for share in shares:
        share = share * shrink if share < 1 else share
        penalty = problem.omega.conjugate(problem.dtype.type(-share) * G, problem.lam)
        candidates.append(share * conjugate - penalty)
    rounding = 0.0
    if problem.fit_intercept:
        # The sums of the residuals are nothing but rounding; they are counted all the same.
        rounding = float(np.abs(gradient[:, -1]) @ (1 + np.abs(theta[:, -1])))
    return max(candidates) - rounding
