"""Coordinate ascent in the dual, for the hinge of two classes on large dense data.

The dual of ``lam ||w||^2 + sum_i p_i max(0, 1 - m_i)``, with ``m_i = s_i (w x_i + b) + c_i``, has
a coordinate ``a_i`` in ``[0, p_i]`` for each sample, and ``w = sum_i a_i s_i x_i / (2 lam)``. A
pass sets one after the other to its best value. Most soon stay at one of their bounds, and are
left out until the next look at all of them: after a while a pass costs a fraction of a product
with X, which no solver in the primal can do with less.

A free bias is the multiplier of ``sum_i a_i s_i = 0``. It is found by the proximal-point method:
the bias is penalised for its distance to what it was a pass ago, so lightly that the passes feel
it no more than they do the features.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.extmath import row_norms

from immax.arrays import Array
from immax.compiled import has_numba
from immax.losses.risks import MarginRisk
from immax.solvers.problem import Problem, Solution

__all__ = ["dual_ascent", "worth_ascending"]

LARGE = 1_000_000  # entries of X
BIAS = 0.3  # the square of the bias's feature, in units of the samples' mean squared norm
OUT_OF_REACH = 10.0  # mean violations that a coordinate at its bound may be left out for
PAUSE = 1.3  # passes between looks at all coordinates grow by this


def worth_ascending(problem: Problem[Any]) -> bool:
    """Whether it is the hinge of two classes, on large dense data that lie in memory by rows."""
    X, risk = problem.X, problem.risk
    if risk.smooth or not isinstance(risk, MarginRisk) or problem.is_sparse:
        return False
    return bool(X.flags.c_contiguous and X.size >= LARGE and has_numba())


def dual_ascent(
    problem: Problem[Any],
    start: Array | None = None,
    tol: float = 1e-6,
    max_iter: int = 1000,
    random_state: int = 0,
) -> Solution:
    """Climb until the duality gap is ``tol`` times the objective.

    In float32, 3e-4 times the objective is enough. ``max_iter`` bounds the passes, those over a
    part of the coordinates counted by their share.
    """
    rng = np.random.default_rng(random_state)
    dual = _Dual(problem)
    everything = active = np.flatnonzero(dual.caps)
    tol = max(tol, float(np.finfo(problem.dtype).eps) ** 0.5)
    a = dual.start(start)
    here = best = dual.look(a)
    bound, w, bias = here.bound, here.w.copy(), here.bias
    passes, next_look, spent = 0, 1, 0.0
    while best.value - bound > tol * best.value and spent < max_iter and active.size:
        bias, violation = dual.sweep(rng.permutation(active), a, w, bias)
        passes += 1
        spent += active.size / everything.size
        if passes < next_look and spent < max_iter:
            continue
        next_look = max(passes + 2, int(PAUSE * passes))
        a = dual.balanced(a)
        here = dual.look(a)
        best = min(best, here, key=lambda look: look.value)
        bound, w = max(bound, here.bound), here.w.copy()
        short = dual.lack - dual.slope * (here.scores + bias)
        slack = OUT_OF_REACH * violation
        settled = ((a <= 0) & (short < -slack)) | ((a >= dual.caps) & (short > slack))
        active = everything[~settled[everything]]
    theta = dual.theta(best.w, best.bias)
    value = problem.objective(theta)  # of the parameters as they are stored
    gap = value - bound
    n_iter = min(math.ceil(spent), max_iter)  # a pass is finished once it is begun
    return Solution(theta, value, gap, n_iter, gap <= tol * abs(value))


class _Look(NamedTuple):
    """A dual point seen from the primal: weights, the best bias for them, both objectives."""

    w: Array
    scores: Array  # without the bias
    bias: float
    value: float
    bound: float


class _Dual:
    """The dual problem, in double precision but for ``w``."""

    def __init__(self, problem: Problem[Any]) -> None:
        risk = problem.risk
        self.problem = problem
        self.slope, shift, self.caps = (
            part.astype(np.float64) for part in (risk.slope, risk.shift, risk.weight)
        )
        self.lack = 1 - shift
        norms = row_norms(problem.X, squared=True).astype(np.float64)
        self._scale = 1 / (2 * problem.lam)
        self._pull = BIAS * float(norms.mean()) if problem.fit_intercept else 0.0
        tiny = np.finfo(np.float64).tiny
        self._bends = np.maximum(self._scale * self.slope**2 * (norms + self._pull), tiny)

    def start(self, theta: Array | None) -> Array:
        """Zeros, or every sample at the bound that its margin says."""
        if theta is None:
            return np.zeros_like(self.caps)
        margins = self.slope * self.problem.scores(theta)[:, 0]
        return self.balanced(np.where(margins < self.lack, self.caps, 0.0))

    def balanced(self, a: Array) -> Array:
        """With ``sum_i a_i s_i = 0``, as a free bias asks: the heavier side made lighter."""
        if not self.problem.fit_intercept:
            return a
        up = self.slope > 0
        moments = np.abs(a * self.slope)
        above, below = float(moments[up].sum()), float(moments[~up].sum())
        least = min(above, below)
        factors = [least / max(side, np.finfo(np.float64).tiny) for side in (above, below)]
        return a * np.where(up, *factors)

    def look(self, a: Array) -> _Look:
        """With ``a`` balanced the bound is one: the dual objective, less what rounding may be."""
        problem, d = self.problem, self.problem.X.shape[1]
        pulled = problem.pull_back((a * self.slope).astype(problem.dtype)[:, None])
        w = (self._scale * pulled[0, :d]).astype(problem.dtype)
        theta = self.theta(w)
        scores = problem.scores(theta)[:, 0].astype(np.float64)
        bias = self._best_bias(scores) if problem.fit_intercept else 0.0
        losses = np.maximum(self.lack - self.slope * (scores + bias), 0)
        penalty, gain = problem.penalty(theta), float(a @ self.lack)
        rounding = 32 * float(np.finfo(problem.dtype).eps) * (abs(gain) + penalty)
        value = float(self.caps @ losses) + penalty
        return _Look(w, scores, bias, value, gain - penalty - rounding)

    def theta(self, w: Array, bias: float = 0.0) -> Array:
        theta = self.problem.zeros()
        self.problem.weights(theta)[0] = w
        if self.problem.fit_intercept:
            theta[0, -1] = bias
        return theta

    def sweep(self, order: Array, a: Array, w: Array, bias: float) -> tuple[float, float]:
        """A pass over some coordinates; the bias after it, and the mean violation."""
        from immax.compiled.dual_sweep import sweep

        samples = (order, self.slope, self.lack, self.caps, self._bends)
        bias, violation = sweep(self.problem.X, *samples, a, w, bias, self._scale, self._pull)
        return bias + self._pull * self._scale * float(a @ self.slope), violation

    def _best_bias(self, scores: Array) -> float:
        """Where the slope of the risk in the bias, which grows from kink to kink, gets to zero."""
        kept = np.flatnonzero(self.caps)
        slope, moments = self.slope[kept], (self.caps * np.abs(self.slope))[kept]
        kinks = self.lack[kept] / slope - scores[kept]
        order = np.argsort(kinks, kind="stable")
        slopes = np.cumsum(moments[order]) - moments[slope > 0].sum()
        first = min(int(np.searchsorted(slopes, 0.0)), kept.size - 1)
        return float(kinks[order[first]])
