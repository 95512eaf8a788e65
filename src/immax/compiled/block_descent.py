"""Passes of block coordinate descent over a quadratic model, for ``solvers.gram_descent``."""

from __future__ import annotations

import numpy as np

from immax.arrays import Array
from immax.compiled.compiler import jit

__all__ = ["descend"]


@jit(fastmath={"contract", "reassoc", "nsz"})
def _add_row(slopes: Array, row: Array, factor: float) -> None:
    for i in range(slopes.size):
        slopes[i] += factor * row[i]


@jit()
def descend(
    H: Array,
    slopes: Array,
    z: Array,
    starts: Array,
    thresholds: Array,
    curvatures: Array,
    units: Array,
    passes: int,
    tol: float,
) -> float:
    """Minimise over one block after the other.

    Parameters
    ----------
    H : ndarray of shape (p, p)
        The matrix of the model, symmetric.
    slopes, z : ndarrays of shape (p,)
        The gradient of the smooth part at the coefficients, and these; changed in place.
    starts : ndarray of int, shape (n_blocks + 1,)
        Block b holds the coefficients from ``starts[b]`` to ``starts[b + 1]``.
    thresholds, curvatures : ndarrays of shape (n_blocks,)
        The weights of the norms of the blocks, and bounds on the eigenvalues of the matrix there.
    units : ndarray of shape (n_blocks,)
        Square roots of the curvatures.
    passes : int
        The most passes over all blocks.
    tol : float
        Stop when no block changes by more than this, times its unit.

    Returns
    -------
    float
        The largest such change in the last pass.
    """
    violation = 0.0
    for _ in range(passes):
        violation = 0.0
        for b in range(thresholds.size):
            curvature = curvatures[b]
            if not curvature > 0.0:
                continue
            first, last = starts[b], starts[b + 1]
            squared = 0.0
            for i in range(first, last):
                target = curvature * z[i] - slopes[i]
                squared += target * target
            norm = np.sqrt(squared)
            share = max(1.0 - thresholds[b] / norm, 0.0) if norm > 0.0 else 0.0
            if last - first == 1:
                change = (curvature * z[first] - slopes[first]) * (share / curvature) - z[first]
                if change != 0.0:
                    z[first] += change
                    _add_row(slopes, H[first], change)
                    violation = max(violation, units[b] * abs(change))
                continue
            changes = np.empty(last - first)
            for i in range(first, last):
                changes[i - first] = (curvature * z[i] - slopes[i]) * (share / curvature) - z[i]
            for i in range(first, last):
                change = changes[i - first]
                if change != 0.0:
                    z[i] += change
                    _add_row(slopes, H[i], change)
                    violation = max(violation, units[b] * abs(change))
        if violation <= tol:
            break
    return violation
