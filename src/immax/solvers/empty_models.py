"""The smallest lam at which a model uses no feature."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import numpy as np

from immax.losses.risks import KinkedRisk, Risk, SmoothRisk
from immax.solvers.biases import best_biases
from immax.solvers.problem import Problem, is_smooth
from immax.solvers.registry import solve

__all__ = ["strongest_lam"]

MAX_ROUNDS = 30
PRECISION = 1e-7  # relative, for risks with kinks
AGREEMENT = 1e-6  # of two limits in a row, relative; the second is closer than this
NOISE = 1e-8  # of the risk, below which a decrease is not one
TOL = 1e-11  # of the solutions: decreases are small differences of objectives


def strongest_lam(problem: Problem[Risk]) -> float:
    """Return the smallest lam at which zero weights are optimal.

    For a smooth risk this is the dual norm of the gradient at zero weights with the best biases. A
    risk with kinks has many subgradients there, and the answer is the largest ratio of what
    weights gain to what they cost: it is found by solving the problem for a lam that is too small,
    and then for the ratio that its solution attains (Dinkelbach's method).

    Parameters
    ----------
    problem : Problem
        A problem with a penalty that has kinks. Its own lam does not matter.

    Returns
    -------
    float
        Not negative.
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        if is_smooth(problem):
            return _norm_at_zero(problem, problem.risk)
        # Near zero weights the squares of an elastic net do not matter.
        factor, norm = problem.omega.norm_part
        kinked = cast("Problem[KinkedRisk]", replace(problem, omega=norm))
        return _largest_ratio(kinked) / factor


def _norm_at_zero(problem: Problem[Risk], risk: SmoothRisk) -> float:
    """Return the dual norm of the gradient of a risk at zero weights."""
    scores = problem.scores(problem.zeros())
    if problem.fit_intercept:
        residuals = best_biases(risk, scores, max_steps=100).residuals
    else:
        residuals = risk.value_gradient(scores)[1]
    return problem.omega.dual_norm(problem.weights(problem.pull_back(residuals)))


def _largest_ratio(problem: Problem[KinkedRisk]) -> float:
    """Return the largest ratio of the decrease of the risk to the penalty of the weights.

    Where the loss bends, the ratios of small weights grow with every round by half of what they
    lack, and would not arrive before decreases are lost in rounding. Their limit is then
    ``2 * ratio - lam``, which is taken when two rounds agree on it.
    """
    empty = _without_features(problem)
    lam = _norm_at_zero(problem, problem.risk.envelope(None, 1.0))
    ratio = limit = 0.0
    for _ in range(MAX_ROUNDS):
        if lam == 0:
            break
        solution = solve(replace(problem, lam=lam), tol=TOL, max_iter=5000, polish=False)
        size = problem.omega.value(problem.weights(solution.theta))
        decrease = empty - problem.risk.value(problem.scores(solution.theta))
        if size == 0 or decrease <= NOISE * empty:
            if ratio:
                break
            lam *= 0.5  # the first guess was too large
            continue
        ratio = decrease / size
        if ratio <= lam * (1 + PRECISION):
            break
        earlier, limit = limit, 2 * ratio - lam
        if abs(limit - earlier) <= AGREEMENT * limit:
            return float(limit)
        lam = ratio
    return float(ratio)


def _without_features(problem: Problem[KinkedRisk]) -> float:
    """Return the smallest risk of zero weights."""
    if not problem.fit_intercept:
        return problem.risk.value(problem.scores(problem.zeros()))
    nothing = np.zeros((problem.X.shape[0], 1), problem.dtype)
    constant = Problem(nothing, problem.risk, 1.0)
    return solve(constant, "newton", tol=1e-10, max_iter=5000, polish=False).objective
