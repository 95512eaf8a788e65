"""The proximal map of the max form, for every surrogate."""

from __future__ import annotations

import numpy as np

from immax.arrays import Array
from immax.losses.surrogates import Surrogate

__all__ = ["max_prox"]


def max_prox(
    surrogate: Surrogate, centre: Array, y: Array, margin: Array, stiffness: Array
) -> tuple[Array, Array]:
    """Return the proximal point of every sample's loss in the max form, and its margin.

    It is ``argmin_z Psi((z_y - max_{j != y} z_j) / margin) + stiffness / 2 ||z - centre||^2``. The
    minimiser raises the target's score by some ``rise`` and cuts the other scores at a
    level, removing ``rise`` from them in all. The rise solves
    ``rise * margin * stiffness = -Psi'((z_y - level) / margin)``, whose left side grows and
    right side shrinks with it.

    Parameters
    ----------
    surrogate : Surrogate
        The surrogate Psi.
    centre : ndarray of shape (n, c)
        Scores.
    y : ndarray of int, shape (n,)
        Class indices.
    margin, stiffness : ndarray of shape (n,)
        The margin of each sample's own class, and the weight of the squared distance.

    Returns
    -------
    point : ndarray of shape (n, c)
        The proximal point z.
    u : ndarray of shape (n,)
        Its margin, ``(z_y - max_{j != y} z_j) / margin``.
    """
    n, c = centre.shape
    rows = np.arange(n)
    target = centre[rows, y]
    others = np.negative(centre, order="C")
    others[rows, y] = np.inf
    others.sort(axis=1)
    ordered = np.negative(others[:, : c - 1])
    sums = np.cumsum(ordered, axis=1)
    sizes = np.arange(1, c)
    weight = margin * stiffness

    # With k scores cut, the level falls from the k-th score to the next as the rise grows;
    # take the first k at whose end the left side has overtaken the right.
    ends = sums[:, :-1] - sizes[:-1] * ordered[:, 1:]
    ends_u = (target[:, None] + ends - ordered[:, 1:]) / margin[:, None]
    overtaken = ends * weight[:, None] + surrogate.slope(ends_u) >= 0
    k = c - 2 - overtaken.sum(axis=1)  # once overtaken, overtaken to the end
    size, total = sizes[k], sums[rows, k]

    # On that piece u = intercept + rise * slope is linear in the rise.
    slope = (1 + 1 / size) / margin
    intercept = (target - total / size) / margin
    if surrogate.name == "hinge":
        reaching_one = (1 - intercept) / slope
        rise = np.maximum(np.minimum(reaching_one, 1 / weight), 0)
    else:
        start = np.where(k > 0, ends[rows, k - 1], 0) if c > 2 else np.zeros(n)
        rise = _solve_rise(surrogate, intercept, slope, weight, start)
    level = (total - rise) / size
    point = np.minimum(centre, level[:, None])
    point[rows, y] = target + rise
    return np.asarray(point.astype(centre.dtype, copy=False)), intercept + rise * slope


def _solve_rise(
    surrogate: Surrogate, intercept: Array, slope: Array, weight: Array, start: Array
) -> Array:
    """Return the root of ``rise * weight + Psi'(intercept + rise * slope)``, at least ``start``."""
    # Safeguarded Newton from the left end, where the function is not positive.
    low = np.maximum(start, 0)
    high = -surrogate.slope(intercept + low * slope) / weight
    # Where u >= 0 the slope is at least -1, which bounds the root without overflow.
    high = np.maximum(np.minimum(high, np.maximum(-intercept / slope, 1 / weight)), low)
    rise, previous = low, np.full_like(low, np.inf)
    for iteration in range(80):
        u = intercept + rise * slope
        value = rise * weight + surrogate.slope(u)
        low = np.where(value <= 0, rise, low)
        high = np.where(value >= 0, rise, high)
        step = rise - value / (weight + surrogate.curvature(u) * slope)
        length = np.abs(step - rise)
        near = length <= 4 * np.finfo(rise.dtype).eps * (1 + np.abs(rise))
        if near.all():
            break
        inside = (step > low) & (step < high)
        if iteration % 3 == 2:  # against creeping along an exponential, in steps of one length
            inside &= (length < previous / 2) | (high - low < 1e-3 * high)
        previous = length
        rise = np.where(near, rise, np.where(inside, step, (low + high) / 2))
    return np.asarray(rise)
