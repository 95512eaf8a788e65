"""The method of multipliers: risks with kinks, minimised exactly with free biases.

Each round minimises a smooth envelope of the risk, and the slopes found there become the
multipliers of the next. With the biases settled the slopes are a feasible point of the dual
problem, so every round ends with a true duality gap. The envelope is made stiffer only when
a round has not brought the gap down.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from immax.arrays import Array
from immax.losses.risks import KinkedRisk
from immax.solvers.gap import reachable, settle_biases
from immax.solvers.problem import Problem, Solution

__all__ = ["multipliers"]

MOST_ROUNDS = 60
START_STIFFNESS = 0.25  # wide enough that a score of zero feels the curvature
GROWTH = 4.0
SOFTEST = 1e-7


def multipliers(
    problem: Problem[KinkedRisk],
    inner: Callable[..., Solution],
    start: Array | None = None,
    tol: float = 1e-6,
    max_iter: int = 1000,
    random_state: int = 0,
    patience: int = 30,
) -> Solution:
    """Minimise a problem with kinks until its duality gap is ``tol`` times the objective.

    ``inner`` solves the smooth problems; ``max_iter`` bounds its iterations in all.
    """
    theta = problem.zeros() if start is None else start
    best, value, dual = theta, problem.objective(theta), -np.inf
    slopes: Array | None = None
    stiffness, solved, care = START_STIFFNESS, 0.0, 0.1
    relative = previous = np.inf
    done = False
    spent = stuck = 0
    eps = float(np.finfo(problem.dtype).eps)
    # Slopes are differences of scores times the stiffness: leave them five digits.
    stiffest = 1e-5 / eps
    for _ in range(MOST_ROUNDS):
        envelope = problem.risk.envelope(slopes, stiffness)
        smooth = problem.with_risk(envelope)
        found = inner(
            smooth,
            start=theta,
            tol=min(care * max(relative, tol), 0.01),
            max_iter=min(max_iter - spent, patience),
            random_state=random_state,
        )
        spent += found.n_iter
        if not found.converged and spent < max_iter:
            # Too stiff a step to take at once: go by way of a softer envelope.
            stiffness = (solved * stiffness) ** 0.5 if solved else stiffness / 64
            if stiffness < SOFTEST:
                break
            continue
        solved = stiffness
        point = settle_biases(smooth, found.theta, smooth.scores(found.theta))
        theta = point.theta
        here = problem.risk.value(point.scores) + problem.penalty(theta)
        if here < value:
            best, value = theta, here
        slopes, residuals, conjugate = envelope.dual(point.scores)
        pulled = problem.pull_back(residuals).astype(np.float64)
        weights = problem.weights(pulled)
        squared = float(np.vdot(weights, weights)) / (4 * problem.lam)
        rounding = 32 * eps * (abs(conjugate) + squared)
        if problem.fit_intercept:
            rounding += 2 * float(np.abs(pulled[:, -1]) @ np.abs(theta[:, -1]))
        bound = conjugate - squared - rounding
        if bound <= value:  # not so where an overflow has spoilt it
            dual = max(dual, bound)
        relative = (value - dual) / max(abs(value), np.finfo(np.float64).tiny)
        stuck = stuck + 1 if relative > 0.9 * previous else 0
        # A gap that stays put this low is as small as rounding lets it be.
        done = relative <= tol or (stuck > 2 and relative <= reachable(tol, problem.dtype))
        if done or spent >= max_iter:
            break
        if relative > 0.2 * previous:
            stiffness = min(stiffness * GROWTH, stiffest)
            care = 0.1 * care if found.n_iter == 0 else care
        previous = relative
    return Solution(best, value, value - dual, spent, done)
