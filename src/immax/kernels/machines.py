"""The machines of a problem: one of two classes, one of all, or one for each pair."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
from sklearn.utils.multiclass import _ovr_decision_function

from immax.arrays import Array, Vector
from immax.kernels.binary import binary_machine
from immax.kernels.joint import joint_machine
from immax.kernels.machine import Machine, MachineOptions
from immax.kernels.samples import Data

__all__ = ["solve_machines", "votes"]


def solve_machines(
    data: Data,
    y: Array,
    limits: Array,
    rho: Vector,
    multiclass: str,
    options: MachineOptions,
    start: list[Machine] | None = None,
) -> list[Machine]:
    """Solve the one machine, or the machine of each pair of classes.

    Parameters
    ----------
    data : Data
        The m samples.
    y : ndarray of int, shape (m,)
        Class indices.
    limits : ndarray of shape (m,)
        The weights C_i of the losses.
    rho : ndarray of shape (c,)
        The margins, as they are given.
    multiclass : {"max", "ovo"}
        With three classes or more: the machine of all classes, or of each pair.
    options : MachineOptions
        Options of the solvers.
    start : list of Machine, optional
        A warm start for the machine of all classes; libsvm takes none.

    Returns
    -------
    list of Machine
        For "ovo" in the order (0, 1), (0, 2), …, with scores of the second class.
    """
    if rho.size == 2:
        return [binary_machine(data, y, limits, rho, options)]
    if multiclass == "max":
        return [joint_machine(data, y, limits, rho, options, start[0] if start else None)]
    pairs = combinations(range(rho.size), 2)
    return [_between(data, y, limits, rho, pair, options) for pair in pairs]


def votes(scores: Array, n_classes: int) -> Array:
    """Return the votes of pairs of classes, and a fraction for their confidence.

    Parameters
    ----------
    scores : ndarray of shape (n, n_pairs)
        Scores of the second class of each pair.
    n_classes : int
        The number of classes.

    Returns
    -------
    ndarray of shape (n, n_classes)
    """
    return np.asarray(_ovr_decision_function(scores > 0, scores, n_classes))


def _between(
    data: Data,
    y: Array,
    limits: Array,
    rho: Vector,
    pair: tuple[int, int],
    options: MachineOptions,
) -> Machine:
    """Return the machine of two of the classes, with coefficients for all samples."""
    members = np.flatnonzero(np.isin(y, pair))
    small = binary_machine(
        data.subset(members),
        (y[members] == pair[1]).astype(int),
        limits[members],
        rho[list(pair)],
        options,
    )
    coefficients = np.zeros((1, y.size))
    coefficients[:, members] = small.coefficients
    return replace(small, coefficients=coefficients)
