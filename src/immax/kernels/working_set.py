"""The inner loops of the joint machine, in NumPy.

Sample i has a row ``a_i`` of dual coefficients, one per class, that sums to zero: ``a_ij <= 0``
for the other classes, ``a_iy <= cap_i`` for its own. Its gradient is its scores, less ``rho_y`` at
its own class, and it is at its optimum when every coefficient below its limit has the largest
gradient.
"""

from __future__ import annotations

from types import ModuleType

import numpy as np

from immax.arrays import Array
from immax.compiled import has_numba

__all__ = ["block", "loops", "spread", "sweeps", "violations"]

ROWS = 64  # copied at once


def loops() -> ModuleType:
    """Return the module of the inner loops: the compiled one if Numba is installed.

    Returns
    -------
    module
        With the functions ``block``, ``spread``, ``sweeps`` and ``violations``.
    """
    if has_numba():
        from immax.compiled import working_set as compiled

        return compiled
    from immax.kernels import working_set

    return working_set


def violations(
    products: Array, biases: Array, a: Array, y: Array, caps: Array, rho: Array, out: Array
) -> None:
    """Compute how far each sample is from its own optimum, in units of its margin.

    Parameters
    ----------
    products : ndarray of shape (c, m)
        Scores without biases.
    biases : ndarray of shape (c,)
        The biases.
    a : ndarray of shape (m, c)
        Dual coefficients.
    y, caps : ndarrays of shape (m,)
        Class indices, and the limits of the coefficients for the own class.
    rho : ndarray of shape (c,)
        Margins.
    out : ndarray of shape (m,)
        Where to write the violations.
    """
    samples = np.arange(y.size)
    gradient = products.T + biases
    gradient[samples, y] -= rho[y]
    room = a < 0
    room[samples, y] = a[samples, y] < caps
    bottom = np.where(room, gradient, np.inf).min(axis=1)
    np.maximum((gradient.max(axis=1) - bottom) / rho[y], 0, out=out)


def block(store: Array, slots: Array, columns: Array, out: Array) -> None:
    """Copy some columns of some rows into ``out``.

    Parameters
    ----------
    store : ndarray of shape (any, m)
        Rows of the kernel matrix.
    slots, columns : ndarrays of int
        The rows and columns to copy.
    out : ndarray
        Where to write them.
    """
    out[:] = store[np.ix_(slots, columns)]


def spread(store: Array, slots: Array, changes: Array, products: Array) -> None:
    """Add the rows of the samples that changed, times their changes, to the products.

    Parameters
    ----------
    store : ndarray of shape (any, m)
        Rows of the kernel matrix.
    slots : ndarray of int, shape (q,)
        The rows of the samples that changed.
    changes : ndarray of shape (q, c)
        Changes of their coefficients.
    products : ndarray of shape (c, m)
        Scores without biases, updated in place.
    """
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
    """Update the coefficients of a working set in place, and return the number of steps.

    A step maximises the dual over one sample's coefficients: a step along its gradient, projected
    on the limits. A sweep passes over the samples in turn, and skips those whose violation is
    small compared to the largest of the last sweep.

    Parameters
    ----------
    kernel : ndarray of shape (q, q)
        Kernel values of the working set.
    products : ndarray of shape (c, q)
        Scores without biases, updated in place.
    a : ndarray of shape (q, c)
        Dual coefficients, updated in place.
    y, caps : ndarrays of shape (q,)
        Class indices, and the limits of the coefficients for the own class.
    rho : ndarray of shape (c,)
        Margins.
    biases, sums : ndarrays of shape (c,)
        The multipliers, and the sums of the coefficients over all samples, both updated in place;
        the current biases are ``biases + stiffness * sums``.
    stiffness : float
        The strength of the penalty on the sums, which is added to the kernel.
    tol : float
        The violation to stop at.
    most : int
        The most sweeps.
    eager : float
        Samples below this share of the last sweep's largest violation are skipped.
    patience : int
        Sweeps between updates of the multipliers.

    Returns
    -------
    int
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
            change = _projected(a[i] - gradient / curvature, limits[i]) - a[i]
            a[i] += change
            sums += change
            products += np.outer(change, kernel[i])
            steps += 1
        if turn % patience == patience - 1:
            biases += stiffness * sums
        if worst <= tol:
            break
    return steps


def _projected(row: Array, limits: Array) -> Array:
    """Return the nearest row within the limits that sums to zero.

    All entries move by the same amount, except those with less room, which go to their limits.
    """
    room = np.sort(limits - row)
    taken = np.arange(row.size)
    shifts = -(row.sum() + np.cumsum(room) - room) / (row.size - taken)
    return np.minimum(limits, row + shifts[(room >= shifts).argmax()])
