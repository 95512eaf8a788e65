"""A rough solution in single precision, from which double precision sets out.

On large dense data an iteration is as fast as the memory: half the bytes take half the time,
and the first digits of the solution need no more.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from immax.losses.risks import SampleRisk, SmoothRisk
from immax.solvers.lbfgs import lbfgs
from immax.solvers.problem import Problem

__all__ = ["rehearse", "worth_rehearsing"]

ROUGH = 1e-3


def worth_rehearsing(problem: Problem[Any]) -> bool:
    """Whether X is dense, in double precision, and larger than a cache."""
    large = not problem.is_sparse and problem.X.size >= 2_000_000
    return large and problem.dtype == np.float64


def rehearse(
    problem: Problem[SampleRisk], tol: float, max_iter: int, random_state: int
) -> tuple[NDArray[np.float64], int]:
    """A starting point, and the iterations that it took."""
    X = problem.X.astype(np.float32)
    rough: Problem[SmoothRisk] = Problem(
        X, problem.risk.single(), problem.lam, problem.fit_intercept
    )
    found = lbfgs(
        rough,
        tol=max(tol, ROUGH),
        max_iter=max_iter,
        random_state=random_state,
        certify=False,
    )
    return found.theta.astype(np.float64), found.n_iter
