"""Limited-memory BFGS with a preconditioner that is renewed as the curvature changes.

The first preconditioner is the cheap one, the Hessian's diagonal. Once the iterations have cost
as much as a block preconditioner would, one is built at the current point, and again each time
the number of iterations since then has doubled. So the cost of preconditioning stays a fraction
of the total, and a fit that is easy without it never pays for it. Where a block of wide features
would cost too much, one is built from the rows that hold most of the curvature.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from immax.arrays import Array
from immax.losses.risks import Risk, SampleRisk, SmoothRisk
from immax.solvers.base import Solver
from immax.solvers.biases import best_biases
from immax.solvers.dominant_rows import affordable_preconditioner
from immax.solvers.gap import Certifier, Stopping, settle_biases
from immax.solvers.line_search import Point, ScoreBuffers, find_step
from immax.solvers.memory import Memory
from immax.solvers.preconditioners import (
    diagonal_preconditioner,
    shared_preconditioner,
    strong_preconditioner,
)
from immax.solvers.problem import Problem, Solution, is_smooth
from immax.solvers.single_precision import (
    benefits_from_single_precision,
    in_single_precision,
    single_precision_tol,
)

__all__ = ["LBFGS"]

REUSED_ITERATIONS = 8  # that the preconditioner of a similar problem is kept for at least
CHEAP = 20  # iterations; a preconditioner that costs less is built at once at a given start


@dataclass(frozen=True)
class LBFGS(Solver[SmoothRisk]):
    """Preconditioned L-BFGS, for smooth risks of any size.

    Line searches work on the scores alone, so an iteration is one product with X and one with
    its transpose. Without a start, large problems in double precision are first solved roughly in
    single precision.

    Parameters
    ----------
    tol : float, default=1e-6
        The tolerance of the stopping criterion, relative to the objective.
    max_iter : int, default=1000
        Upper bound on the number of iterations, those in single precision included.
    random_state : int, default=0
        Seed of the rows that the preconditioner samples.
    memory_size : int, default=10
        The number of steps from which the inverse Hessian is estimated.
    stopping : {"gap", "estimate", "bounded", "decrease"}, default="gap"
        What must be at most ``tol`` times the objective: the certified duality gap ("gap"); the
        gap for the biases as they are, before they are settled ("estimate"); or the decrease that
        the next step promises ("decrease"), which is far below the gap if lam is small and the
        features are badly conditioned. "bounded" is "decrease" with the additional condition that
        the gap for the biases as they are is at most 30 times as large. With the last three the
        solution has no gap. Whatever is chosen, the solver stops when the arithmetic allows no
        further decrease.
    on_iteration : callable, optional
        As in ``Solver``.
    """

    memory_size: int = 10
    stopping: Stopping = "gap"

    name: ClassVar[str] = "lbfgs"

    def unsupported(self, problem: Problem[Risk]) -> str | None:
        return None if is_smooth(problem) else "a smooth risk"

    def suits(self, problem: Problem[Risk]) -> bool:  # noqa: ARG002 - any size will do
        return True

    def uncertified(self) -> LBFGS:
        """Return the solver with the stopping criterion "bounded".

        Returns
        -------
        LBFGS
        """
        return replace(self, stopping="bounded")

    def _minimise(
        self, problem: Problem[SmoothRisk], start: Array | None, memory: Memory | None
    ) -> Solution:
        if memory is not None:
            return self._iterate(problem, start, memory, reuse=start is not None)
        if start is None and benefits_from_single_precision(problem):
            return self._minimise_in_two_precisions(problem)
        return self._iterate(problem, start, Memory(self.memory_size))

    def _minimise_in_two_precisions(self, problem: Problem[SampleRisk]) -> Solution:
        memory = Memory(self.memory_size)
        tol = max(self.tol, single_precision_tol(problem))
        rough_solver = replace(self, tol=tol, stopping="estimate")
        rough = rough_solver._iterate(in_single_precision(problem), None, memory)
        start = rough.theta.astype(problem.dtype)
        memory.scores = None  # they are rough
        rest = replace(self, max_iter=self.max_iter - rough.n_iter)
        solution = rest._iterate(problem, start, memory.astype(problem.dtype))
        return replace(solution, n_iter=rough.n_iter + solution.n_iter)

    def _iterate(
        self,
        problem: Problem[SmoothRisk],
        start: Array | None,
        memory: Memory,
        reuse: bool = False,
    ) -> Solution:
        """Run L-BFGS from an empty memory, or from that of a run that ended at ``start``.

        With ``reuse`` the memory is that of a similar problem, whose curvature is much the same.
        """
        rng = np.random.default_rng(self.random_state)
        certifier = Certifier(problem, self.tol, self.stopping)
        known, memory.scores = memory.scores, None
        point = _first_point(problem) if start is None else Point.at(problem, start, known)
        strong = affordable_preconditioner(problem, strong_preconditioner(problem))
        cost = strong.cost
        reuse = reuse and memory.precondition is not None
        # Curvature at a given start is assumed to be close to that at the optimum.
        good_start = start is not None and cost < CHEAP and not reuse
        if strong.build is shared_preconditioner and memory:
            good_start = False  # the steps say more than a block with the mean curvature
        renew = 0.0 if memory.precondition is None or good_start else cost
        known_direction = good_start and memory.precondition is not None
        if known_direction and certifier.accepts(point, memory.direction(point.gradient)):
            return certifier.solution(point, 0)  # nothing is left to precondition
        if reuse:
            renew = max(cost, REUSED_ITERATIONS)
        buffers = ScoreBuffers(problem)
        for iteration in range(self.max_iter + 1):
            if iteration >= renew:
                affordable = iteration >= cost - 1 or good_start
                built = strong.build(problem, point.scores, rng) if affordable else None
                if built is None and (memory.precondition is None or not affordable):
                    built = diagonal_preconditioner(problem, point.scores, rng)
                if built is not None:
                    memory.restart(built)
                renew = max(2 * iteration, iteration + 2 * cost, 1) if affordable else max(cost, 1)
            direction = memory.direction(point.gradient)
            if certifier.accepts(point, direction) or iteration == self.max_iter:
                break
            following = find_step(problem, point, direction, buffers)
            if following is None:
                if not memory:
                    break
                memory.restart()
                continue
            memory.update(following.theta - point.theta, following.gradient - point.gradient)
            buffers.give_back(point.scores)
            point = following
            self._report(point.theta)
        solution = certifier.solution(point, iteration)
        if solution.theta is point.theta:  # its biases have not been settled
            memory.scores = point.scores
        return solution


def _first_point(problem: Problem[SmoothRisk]) -> Point:
    """Return zero weights with biases that suit them, without a product with X."""
    theta, scores = problem.zeros(), problem.new_scores()
    scores[:] = 0
    of_classes = getattr(problem.risk, "of_classes", None)
    if of_classes is None or not problem.fit_intercept:
        return settle_biases(problem, theta, scores, max_steps=2)
    # All samples have the same scores, so a sample of each class is enough.
    risk = of_classes()
    biases = best_biases(risk, np.zeros((risk.n_outputs,) * 2, problem.dtype), max_steps=2).biases
    theta[:, -1] = biases
    scores += biases
    return Point.at(problem, theta, scores)
