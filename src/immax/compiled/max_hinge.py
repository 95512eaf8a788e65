"""The envelope of the hinge in the max form, and its Hessian, for ``solvers.compiled_max_risks``.

The proximal map raises the score of a sample's class by some rise and cuts the largest of the
others at a level, which removes as much from them (``losses.proximal``). For most samples one
score is cut, or none, and only those at a kink have a Hessian.
"""

from __future__ import annotations

import numpy as np

from immax.arrays import Array
from immax.compiled.compiler import jit

__all__ = ["add_hessians", "curvature_rows", "envelope_rows"]


@jit(error_model="numpy")
def _rise(
    target: float, total: float, size: int, margin: float, stiffness: float
) -> tuple[float, float]:
    """Return the rise of the target, and the margin, if ``size`` scores of this sum are cut."""
    # The margin u = intercept + rise * slope is linear in the rise.
    slope = (1 + 1 / size) / margin
    intercept = (target - total / size) / margin
    rise = max(min((1 - intercept) / slope, 1 / (margin * stiffness)), 0.0)
    return rise, intercept + rise * slope


@jit(error_model="numpy")
def _cut(
    z: Array, others: Array, t: int, margin: float, stiffness: float
) -> tuple[float, float, float]:
    """Return the level at which scores are cut, the rise of the target, and the margin.

    ``others`` is overwritten.
    """
    top = second = -np.inf
    for j in range(z.size):
        if j != t and z[j] > second:
            second = z[j]
            if second > top:
                second, top = top, second
    rise, u = _rise(z[t], top, 1, margin, stiffness)
    level = top - rise
    if not second > level:
        return level, rise, u
    # The level for too many scores is too low: those below it can be left out.
    count, total = 0, 0.0
    for j in range(z.size):
        if j != t:
            others[count] = z[j]
            count += 1
            total += z[j]
    while True:
        rise, u = _rise(z[t], total, count, margin, stiffness)
        level = (total - rise) / count
        kept, total = 0, 0.0
        for j in range(count):
            if others[j] > level:
                others[kept] = others[j]
                total += others[j]
                kept += 1
        if kept == count or kept == 0:
            return level, rise, u
        count = kept


@jit(error_model="numpy")
def envelope_rows(
    h: Array,
    start: Array,
    y: Array,
    margin: Array,
    stiffness: Array,
    weight: Array,
    step: float,
    ray: Array,
    moved: Array,
    gradient: Array,
    begin: int,
    end: int,
) -> tuple[float, float]:
    """Fill rows ``begin`` to ``end`` of the envelope's gradients along a ray of scores.

    Parameters
    ----------
    h : ndarray of shape (n, c)
        Scores where the ray begins.
    start : ndarray of shape (n, c) or (0, 0)
        The multipliers divided by the stiffness, which are added to the scores; empty for zeros.
    y : ndarray of int, shape (n,)
        Class indices, all of them valid.
    margin, stiffness, weight : ndarray of shape (n,)
        The margin of each sample's class, the weight of the squared distance to the proximal
        point, and the weight of its loss.
    step : float
        The position on the ray.
    ray : ndarray of shape (n, c) or (0, 0)
        Its direction; empty for the envelope at ``h`` itself.
    moved : ndarray of shape (n, c)
        Receives ``h + step * ray``; is ``h`` if there is no ray.
    gradient : ndarray of shape (n, c)
        Receives the gradients there.
    begin, end : int
        The range of rows.

    Returns
    -------
    value : float
        The weighted sum of the losses; NaN if a score is.
    derivative : float
        Its derivative along the ray.
    """
    c = h.shape[1]
    z, others = np.empty(c), np.empty(c)
    value = derivative = 0.0
    for i in range(begin, end):
        for j in range(c):
            if ray.size:
                moved[i, j] = h[i, j] + step * ray[i, j]
            z[j] = moved[i, j]
            if start.size:
                z[j] += start[i, j]
        t = y[i]
        level, rise, u = _cut(z, others, t, margin[i], stiffness[i])
        squares = rise * rise
        scale = weight[i] * stiffness[i]
        along = 0.0
        for j in range(c):
            cut = -rise if j == t else max(z[j] - level, 0.0)
            if j != t:
                squares += cut * cut
            gradient[i, j] = scale * cut
            if ray.size:
                along += cut * ray[i, j]
        lack = 1 - u
        if not lack <= 0:  # also if it is NaN
            value += weight[i] * lack
        value += 0.5 * scale * squares
        derivative += scale * along
    return value, derivative


