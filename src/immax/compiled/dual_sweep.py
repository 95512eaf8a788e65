"""A pass of dual coordinate ascent for the hinge of two classes, for ``solvers.dual_ascent``."""

from __future__ import annotations

from immax.arrays import Array
from immax.compiled.compiler import jit

__all__ = ["sweep"]


@jit(fastmath={"contract", "reassoc", "nsz"})
def _dot(row: Array, w: Array) -> float:
    total = row.dtype.type(0)
    for j in range(row.size):
        total += row[j] * w[j]
    return total


@jit(fastmath={"contract"})
def _add(w: Array, row: Array, factor: float) -> None:
    for j in range(row.size):
        w[j] += factor * row[j]


@jit()
def _best_value(a: float, slope: float, cap: float, bend: float) -> tuple[float, float]:
    """Return a coordinate's best value, and by how much it violates optimality."""
    best = min(max(a + slope / bend, 0.0), cap)
    if (a <= 0.0 and slope < 0.0) or (a >= cap and slope > 0.0):
        return best, 0.0
    return best, abs(slope)


@jit()
def sweep(
    X: Array,
    order: Array,
    slope: Array,
    lack: Array,
    caps: Array,
    bends: Array,
    a: Array,
    w: Array,
    b: float,
    scale: float,
    pull: float,
) -> tuple[float, float]:
    """Set coordinates to their best values, one after the other.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Features, in C order.
    order : ndarray of int
        The coordinates, in the order of the pass.
    slope, lack, caps, bends : ndarrays of shape (n,)
        Of each sample: the derivative of its margin in its score, what its margin lacks at score
        zero, the upper bound of its coordinate and the curvature of the dual in it.
    a, w : ndarrays of shape (n,) and (d,)
        The dual coordinates and the weights; changed in place.
    b : float
        The bias.
    scale, pull : float
        How weights and bias follow a coordinate.

    Returns
    -------
    bias : float
        The bias after the pass.
    violation : float
        The mean violation of optimality, weighted by the caps.
    """
    violation = mass = 0.0
    for i in order:
        own = lack[i] - slope[i] * (_dot(X[i], w) + b)
        best, off = _best_value(a[i], own, caps[i], bends[i])
        violation += caps[i] * off
        mass += caps[i]
        if best != a[i]:
            step = scale * slope[i] * (best - a[i])
            _add(w, X[i], X.dtype.type(step))
            b += pull * step
            a[i] = best
    return b, violation / mass
