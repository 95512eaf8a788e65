"""Coordinate ascent in the dual, for the hinge of two classes on large dense data.

The dual of ``lam ||w||^2 + sum_i p_i max(0, 1 - m_i)``, with ``m_i = s_i (w x_i + b) + c_i``, has
a coordinate ``a_i`` in ``[0, p_i]`` for each sample, and ``w = sum_i a_i s_i x_i / (2 lam)``. A
pass sets one after the other to its best value. Most soon stay at one of their bounds, and are
skipped until the next evaluation of all of them: after a while a pass costs a fraction of a
product with X, which every iteration of a primal solver needs.

A free bias is the multiplier of ``sum_i a_i s_i = 0``. It is found by the proximal-point method:
the bias is penalised for its distance to its value one pass ago, with about the weight that the
features have.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from sklearn.utils.extmath import row_norms

from immax.arrays import Array
from immax.compiled import has_numba
from immax.losses.margin_risks import MarginRisk
from immax.losses.risks import Risk
from immax.solvers.base import Solver
from immax.solvers.memory import Memory, Multipliers
from immax.solvers.multipliers import FIRST_STIFFNESS
from immax.solvers.problem import Problem, Solution, is_smooth

__all__ = ["DualAscent"]

LARGE = 1_000_000  # entries of X for which "auto" takes the dual
BIAS = 0.3  # the square of the bias's feature, in units of the samples' mean squared norm
SKIPPED = 10.0  # mean violations beyond which a coordinate at its bound is skipped
INTERVAL_GROWTH = 1.3  # of the number of passes between evaluations of all coordinates


@dataclass(frozen=True)
class DualAscent(Solver[MarginRisk]):
    """Dual coordinate ascent for the hinge of two classes, compiled by Numba.

    Parameters
    ----------
    tol : float, default=1e-6
        Stop when the duality gap is at most ``tol`` times the objective; tolerances below the
        square root of the machine epsilon (3e-4 in float32, 1e-8 in float64) are raised to it.
    max_iter : int, default=1000
        Upper bound on the number of passes over the samples. A pass over a part of them counts
        by its share.
    random_state : int, default=0
        Seed of the order in which samples are visited.
    on_iteration : callable, optional
        As in ``Solver``.
    """

    name: ClassVar[str] = "dual"

    def unsupported(self, problem: Problem[Risk]) -> str | None:
        if is_smooth(problem) or not isinstance(problem.risk, MarginRisk):
            return "the hinge loss of two classes"
        if problem.is_sparse:
            return "dense features"
        return None if has_numba() else 'Numba: pip install "immax[fast]"'

    def suits(self, problem: Problem[Risk]) -> bool:
        """Return whether the features are large and stored by rows.

        Parameters
        ----------
        problem : Problem
            A problem for which ``unsupported`` returns None.

        Returns
        -------
        bool
        """
        return bool(problem.X.flags.c_contiguous and problem.X.size >= LARGE)

    def _minimise(
        self,
        problem: Problem[MarginRisk],
        start: Array | None,
        memory: Memory | None,
    ) -> Solution:
        problem = replace(problem, X=np.ascontiguousarray(problem.X))  # a pass reads rows
        rng = np.random.default_rng(self.random_state)
        dual = _Dual(problem)
        everything = active = np.flatnonzero(dual.upper)
        tol = max(self.tol, float(np.finfo(problem.dtype).eps) ** 0.5)
        known = None if memory is None else memory.multipliers
        a = dual.start(start) if known is None else dual.resume(known)
        here = best = dual.evaluate(a)
        bound, w, bias = here.bound, here.w.copy(), here.bias
        passes, next_evaluation, spent = 0, 1, 0.0
        while best.value - bound > tol * best.value and spent < self.max_iter and active.size:
            bias, violation = dual.sweep(rng.permutation(active), a, w, bias)
            passes += 1
            spent += active.size / everything.size
            if passes < next_evaluation and spent < self.max_iter:
                continue
            next_evaluation = max(passes + 2, int(INTERVAL_GROWTH * passes))
            a = dual.balance(a)
            here = dual.evaluate(a)
            best = min(best, here, key=lambda point: point.value)
            self._report(dual.theta(best.w, best.bias))
            bound, w = max(bound, here.bound), here.w.copy()
            slope = dual.required - dual.slope * (here.scores + bias)
            slack = SKIPPED * violation
            settled = ((a <= 0) & (slope < -slack)) | ((a >= dual.upper) & (slope > slack))
            active = everything[~settled[everything]]
        if memory is not None:
            memory.multipliers = dual.multipliers(a)
        theta = dual.theta(best.w, best.bias)
        value = problem.objective(theta)  # of the parameters as they are stored
        gap = value - bound
        n_iter = min(math.ceil(spent), self.max_iter)  # a pass is finished once it is begun
        return Solution(theta, value, gap, n_iter, gap <= tol * abs(value))


@dataclass(frozen=True)
class _Evaluation:
    """The primal point of a dual one: weights, the best bias for them, both objectives."""

    w: Array
    scores: Array  # without the bias
    bias: float
    value: float
    bound: float


class _Dual:
    """The dual problem, in double precision except for ``w``."""

    def __init__(self, problem: Problem[MarginRisk]) -> None:
        risk = problem.risk
        self.problem = problem
        self.slope, shift, self.upper = (
            part.astype(np.float64) for part in (risk.slope, risk.shift, risk.weight)
        )
        self.required = 1 - shift  # a sample with ``slope * score`` of this has no loss
        norms = row_norms(problem.X, squared=True).astype(np.float64)
        self._scale = 1 / (2 * problem.lam)
        self._bias_weight = BIAS * float(norms.mean()) if problem.fit_intercept else 0.0
        tiny = np.finfo(np.float64).tiny
        curvature = self._scale * self.slope**2 * (norms + self._bias_weight)
        self._curvature = np.maximum(curvature, tiny)

    def start(self, theta: Array | None) -> Array:
        """Return zeros, or every coordinate at the bound that the sample's margin implies."""
        if theta is None:
            return np.zeros_like(self.upper)
        margins = self.slope * self.problem.scores(theta)[:, 0]
        return self.balance(np.where(margins < self.required, self.upper, 0.0))

    def resume(self, known: Multipliers) -> Array:
        """Return the coordinates that multipliers of the same samples stand for."""
        return self.balance(np.clip(-known.values, 0.0, 1.0) * self.upper)

    def multipliers(self, a: Array) -> Multipliers:
        """Return the slopes of the hinge that coordinates stand for, in [-1, 0]."""
        slopes = np.divide(-a, self.upper, out=np.zeros_like(a), where=self.upper > 0)
        return Multipliers(slopes, FIRST_STIFFNESS)

    def balance(self, a: Array) -> Array:
        """Scale the heavier class down until ``sum_i a_i s_i = 0``, as a free bias requires."""
        if not self.problem.fit_intercept:
            return a
        positive = self.slope > 0
        moments = np.abs(a * self.slope)
        sums = float(moments[positive].sum()), float(moments[~positive].sum())
        smaller = min(sums)
        factors = [smaller / max(side, np.finfo(np.float64).tiny) for side in sums]
        return a * np.where(positive, *factors)

    def evaluate(self, a: Array) -> _Evaluation:
        """Return both objectives at balanced ``a``.

        The dual one is lowered by what rounding may be, so that it is a true lower bound.
        """
        problem, d = self.problem, self.problem.X.shape[1]
        gradient = problem.pull_back((a * self.slope).astype(problem.dtype)[:, None])
        w = (self._scale * gradient[0, :d]).astype(problem.dtype)
        theta = self.theta(w)
        scores = problem.scores(theta)[:, 0].astype(np.float64)
        bias = self._best_bias(scores) if problem.fit_intercept else 0.0
        losses = np.maximum(self.required - self.slope * (scores + bias), 0)
        penalty, linear = problem.penalty(theta), float(a @ self.required)
        rounding = 32 * float(np.finfo(problem.dtype).eps) * (abs(linear) + penalty)
        value = float(self.upper @ losses) + penalty
        return _Evaluation(w, scores, bias, value, linear - penalty - rounding)

    def theta(self, w: Array, bias: float = 0.0) -> Array:
        """Return the parameters of these weights and this bias."""
        theta = self.problem.zeros()
        self.problem.weights(theta)[0] = w
        if self.problem.fit_intercept:
            theta[0, -1] = bias
        return theta

    def sweep(self, order: Array, a: Array, w: Array, bias: float) -> tuple[float, float]:
        """Update some coordinates in place; return the new bias and the mean violation."""
        from immax.compiled.dual_sweep import sweep

        samples = (order, self.slope, self.required, self.upper, self._curvature)
        weight = self._bias_weight
        bias, violation = sweep(self.problem.X, *samples, a, w, bias, self._scale, weight)
        return bias + weight * self._scale * float(a @ self.slope), violation

    def _best_bias(self, scores: Array) -> float:
        """Return the bias where the slope of the risk, which grows at each kink, reaches zero."""
        weighted = np.flatnonzero(self.upper)
        slope, moments = self.slope[weighted], (self.upper * np.abs(self.slope))[weighted]
        kinks = self.required[weighted] / slope - scores[weighted]
        order = np.argsort(kinks, kind="stable")
        slopes = np.cumsum(moments[order]) - moments[slope > 0].sum()
        first = min(int(np.searchsorted(slopes, 0.0)), weighted.size - 1)
        return float(kinks[order[first]])
