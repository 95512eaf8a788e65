"""The method of multipliers: the exact minimum of risks with kinks, also with free biases.

Each round minimises a smooth envelope of the risk, and the slopes found there become the
multipliers of the next. With the biases settled the slopes are a feasible point of the dual
problem, so every round ends with a true duality gap. The envelope is made stiffer only when
a round has not reduced the gap.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from immax.arrays import Array
from immax.losses.risks import Envelope, KinkedRisk, Risk, SmoothRisk
from immax.solvers.base import Solver
from immax.solvers.biases import best_biases
from immax.solvers.duality import dual_bound
from immax.solvers.gap import reachable_tol
from immax.solvers.lbfgs import LBFGS
from immax.solvers.memory import Memory, Multipliers
from immax.solvers.newton import Newton
from immax.solvers.problem import Problem, Solution, is_smooth

__all__ = ["MultiplierMethod", "MultiplierMethodLBFGS"]

MAX_ROUNDS = 60
FIRST_STIFFNESS = 0.25  # soft enough that a score of zero is in the curved part of the envelope
GROWTH = 4.0
SOFTENING = 0.25  # of a similar problem's envelope, at the start
SOFTEST = 1e-7
MAX_SUITABLE = 2500  # parameters for which "auto" takes Newton's method for the envelopes


@dataclass(frozen=True)
class MultiplierMethod(Solver[KinkedRisk]):
    """The method of multipliers over Newton's method, for risks with kinks.

    Parameters
    ----------
    tol : float, default=1e-6
        Stop when the duality gap is at most ``tol`` times the objective, or when it stays at the
        precision of the arithmetic.
    max_iter : int, default=1000
        Upper bound on the number of iterations of the inner solver, over all rounds.
    random_state : int, default=0
        Seed of the inner solver.
    inner : Solver, default=Newton(stopping="estimate")
        Minimises the envelopes. Its ``tol``, ``max_iter`` and ``random_state`` are set by the
        outer method.
    patience : int, default=30
        Iterations of the inner solver in one round, after which a softer envelope is tried.
    on_iteration : callable, optional
        As in ``Solver``.
    """

    inner: Solver[SmoothRisk] = field(default_factory=lambda: Newton(stopping="estimate"))
    patience: int = 30

    name: ClassVar[str] = "newton"

    def unsupported(self, problem: Problem[Risk]) -> str | None:
        return "a risk with kinks" if is_smooth(problem) else None

    def suits(self, problem: Problem[Risk]) -> bool:
        outputs, width = problem.shape
        return outputs * width <= MAX_SUITABLE

    def _minimise(
        self,
        problem: Problem[KinkedRisk],
        start: Array | None,
        memory: Memory | None,
    ) -> Solution:
        theta = problem.zeros() if start is None else start
        best, value, dual = theta, problem.objective(theta), -np.inf
        multipliers: Array | None = None
        stiffness, solved, accuracy = FIRST_STIFFNESS, 0.0, 0.1
        if start is not None and memory is not None and memory.multipliers is not None:
            multipliers = memory.multipliers.values
            stiffness = SOFTENING * memory.multipliers.stiffness
        relative = previous = np.inf
        converged = False
        n_iter = stalled = 0
        # Slopes are differences of scores times the stiffness; keep five digits of them.
        stiffest = 1e-5 / float(np.finfo(problem.dtype).eps)
        for _ in range(MAX_ROUNDS):
            envelope = problem.risk.envelope(multipliers, stiffness)
            smooth = problem.with_risk(envelope)
            inner = replace(
                self.inner,
                tol=min(accuracy * max(relative, self.tol), 0.01),
                max_iter=min(self.max_iter - n_iter, self.patience),
                random_state=self.random_state,
                on_iteration=self.on_iteration,
            )
            solution = inner.solve(smooth, theta)
            n_iter += solution.n_iter
            if not solution.converged and n_iter < self.max_iter and stiffness != solved:
                # The envelope is too stiff for one round: approach it through a softer one. One
                # that has been solved before is solved as far as rounding allows.
                stiffness = (solved * stiffness) ** 0.5 if solved else stiffness / 64
                if stiffness < SOFTEST:
                    break
                continue
            solved = stiffness
            scores = smooth.scores(solution.theta)
            theta = solution.theta.copy()
            if problem.fit_intercept:
                settled = best_biases(envelope, scores)
                scores = settled.scores
                theta[:, -1] += settled.biases
            here = problem.risk.value(scores) + problem.penalty(theta)
            if here < value:
                best, value = theta, here
            multipliers, bound = _dual_bound(problem, envelope, theta, scores)
            if bound <= value:  # otherwise an overflow has corrupted it
                dual = max(dual, bound)
            relative = (value - dual) / max(abs(value), np.finfo(np.float64).tiny)
            stalled = stalled + 1 if relative > 0.9 * previous else 0
            # A gap that no longer falls and is this low is as small as rounding allows.
            at_precision = relative <= reachable_tol(self.tol, problem.dtype)
            converged = relative <= self.tol or (stalled > 2 and at_precision)
            if converged or n_iter >= self.max_iter:
                break
            if relative > 0.2 * previous:
                stiffness = min(stiffness * GROWTH, stiffest)
                accuracy = 0.1 * accuracy if solution.n_iter == 0 else accuracy
            previous = relative
        if memory is not None:
            memory.multipliers = None
            if multipliers is not None and solved:
                memory.multipliers = Multipliers(multipliers, solved)
        null = envelope.null_direction
        if problem.fit_intercept and null is not None:
            best = best.copy()
            best[:, -1] -= null * (null @ best[:, -1])  # on which no loss depends
        return Solution(best, value, value - dual, n_iter, converged)


@dataclass(frozen=True)
class MultiplierMethodLBFGS(MultiplierMethod):
    """The method of multipliers over L-BFGS, for large problems with kinks.

    Kinks make L-BFGS lose its estimate of the curvature more easily, so it keeps a longer memory
    and is given more iterations.

    Parameters
    ----------
    tol, max_iter, random_state
        As in MultiplierMethod.
    inner : Solver, default=LBFGS(memory_size=20)
        Minimises the envelopes.
    patience : int, default=300
        Iterations of the inner solver in one round, after which a softer envelope is tried.
    on_iteration : callable, optional
        As in ``Solver``.
    """

    inner: Solver[SmoothRisk] = field(default_factory=lambda: LBFGS(memory_size=20))
    patience: int = 300

    name: ClassVar[str] = "lbfgs"

    def suits(self, problem: Problem[Risk]) -> bool:  # noqa: ARG002 - any size will do
        return True


def _dual_bound(
    problem: Problem[KinkedRisk], envelope: Envelope, theta: Array, scores: Array
) -> tuple[Array, float]:
    """Return the next multipliers, and the dual objective there less what rounding may be."""
    multipliers, residuals, conjugate = envelope.dual(scores)
    bound = dual_bound(problem, theta, problem.pull_back(residuals), conjugate)
    rounding = 32 * float(np.finfo(problem.dtype).eps) * (abs(conjugate) + abs(conjugate - bound))
    return multipliers, bound - rounding
