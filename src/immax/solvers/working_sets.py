"""Proximal Newton steps on a working set of coefficients, for penalties with kinks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from immax.arrays import Array
from immax.compiled import has_numba
from immax.losses.curvatures import Curvature, DiagonalCurvature
from immax.losses.risks import KinkedRisk, Risk, SmoothRisk
from immax.losses.softmax_curvature import SoftmaxCurvature
from immax.solvers.base import Solver
from immax.solvers.biases import best_biases
from immax.solvers.column_descent import column_step
from immax.solvers.duality import dual_bound
from immax.solvers.feature_columns import FeatureColumns, copy_dtype, take_columns
from immax.solvers.gap import reachable_tol
from immax.solvers.local_models import (
    FullGram,
    LocalModel,
    Step,
    accelerated_step,
    gram_step,
)
from immax.solvers.memory import Memory, SettledPoint
from immax.solvers.multipliers import MultiplierMethod
from immax.solvers.problem import Problem, Solution, is_smooth
from immax.solvers.sampled_starts import sampled_start
from immax.solvers.selections import Selection, most_violating, select_blocks

__all__ = ["MultiplierMethodWorkingSets", "WorkingSets"]

FIRST_BLOCKS = 50  # in a working set, besides those that are not zero
FIRST_COLUMNS = 20_000  # likewise for passes over columns: too many cost less than more rounds
MAX_INNER = 10  # Newton steps on one working set
INNER_SHARE = 0.1  # of the largest violation, at which a working set is left
FORCING = 0.3  # of the violation in the working set, to which a model is minimised
GRAM_FORCING = 0.01  # likewise with the matrix of the model, with which that is cheap
MAX_GRAM = 500  # coefficients of a model that is minimised with its matrix
MAX_SLOW_GRAM = 1500  # likewise where columns are correlated, and descent over them is slow
FEW = 40  # coefficients, for which the matrix is the best way also with sparse features
FEW_COLUMNS = 200  # dense features of which none is worth leaving out
MOST_COLUMNS = 0.8  # share of them in a working set, from which their whole matrix is computed
LEAST_GAIN = 0.5  # of the largest violation after a step with that matrix, or it is computed anew
FLAT = 0.01  # of the tolerance, that the slopes of the biases may amount to
MAX_REDUCTIONS = 40
POLISHED = 1e-12  # tolerances of fits to the full precision of the arithmetic
LEAST_DAMPING = 1e-9
NEARLY_EMPTY = 1e-2  # share of the penalty in the objective, where the empty model is tried
MOST_STALLED = 4  # rounds without progress, after which the arithmetic allows no more


@dataclass(frozen=True)
class WorkingSets(Solver[SmoothRisk]):
    """Proximal Newton method on working sets, for smooth risks and penalties with kinks.

    Each round computes the gradient of all coefficients, and from it a duality gap. Blocks of
    coefficients that are not zero or violate the optimality conditions most form the working set;
    on it the second-order model of the risk plus the penalty is minimised, and a line search on
    the scores follows.

    Parameters
    ----------
    tol : float, default=1e-6
        Stop when the duality gap is at most ``tol`` times the objective, or when the arithmetic
        allows no further decrease.
    max_iter : int, default=1000
        Upper bound on the number of Newton steps.
    random_state : int, default=0
        Not used.
    on_iteration : callable, optional
        As in ``Solver``.
    """

    name: ClassVar[str] = "working-set"
    needs_kinks: ClassVar[bool] = True

    def unsupported(self, problem: Problem[Risk]) -> str | None:
        return None if is_smooth(problem) else "a smooth risk"

    def suits(self, problem: Problem[Risk]) -> bool:  # noqa: ARG002 - any size will do
        return True

    def _minimise(
        self,
        problem: Problem[SmoothRisk],
        start: Array | None,
        memory: Memory | None,
    ) -> Solution:
        if start is None:
            start = sampled_start(problem, self)
        tol = _sensible_tol(self.tol, problem)
        state = _State(problem, start, tol, memory)
        del start  # the arrays of all features are most of the memory, where few are used
        blocks = problem.omega.blocks((problem.shape[0], problem.X.shape[1]))
        convex = problem.risk.convex
        eps = float(np.finfo(problem.dtype).eps)
        gap, dual, stalled, n_iter = np.inf, -np.inf, 0, 0
        size = FIRST_BLOCKS if blocks.by_column or not has_numba() else FIRST_COLUMNS
        decrease, converged, lowest = np.inf, False, np.inf
        while True:
            gradient = state.settle()
            value, previous_gap = state.value, gap
            if convex:
                dual = max(dual, state.dual_bound(gradient))
                gap = max(value - dual, 0.0)  # less is rounding
            violations = problem.omega.violations(
                state.weights, problem.weights(gradient), problem.lam
            )
            worst = float(violations.max(initial=0))
            within = gap if convex else decrease
            # An empty model is left even where features would gain less than the tolerance.
            leave = n_iter == 0 and worst > 1e-9 * problem.lam and not state.weights.any()
            converged = worst == 0 or (within <= tol * abs(value) and not leave)
            progress = decrease > eps * abs(value) and (not convex or gap < 0.9 * previous_gap)
            # The gap needs the gradient of a column of large numbers to be smaller than any
            # decrease that can still be observed.
            progress = progress or worst <= 0.5 * lowest
            lowest = min(worst, lowest)
            stalled = 0 if progress else stalled + 1
            if converged or n_iter >= self.max_iter or stalled > MOST_STALLED:
                break
            # Those of an earlier step, or rounded, may be too far off for columns of large numbers.
            if stalled:
                state.forget_matrix()
            if stalled > 1:
                state.round_no_columns()
            live = blocks.norms(state.weights) > 0
            size = max(size, 2 * int(live.sum()))
            chosen = most_violating(violations, live, size)
            selection = select_blocks(blocks, chosen, state.weights.shape, problem.lam)
            slopes = selection.take(gradient)
            del violations, gradient
            steps, decrease = state.improve(
                selection, slopes, INNER_SHARE * worst, min(MAX_INNER, self.max_iter - n_iter)
            )
            n_iter += steps
            self._report(state.theta)
            size = int(1.5 * size)
        if converged and tol <= POLISHED and state.weights.any():
            # One more Newton step squares the error of the coefficients, with a matrix of its own.
            state.forget_matrix()
            live = blocks.norms(state.weights) > 0
            last = select_blocks(blocks, live, state.weights.shape, problem.lam)
            state.improve(last, last.take(gradient), 0.0, 1)
            state.settle()
            value = min(value, state.value)
        state.remember()
        # Rounds that change nothing any more have arrived at what can be computed.
        precise = stalled > MOST_STALLED and gap <= reachable_tol(0, problem.dtype) * abs(value)
        return Solution(state.theta, value, gap if convex else None, n_iter, converged or precise)


@dataclass(frozen=True)
class MultiplierMethodWorkingSets(MultiplierMethod):
    """The method of multipliers over working sets, for risks and penalties with kinks.

    Parameters
    ----------
    tol, max_iter, random_state
        As in MultiplierMethod.
    inner : Solver, default=WorkingSets()
        Minimises the envelopes.
    patience : int, default=100
        Newton steps in one round, after which a softer envelope is tried.
    on_iteration : callable, optional
        As in ``Solver``.
    """

    inner: Solver[SmoothRisk] = field(default_factory=WorkingSets)
    patience: int = 100

    name: ClassVar[str] = "working-set"
    needs_kinks: ClassVar[bool] = True

    def suits(self, problem: Problem[Risk]) -> bool:  # noqa: ARG002 - any size will do
        return True

    def _minimise(
        self, problem: Problem[KinkedRisk], start: Array | None, memory: Memory | None
    ) -> Solution:
        solver = replace(self, tol=_sensible_tol(self.tol, problem))
        solution = super(MultiplierMethodWorkingSets, solver)._minimise(problem, start, memory)
        share = problem.penalty(solution.theta)
        if solution.gap is None or not 0 < share <= NEARLY_EMPTY * abs(solution.objective):
            return solution
        # Multipliers approach a solution from around it; the empty model may be the better one.
        empty = problem.zeros()
        if problem.fit_intercept:
            nothing = np.zeros((problem.X.shape[0], 1), dtype=problem.dtype)
            constant = Problem(nothing, problem.risk, 1.0)
            empty[:, -1] = MultiplierMethod(tol=self.tol).solve(constant).theta[:, -1]
        value = problem.objective(empty)
        if value > solution.objective:
            return solution
        gap = max(solution.gap - (solution.objective - value), 0.0)
        return replace(solution, theta=empty, objective=value, gap=gap)


def _sensible_tol(tol: float, problem: Problem[Risk]) -> float:
    """Return the tolerance; in single precision it is not below what can be computed in time."""
    return max(tol, 0.1 * reachable_tol(0, problem.dtype)) if problem.dtype == np.float32 else tol


class _State:
    """Parameters, their scores, and what is known there."""

    def __init__(
        self, problem: Problem[SmoothRisk], theta: Array, tol: float, memory: Memory | None
    ) -> None:
        self.problem = problem
        self._tol = tol
        self._memory = Memory() if memory is None else memory
        self._remembers = memory is not None
        self.theta = np.array(theta, dtype=problem.dtype)
        known, self._memory.settled = self._memory.settled, None
        if known is not None and known.serves(problem, self.theta):
            self._settled: SettledPoint | None = known
            self.scores, self.risk_value = known.scores, known.value
            self.residuals = known.residuals
        else:
            known = self._settled = None
            self.scores = problem.scores(self.theta)
            self.risk_value, self.residuals = problem.risk.value_gradient(self.scores)
        if self._memory.columns is not None and self._memory.columns.source is not problem.X:
            self._memory.columns = self._memory.full_gram = None
        self._damping = LEAST_DAMPING
        self._may_round = True
        self._few = problem.X.shape[1] <= FEW_COLUMNS and not problem.is_sparse
        self._last_worst = np.inf
        self._columns_are_slow = False  # whether descent over columns has taken too many passes

    @property
    def weights(self) -> Array:
        return self.problem.weights(self.theta)

    @property
    def value(self) -> float:
        return self.risk_value + self.problem.penalty(self.theta)

    def settle(self) -> Array:
        """Let the biases minimise the risk, and return the gradient in all parameters."""
        last = self._settled
        if last is not None and last.scores is self.scores:
            return last.gradient
        if self.problem.fit_intercept:
            known = self.risk_value, self.residuals
            flat = FLAT * self._tol * abs(self.risk_value) / (1 + np.abs(self.theta[:, -1]).max())
            settled = best_biases(self.problem.risk, self.scores, flat=flat, known=known)
            self.theta[:, -1] += settled.biases
            self.scores, self.risk_value = settled.scores, settled.value
            self.residuals = settled.residuals
        gradient = self.problem.pull_back(self.residuals)
        if last is not None and self._memory.full_gram is not None:
            step, change = (self.theta - last.theta)[0], (gradient - last.gradient)[0]
            self._memory.full_gram = self._memory.full_gram.corrected(step, change)
        self._settled = SettledPoint(
            self.problem,
            self.theta.copy() if self._few or self._remembers else self.theta,
            self.scores,
            self.risk_value,
            self.residuals,
            gradient,
        )
        return gradient

    def dual_bound(self, gradient: Array) -> float:
        """Return a lower bound on the optimum from the settled residuals and their gradient."""
        inner = float(np.vdot(self.residuals.T, self.scores.T))
        return dual_bound(self.problem, self.theta, gradient, self.risk_value - inner)

    def remember(self) -> None:
        """Leave what is known of the last settled point to problems that start there."""
        if self._remembers:
            self._memory.settled = self._settled

    def round_no_columns(self) -> None:
        """Let copies of columns have the precision of the features from now on."""
        self._may_round = False
        if self._memory.columns is not None and self._memory.columns.is_rounded:
            self._memory.columns = None

    def forget_matrix(self) -> None:
        """Let the next step compute the matrix of its model."""
        self._memory.full_gram = None

    def improve(
        self, selection: Selection, gradient: Array, tol: float, max_steps: int
    ) -> tuple[int, float]:
        """Take Newton steps on a working set; return how many, and by how much they decrease.

        ``gradient`` is that of the selected coefficients, once the biases have been settled.
        """
        if not self._few:
            self._settled = None  # releases the memory before more is taken
        columns = self._take(selection)
        # The gap costs less than one more matrix of these models, and is looked at first.
        one_step = self._few and self._damping == LEAST_DAMPING
        local = columns.places(selection.cols)
        z = selection.take(self.weights)
        steps, decrease = 0, 0.0
        while steps < (1 if one_step else max_steps):
            if steps:
                gradient = columns.pull_back(self.residuals)[selection.rows, local]
                gradient = gradient.astype(np.float64)
            worst = float(selection.violations(z, gradient).max(initial=0))
            if steps and worst <= tol:
                break
            step = self._model_step(columns, selection, z, gradient, worst)
            gained, z = self._search(columns, selection, z, gradient, step)
            steps += 1
            decrease += gained
            if gained <= np.finfo(self.problem.dtype).eps * abs(self.risk_value):
                break
        weights = self.weights
        weights[selection.rows, selection.cols] = z
        return steps, decrease

    def _minimiser(self, selection: Selection) -> Callable[[LocalModel, float], Step]:
        """Return the function that minimises the model of a working set."""
        size = selection.rows.size
        by_columns = has_numba() and selection.scalar
        if self.problem.is_sparse and size > FEW and by_columns and not self._columns_are_slow:
            return column_step
        if size <= (MAX_SLOW_GRAM if self._columns_are_slow else MAX_GRAM):
            return gram_step
        return column_step if by_columns else accelerated_step

    def _take(self, selection: Selection) -> FeatureColumns:
        """Return columns that cover the selection; they are copied rarely."""
        numbers, d = selection.columns, self.problem.X.shape[1]
        dense = not self.problem.is_sparse
        order = "F" if dense and self._minimiser(selection) is column_step else "K"
        if self._few or (order == "K" and 2 * numbers.size > d):
            numbers = np.arange(d)
        known, whole = self._memory.columns, self.problem.X
        fits = known is not None and known.covers(numbers)
        if known is not None and dense:
            # In rows all of the features need no copy.
            copied = order == "K" and numbers.size == d and known.X is not whole
            fits = fits and not copied and (order == "K" or known.X.flags.f_contiguous)
            # Gram matrices are worth full precision, and steps with them few columns.
            fits = fits and not (order == "K" and known.is_rounded)
        if known is None or not fits:
            if known is not None and known.room is not None and order == "F":
                numbers = np.union1d(numbers, known.numbers)
                dtype = copy_dtype(whole, whole.shape[0] * numbers.size)
                if self._may_round and dtype != known.X.dtype:
                    known = self._memory.columns = None
            if known is not None and (order == "K" or known.room is None):
                known = self._memory.columns = None  # releases the memory before more is taken
            known = self._memory.columns = take_columns(
                whole, numbers, order, known, self._may_round
            )
        return known

    def _curvature(self) -> Curvature:
        curvature = self.problem.risk.curvature(self.scores)
        if self.problem.risk.convex:
            return curvature
        if isinstance(curvature, SoftmaxCurvature):
            return curvature.positive()
        return DiagonalCurvature(np.abs(curvature.diagonal()))

    def _full_gram(
        self, columns: FeatureColumns, selection: Selection, worst: float
    ) -> FullGram | None:
        """Return the matrix of few columns, that of an earlier step if steps with it are good.

        A matrix of all rows costs many products with them, and steps with one that is nearly right
        are nearly as good.
        """
        few_left_out = selection.rows.size >= MOST_COLUMNS * self.problem.X.shape[1]
        if not self._few or self.problem.risk.n_outputs > 1:
            return None
        if not (few_left_out or self._remembers):
            return None
        known, gained = self._memory.full_gram, worst <= LEAST_GAIN * self._last_worst
        if known is None or not gained or known.columns.X is not columns.X:
            known = FullGram.at(columns, self._curvature())
        self._memory.full_gram, self._last_worst = known, worst
        return known

    def _model_step(
        self, columns: FeatureColumns, selection: Selection, z: Array, gradient: Array, worst: float
    ) -> Step:
        risk = self.problem.risk
        full = self._full_gram(columns, selection, worst)
        model = LocalModel(
            columns,
            self._curvature() if full is None else full.curvature,
            selection,
            z,
            gradient,
            self.residuals.sum(axis=0, dtype=np.float64) if self.problem.fit_intercept else None,
            risk.null_direction,
            risk.n_outputs,
            self._damping,
            full,
        )
        minimise = self._minimiser(selection)
        step = minimise(model, (GRAM_FORCING if minimise is gram_step else FORCING) * worst)
        self._columns_are_slow = self._columns_are_slow or not step.reached
        return step

    def _search(
        self, columns: FeatureColumns, selection: Selection, z: Array, gradient: Array, step: Step
    ) -> tuple[float, Array]:
        """Shorten the step until the objective decreases; return by how much, and the new z."""
        risk, k = self.problem.risk, self.problem.risk.n_outputs
        delta = step.z - z
        ray = columns.scores(columns.weights(selection, delta, k))
        if self.problem.fit_intercept:
            ray = ray + step.biases.astype(ray.dtype)
        penalty = selection.penalty(z)
        before = self.risk_value + penalty
        promised = float(gradient @ delta) + selection.penalty(step.z) - penalty
        if self.problem.fit_intercept:
            promised += float(self.residuals.sum(axis=0, dtype=np.float64) @ step.biases)
        noise = 2 * float(np.finfo(self.problem.dtype).eps) * abs(before)
        share = 1.0
        for _ in range(MAX_REDUCTIONS):
            scores = self.scores + self.problem.dtype.type(share) * ray
            value, residuals = risk.value_gradient(scores)
            moved = step.z if share == 1 else z + share * delta
            after = value + selection.penalty(moved)
            if after <= before + 1e-3 * share * min(promised, 0.0) + noise:
                break
            share *= 0.5
        else:
            self._damping = max(1e3 * self._damping, 1e-6)
            return 0.0, z
        if share == 1:
            self._damping = max(0.01 * self._damping, LEAST_DAMPING)
        else:
            self._damping = max(10 * self._damping, 1e-6)
        self.scores, self.risk_value, self.residuals = scores, value, residuals
        if self.problem.fit_intercept:
            self.theta[:, -1] += (share * step.biases).astype(self.theta.dtype)
        return before - after, moved
