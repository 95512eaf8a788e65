"""Starts from a sample of the rows, where there are many times as many as features."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from immax.arrays import Array
from immax.losses.margin_risks import MarginRisk
from immax.losses.risks import SmoothRisk
from immax.solvers.base import Solver
from immax.solvers.biases import best_biases
from immax.solvers.problem import Problem

__all__ = ["sampled_start"]

SAMPLE_ROWS = 100  # for each feature
LEAST_STEP = 5  # rows for each of the sample; with fewer a sample saves little
SAMPLE_TOL = 1e-2


def sampled_start(problem: Problem[SmoothRisk], solver: Solver[SmoothRisk]) -> Array:
    """Return the solution for a sample of the rows, or the empty model where that is better.

    Passes over the sample cost a fraction of those over all rows, and leave one or two Newton
    steps to them. The solution is computed from all rows in any case.

    Parameters
    ----------
    problem : Problem
        A smooth problem.
    solver : Solver
        Solves the problem of the sample.

    Returns
    -------
    ndarray of the problem's shape
        The empty model for samples that lack a rare class; zeros for sparse features and for
        several outputs.
    """
    n, d = problem.X.shape
    step = n // (SAMPLE_ROWS * max(d, 10))
    zeros = problem.zeros()
    if step < LEAST_STEP or problem.is_sparse or not isinstance(problem.risk, MarginRisk):
        return zeros
    sample = replace(problem, X=problem.X[::step], risk=problem.risk.every(step))
    solution = replace(solver, tol=SAMPLE_TOL, on_iteration=None).solve(sample, zeros)
    nothing = np.zeros_like(problem.X[:, :1])
    if not problem.fit_intercept:
        empty = problem.risk.value(nothing)
    else:
        settled = best_biases(problem.risk, nothing)
        empty, zeros[:, -1] = settled.value, settled.biases
    return solution.theta if problem.objective(solution.theta) < empty else zeros
