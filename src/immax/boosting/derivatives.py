"""Derivatives of minus the loss, of a few samples or of one, as CatBoost asks for them.

Its threads take turns at the interpreter's lock: what is compiled here keeps it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import exp, log, log1p

import numpy as np

from immax.arrays import Array
from immax.boosting.pairs import FLOOR, class_table, gradient_hessian
from immax.compiled import numba_is_here
from immax.losses.spec import LossSpec

__all__ = ["PairsOfDerivatives", "SampleDerivatives"]


class PairsOfDerivatives:
    """First and second ones of samples of two classes, not for random losses."""

    def __init__(self, spec: LossSpec) -> None:
        self._spec = spec
        self._table = np.stack(class_table(spec)).astype(np.float64)

    def __call__(self, scores: Array, y: Array, weight: Array | None) -> Array:
        """Of shape (n, 2)."""
        if not numba_is_here():
            pairs = gradient_hessian(self._spec, scores, y.astype(np.intp), weight)
            return -np.stack(pairs, axis=1).astype(np.float64)
        out = np.empty((len(scores), 2))
        weight = np.empty(0, np.float32) if weight is None else weight
        _compiled(_fill_pairs)(scores, y, weight, self._table, float(self._spec.focus), out)
        return out


class SampleDerivatives:
    """Gradient and Hessian of one sample of several classes, not for random losses."""

    def __init__(self, spec: LossSpec) -> None:
        parts = (1 / spec.temperature, spec.scale, spec.offset, spec.target_offset, spec.weight)
        self._table = np.stack(parts).astype(np.float64)
        self._focus = float(spec.focus)
        self._size = spec.n_classes
        self._none = np.empty((0, 0))
        self._fill = _compiled(_fill_sample)

    def gradient(self, scores: Array, target: int, weight: float) -> list[float]:
        out = np.empty(self._size)
        self._fill(scores, target, weight, self._table, self._focus, out, self._none)
        return out.tolist()

    def hessian(self, scores: Array, target: int, weight: float) -> list[list[float]]:
        """Its upper triangle, and zeros."""
        out = np.zeros((self._size, self._size))
        self._fill(scores, target, weight, self._table, self._focus, np.empty(self._size), out)
        return out.tolist()


@lru_cache
def _compiled(function: Callable[..., None]) -> Callable[..., None]:
    """If it can be; the functions below are plain loops."""
    if not numba_is_here():
        return function
    from immax.compiled.compiler import jit

    return jit(error_model="numpy", nogil=False)(function)


def _fill_pairs(h: Array, y: Array, weight: Array, table: Array, focus: float, out: Array) -> None:
    """Of ``weight_y F(slope_y h + shift_y)``, F the logistic or the focal loss."""
    for i in range(h.size):
        t = int(y[i])
        slope, shift, own = table[0, t], table[1, t], table[2, t]
        if weight.size:
            own *= weight[i]
        u = slope * h[i] + shift
        small = exp(-abs(u))
        q = (small if u > 0 else 1.0) / (1.0 + small)
        p = (1.0 if u > 0 else small) / (1.0 + small)
        first, bend = q, p * q
        if focus > 0:
            rest = max(q, 1e-12)
            nll = log1p(small) + max(-u, 0.0)
            steep = rest**focus * (1 + focus * p * nll / rest)
            curved = 2 + (focus - 1) * p * nll / rest - nll
            bend = steep * p * q + focus * rest ** (focus - 1) * p * curved * q * q
            first = steep * q
        out[i, 0] = own * slope * first
        out[i, 1] = -max(own * slope * slope * bend, FLOOR)


def _fill_sample(
    h: Array, t: int, weight: float, table: Array, focus: float, gradient: Array, hessian: Array
) -> None:
    """An empty Hessian is left out."""
    slope, scale, offset, lowered, class_weight = table
    c = h.size
    top = -np.inf
    for j in range(c):
        gradient[j] = h[j] * slope[t] * scale[j] + offset[j]
        if j == t:
            gradient[j] -= lowered[t]
        top = max(top, gradient[j])
    here, total = gradient[t], 0.0
    for j in range(c):
        gradient[j] = exp(gradient[j] - top)
        total += gradient[j]
    own = weight * class_weight[t]
    first, second = 1.0, 0.0
    if focus > 0:
        p = gradient[t] / total
        rest = max(1.0 - p, 1e-12)
        nll = log(total) + top - here
        first = rest**focus * (1 + focus * p * nll / rest)
        bend = 2 + (focus - 1) * p * nll / rest - nll
        second = focus * rest ** (focus - 1) * p * bend
    for j in range(c):
        gradient[j] /= total
    for a in range(hessian.shape[0]):
        for b in range(a, c):
            p = gradient[a]
            bent = (p if a == b else 0.0) - p * gradient[b]
            outer = (p - (a == t)) * (gradient[b] - (b == t))
            step = slope[t] * slope[t] * scale[a] * scale[b]
            hessian[a, b] = -own * step * (first * bent + second * outer)
    for j in range(c):
        gradient[j] = -own * slope[t] * scale[j] * first * (gradient[j] - (j == t))
