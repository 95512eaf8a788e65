"""A rough solution in single precision, from which double precision sets out.

On large data an iteration is as fast as the memory: half the bytes take half the time,
and the first digits of the solution need no more.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from immax.arrays import Vector
from immax.losses.risks import SampleRisk, SmoothRisk
from immax.solvers.gap import reachable
from immax.solvers.lbfgs import lbfgs
from immax.solvers.memory import Memory
from immax.solvers.preconditioners import block_cost
from immax.solvers.problem import Problem

__all__ = ["rehearse", "worth_rehearsing"]

LARGE = 1_000_000  # entries of X
ROUGH = 1e-3


def worth_rehearsing(problem: Problem[Any]) -> bool:
    """Whether X is in double precision and larger than a cache."""
    entries = problem.X.nnz if problem.is_sparse else problem.X.size
    return bool(entries >= LARGE and problem.dtype == np.float64)


def rehearse(
    problem: Problem[SampleRisk], tol: float, max_iter: int, random_state: int
) -> tuple[Vector, Memory, int]:
    """A starting point, what was learnt on the way, and the iterations that it took."""
    X = problem.X.astype(np.float32)
    rough: Problem[SmoothRisk] = Problem(
        X, problem.risk.single(), problem.lam, problem.fit_intercept
    )
    memory = Memory(10)
    # Where a block preconditioner follows, the moves are forgotten; elsewhere they serve on.
    goal = ROUGH if np.isfinite(block_cost(problem)) else reachable(0, np.float32)
    found = lbfgs(
        rough,
        tol=max(tol, goal),
        max_iter=max_iter,
        random_state=random_state,
        certify=False,
        memory=memory,
    )
    return found.theta.astype(np.float64), memory.to(np.float64), found.n_iter
