"""L-BFGS for many classes, whose scores are never all in memory.

With c classes the scores of n samples are c / d times as large as the data. ``LBFGS`` holds five
arrays of their size; here a block of rows has its scores computed and replaced by the gradient,
which takes the same two products with X for an iteration, and little memory whatever n is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, TypeGuard

import numpy as np

from immax.arrays import Array
from immax.losses.risks import Risk
from immax.losses.softmax_risks import SoftmaxRisk
from immax.solvers.base import Solver
from immax.solvers.gap import Certifier, Stopping
from immax.solvers.memory import Memory
from immax.solvers.preconditioners import (
    above_zero,
    block_preconditioner,
    strong_preconditioner,
)
from immax.solvers.problem import MANY_OUTPUTS, Problem, Solution
from immax.solvers.row_blocks import BlockwiseBiases, RowBlocks, step_in_blocks
from immax.solvers.shared_moments import moment_preconditioner
from immax.solvers.single_precision import FINE_TOL

__all__ = ["BlockwiseLBFGS"]

LEAST_SCORES = 2**20  # fewer are in a cache from one pass to the next
MOST_FEATURES = 1000  # whose products with W are cheap enough to be computed twice
MANY_BLOCKS = 256  # of a preconditioner, that take longer than the iterations that they save
FIRST_RENEWAL = 6  # iterations
RENEWAL_FACTOR = 3
REUSED_ITERATIONS = 15  # that the preconditioner of a similar problem is kept for
EXTREME = 1e15  # features, or their inverses, whose squares single precision does not hold


@dataclass(frozen=True)
class BlockwiseLBFGS(Solver[SoftmaxRisk]):
    """Preconditioned L-BFGS in blocks of rows, for the softmax losses of many classes.

    In double precision, the problem is first solved roughly in single precision.

    Parameters
    ----------
    tol : float, default=1e-6
        The tolerance of the stopping criterion, relative to the objective.
    max_iter : int, default=1000
        Upper bound on the number of iterations, those in single precision included.
    random_state : int, default=0
        Not used.
    memory_size : int, default=10
        The number of steps from which the inverse Hessian is estimated.
    stopping : {"gap", "estimate", "bounded", "decrease"}, default="gap"
        As in ``LBFGS``.
    on_iteration : callable, optional
        As in ``Solver``.
    """

    memory_size: int = 10
    stopping: Stopping = "gap"

    name: ClassVar[str] = "lbfgs"

    def unsupported(self, problem: Problem[Risk]) -> str | None:
        if not _is_convex_softmax(problem):
            return "a convex softmax loss"
        n, d = problem.X.shape
        k = problem.shape[0]
        if problem.is_sparse or d > MOST_FEATURES:
            return f"dense features, {MOST_FEATURES:,} at most"
        if k < MANY_OUTPUTS or n * k < LEAST_SCORES:
            return f"{MANY_OUTPUTS} classes and {LEAST_SCORES:,} scores at least"
        if k < MANY_BLOCKS and strong_preconditioner(problem).build is block_preconditioner:
            return f"{MANY_BLOCKS} classes, or so many features that their blocks need much memory"
        return None

    def suits(self, problem: Problem[Risk]) -> bool:  # noqa: ARG002 - all that is supported
        return True

    def uncertified(self) -> BlockwiseLBFGS:
        """Return the solver with the stopping criterion "bounded".

        Returns
        -------
        BlockwiseLBFGS
        """
        return replace(self, stopping="bounded")

    def _minimise(
        self, problem: Problem[SoftmaxRisk], start: Array | None, memory: Memory | None
    ) -> Solution:
        if memory is not None:
            memory.scores = None  # they are not known
            return self._iterate(problem, start, memory)
        memory = Memory(self.memory_size)
        if start is not None or problem.dtype != np.float64 or not _fits_single(problem.X):
            return self._iterate(problem, start, memory)
        rough_solver = replace(self, tol=max(self.tol, FINE_TOL), stopping="estimate")
        single = replace(problem, X=problem.X.astype(np.float32), risk=problem.risk.single())
        rough = rough_solver._iterate(single, None, memory)
        rest = replace(self, max_iter=self.max_iter - rough.n_iter)
        start = rough.theta.astype(problem.dtype)
        solution = rest._iterate(problem, start, memory.astype(problem.dtype))
        return replace(solution, n_iter=rough.n_iter + solution.n_iter)

    def _iterate(
        self, problem: Problem[SoftmaxRisk], start: Array | None, memory: Memory
    ) -> Solution:
        blocks = RowBlocks(problem)
        biases = BlockwiseBiases(problem, blocks)
        certifier = Certifier(problem, self.tol, self.stopping, biases.settle)
        point = blocks.point(_first_parameters(problem) if start is None else start)
        renew = 0 if start is None or memory.precondition is None else REUSED_ITERATIONS
        for iteration in range(self.max_iter + 1):
            if iteration >= renew:
                of_samples, biases.curvature = blocks.curvature_sums(point.theta)
                memory.restart(moment_preconditioner(problem, of_samples, biases.curvature))
                renew = max(FIRST_RENEWAL, RENEWAL_FACTOR * iteration)
            direction = memory.direction(point.gradient)
            if certifier.accepts(point, direction) or iteration == self.max_iter:
                break
            following = step_in_blocks(blocks.point, point, direction)
            if following is None:
                if not memory:
                    break
                memory.restart()
                continue
            memory.update(following.theta - point.theta, following.gradient - point.gradient)
            point = following
            self._report(point.theta)
        return certifier.solution(point, iteration)


def _fits_single(X: Array) -> bool:
    largest = max(float(X.max(initial=0)), -float(X.min(initial=0)))
    return largest == 0 or 1 / EXTREME < largest < EXTREME


def _is_convex_softmax(problem: Problem[Risk]) -> TypeGuard[Problem[SoftmaxRisk]]:
    return isinstance(problem.risk, SoftmaxRisk) and problem.risk.convex


def _first_parameters(problem: Problem[SoftmaxRisk]) -> Array:
    """Return zero weights, with biases that give the classes their shares where margins are one."""
    theta, spec = problem.zeros(), problem.risk.spec
    if problem.fit_intercept:
        weight = problem.risk.weight * spec.weight[problem.risk.y]
        share = np.bincount(problem.risk.y, weights=weight, minlength=spec.n_classes)
        biases = (np.log(above_zero(share)) - spec.offset) / spec.scale
        null = problem.risk.null_direction
        theta[:, -1] = biases if null is None else biases - null * (null @ biases)
    return theta
