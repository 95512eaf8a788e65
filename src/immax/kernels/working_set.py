"""The inner loops of the joint machine, in NumPy.

Sample i has a row ``a_i`` of dual coefficients, one a class, that sums to zero: ``a_ij <= 0`` for
the other classes, ``a_iy <= cap_i`` for its own. Its gradient is its scores, less ``rho_y`` at its
own class, and it is at its optimum when every coefficient with room to grow has the largest
gradient: a coefficient below its limit gains by growing where the gradient is small.
"""

from __future__ import annotations

from types import ModuleType

import numpy as np

from immax.arrays import Array
from immax.compiled import has_numba

__all__ = ["block", "loops", "spread", "sweeps", "violations"]

ROWS = 64  # that are copied at once


def loops() -> ModuleType:
    """These functions, compiled if that can be."""
    if has_numba():
        from immax.compiled import working_set as compiled

        return compiled
    from immax.kernels import working_set

    return working_set


def violations(
    products: Array, biases: Array, a: Array, y: Array, caps: Array, rho: Array, out: Array
) -> None:
    """Into ``out``, how far each sample is from its own optimum, in units of its margin.

    Parameters
    ----------
    products : ndarray of shape (c, m)
        Scores without biases.
    biases : ndarray of shape (c,)
    a : ndarray of shape (m, c)
    y, caps : ndarrays of shape (m,)
    rho : ndarray of shape (c,)
    out : ndarray of shape (m,)
    """
    samples = np.arange(y.size)
    gradient = products.T + biases
    gradient[samples, y] -= rho[y]
    room = a < 0
    room[samples, y] = a[samples, y] < caps
    bottom = np.where(room, gradient, np.inf).min(axis=1)
    np.maximum((gradient.max(axis=1) - bottom) / rho[y], 0, out=out)


def block(store: Array, slots: Array, columns: Array, out: Array) -> None:
    """Into ``out``, some columns of some rows."""
    out[:] = store[np.ix_(slots, columns)]


def spread(store: Array, slots: Array, changes: Array, products: Array) -> None:
    """Add the rows of the samples that changed, times their changes, to the products."""
    for start in range(0, slots.size, ROWS):
        part = slice(start, start + ROWS)
        products += changes[part].T @ store[slots[part]]


def sweeps(
    kernel: Array,
    products: Array,
    a: Array,
    y: Array,
    caps: Array,
    rho: Array,
    biases: Array,
    sums: Array,
    stiffness: float,
    tol: float,
    most: int,
    eager: float,
    patience: int,
) -> int:
    """Steps over a working set, in place; returns their number.

    A step maximises the dual over one sample's coefficients: a step along its gradient, brought
    back within the limits. A sweep passes over the
    samples in turn and leaves out those whose violation is small beside the last sweep's
    largest.

    Parameters
    ----------
    kernel : ndarray of shape (q, q)
    products : ndarray of shape (c, q)
    a : ndarray of shape (q, c)
    y, caps : ndarrays of shape (q,)
    rho : ndarray of shape (c,)
    biases, sums : ndarrays of shape (c,)
        The multipliers, and the sums of the coefficients over all samples; the biases in force
        are ``biases + stiffness * sums``.
    stiffness : float
        What the penalty on the sums adds to the kernel.
    tol : float
        The violation to end at.
    most : int
        Sweeps at the most.
    eager : float
        Samples below this share of the last sweep's largest violation are left out.
    patience : int
        Sweeps between renewals of the multipliers.
    """
    classes = np.arange(rho.size)
    limits = np.where(classes == y[:, None], caps[:, None], 0.0)
    targets = np.where(classes == y[:, None], rho, 0.0)
    steps = 0
    worst = 0.0
    for turn in range(most):
        bar, worst = max(0.1 * tol, eager * worst), 0.0
        for i in range(y.size):
            gradient = products[:, i] + biases + stiffness * sums - targets[i]
            bottom = np.where(a[i] < limits[i], gradient, np.inf).min()
            violation = float((gradient.max() - bottom) / rho[y[i]])
            worst = max(worst, violation)
            curvature = float(kernel[i, i]) + stiffness
            if violation <= bar or curvature <= 0:
                continue
            change = _settled(a[i] - gradient / curvature, limits[i]) - a[i]
            a[i] += change
            sums += change
            products += np.outer(change, kernel[i])
            steps += 1
        if turn % patience == patience - 1:
            biases += stiffness * sums
        if worst <= tol:
            break
    return steps


def _settled(row: Array, limits: Array) -> Array:
    """The nearest row within the limits that sums to zero.

    All move by one amount, but those without that much room, which go to their limits.
    """
    room = np.sort(limits - row)
    taken = np.arange(row.size)
    shifts = -(row.sum() + np.cumsum(room) - room) / (row.size - taken)
    return np.minimum(limits, row + shifts[(room >= shifts).argmax()])
