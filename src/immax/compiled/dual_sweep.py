"""A pass of dual coordinate ascent for the hinge of two classes, as in ``solvers.dual_ascent``."""

from __future__ import annotations

from typing import Any

from immax.compiled.compiler import jit

__all__ = ["sweep"]


@jit(fastmath={"contract", "reassoc", "nsz"})
def _dot(row: Any, w: Any) -> Any:
    total = row.dtype.type(0)
    for j in range(row.size):
        total += row[j] * w[j]
    return total


@jit(fastmath={"contract"})
def _add(w: Any, row: Any, factor: Any) -> None:
    for j in range(row.size):
        w[j] += factor * row[j]


@jit()
def _moved(a: float, slope: float, cap: float, bend: float) -> tuple[float, float]:
    """A coordinate's best value, and how much its slope is in the way of an optimum."""
    best = min(max(a + slope / bend, 0.0), cap)
    if (a <= 0.0 and slope < 0.0) or (a >= cap and slope > 0.0):
        return best, 0.0
    return best, abs(slope)


@jit()
def sweep(
    X: Any,
    order: Any,
    slope: Any,
    lack: Any,
    caps: Any,
    bends: Any,
    a: Any,
    w: Any,
    b: float,
    scale: float,
    pull: float,
) -> tuple[float, float]:
    """Set the coordinates to their best values one after the other, in this order.

    ``w`` and ``a`` are changed in place; the bias is returned, with the mean violation.
    """
    violation = mass = 0.0
    for i in order:
        own = lack[i] - slope[i] * (_dot(X[i], w) + b)
        best, off = _moved(a[i], own, caps[i], bends[i])
        violation += caps[i] * off
        mass += caps[i]
        if best != a[i]:
            step = scale * slope[i] * (best - a[i])
            _add(w, X[i], X.dtype.type(step))
            b += pull * step
            a[i] = best
    return b, violation / mass
