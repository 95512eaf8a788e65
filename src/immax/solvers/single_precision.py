"""When a rough solution in single precision is worth having, and how rough it may be.

On large data an iteration is limited by the bandwidth of the memory: half the bytes take half
the time, and the first digits of the solution need no more precision.
"""

from __future__ import annotations

from typing import TypeGuard

import numpy as np

from immax.losses.risks import SampleRisk, SmoothRisk
from immax.solvers.dominant_rows import AFFORDABLE
from immax.solvers.preconditioners import block_preconditioner, strong_preconditioner
from immax.solvers.problem import Problem

__all__ = ["benefits_from_single_precision", "in_single_precision", "single_precision_tol"]

LARGE = 1_000_000  # entries of X and of the scores, more than a cache holds
ROUGH_TOL = 1e-3
FINE_TOL = 1e-5


def benefits_from_single_precision(
    problem: Problem[SmoothRisk],
) -> TypeGuard[Problem[SampleRisk]]:
    """Return whether the data are in double precision and, with the scores, larger than a cache.

    Parameters
    ----------
    problem : Problem
        A smooth problem.

    Returns
    -------
    bool
        True only if the risk exists in single precision too.
    """
    entries = problem.n_entries + problem.X.shape[0] * problem.risk.n_outputs
    if entries < LARGE or problem.dtype != np.float64:
        return False
    return hasattr(problem.risk, "single")


def in_single_precision(problem: Problem[SampleRisk]) -> Problem[SampleRisk]:
    """Return the problem in single precision.

    Parameters
    ----------
    problem : Problem
        A problem in double precision.

    Returns
    -------
    Problem
        A copy in float32.
    """
    X = problem.X.astype(np.float32)
    return Problem(X, problem.risk.single(), problem.lam, problem.fit_intercept)


def single_precision_tol(problem: Problem[SmoothRisk]) -> float:
    """Return the tolerance to which the problem in single precision is solved.

    Where a block preconditioner is built at once from the solution, the steps are forgotten and a
    rough one is enough; elsewhere they remain useful, and the solution is as good as single
    precision allows.

    Parameters
    ----------
    problem : Problem
        A smooth problem.

    Returns
    -------
    float
        Relative to the objective.
    """
    strong = strong_preconditioner(problem)
    has_blocks = strong.build is block_preconditioner and strong.cost <= AFFORDABLE
    return ROUGH_TOL if has_blocks else FINE_TOL