@jit(error_model="numpy")
def curvature_rows(
    h: Array,
    start: Array,
    y: Array,
    margin: Array,
    stiffness: Array,
    cut: Array,
    size: Array,
    spread: Array,
    along: Array,
) -> None:
    """Fill in the parts of every sample's Hessian; see ``losses.max_risks.MaxCurvature``.

    Parameters
    ----------
    h, start, y, margin, stiffness
        As in ``envelope_rows``.
    cut : ndarray of shape (n, c)
        Receives ones for the scores that are cut, and zeros.
    size, spread, along : ndarray of shape (n,)
        Receive the number of scores that are cut, at least one, and the two weights of the
        Hessian, without the samples' own.
    """
    n, c = h.shape
    z, others = np.empty(c), np.empty(c)
    for i in range(n):
        for j in range(c):
            z[j] = h[i, j]
            if start.size:
                z[j] += start[i, j]
        t = y[i]
        level, rise, _ = _cut(z, others, t, margin[i], stiffness[i])
        count = 0
        for j in range(c):
            is_cut = j != t and z[j] > level
            cut[i, j] = is_cut
            count += is_cut
        count = max(count, 1)
        size[i] = count
        spread[i] = stiffness[i]
        # At its kink the hinge keeps the margin fixed; elsewhere it is linear.
        mass = rise * stiffness[i] * margin[i]
        along[i] = stiffness[i] / (1 + 1 / count) if 0 < mass < 1 - 1e-12 else 0.0


@jit(fastmath={"contract", "nsz"})
def _add_outer(block: Array, row: Array, factor: float) -> None:
    """Add a multiple of the outer product of a row with itself to an upper triangle."""
    for a in range(row.size):
        scaled = factor * row[a]
        if scaled != 0.0:
            for b in range(a, row.size):
                block[a, b] += scaled * row[b]


@jit()
def add_hessians(
    X: Array,
    cut: Array,
    size: Array,
    spread: Array,
    along: Array,
    y: Array,
    out: Array,
) -> None:
    """Fill ``out`` with the Hessian in the parameters.

    Nothing changes if all scores of a sample move alike, so its Hessian is a sum of
    ``w_pq (e_p - e_q) (e_p - e_q)^T`` over pairs of classes, and those of the samples that share
    a pair are summed before they are written to four blocks.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Features, in C order.
    cut, size, spread, along : ndarray
        As ``curvature_rows`` fills them, with the weights of the samples in the last two.
    y : ndarray of int, shape (n,)
        Class indices.
    out : ndarray of shape (c, width, c, width)
        Zeros; receives the blocks. A width of d + 1 stands for a constant last feature.
    """
    n, d = X.shape
    c, width = out.shape[:2]
    row = np.ones(width)
    members = np.empty(c, np.intp)
    for i in range(n):
        single = size[i] == 1
        if along[i] == 0.0 and (single or spread[i] == 0.0):
            continue
        for j in range(d):
            row[j] = X[i, j]
        between = along[i] / size[i]
        among = 0.0 if single else (spread[i] - between) / size[i]
        t = y[i]
        count = 0
        for j in range(c):
            if cut[i, j] != 0.0:
                members[count] = j
                count += 1
        for p in range(count):
            first = members[p]
            if between != 0.0:
                _add_outer(out[min(first, t), :, max(first, t), :], row, between)
            if among != 0.0:
                for q in range(p + 1, count):
                    _add_outer(out[first, :, members[q], :], row, among)
    for p in range(c):
        for q in range(p + 1, c):
            for a in range(width):
                for b in range(a, width):
                    entry = out[p, a, q, b]
                    if entry == 0.0:
                        continue
                    out[p, a, p, b] += entry
                    out[q, a, q, b] += entry
                    out[p, a, q, b] = out[p, b, q, a] = -entry
                    out[q, a, p, b] = out[q, b, p, a] = -entry
    for p in range(c):
        for a in range(width):
            for b in range(a):
                out[p, a, p, b] = out[p, b, p, a]
