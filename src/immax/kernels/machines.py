"""Which machines a problem takes: one of two classes, one of all, or one for each pair."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.utils.multiclass import _ovr_decision_function

from immax.arrays import Array
from immax.kernels.binary import binary_machine
from immax.kernels.joint import joint_machine
from immax.kernels.machine import Machine
from immax.kernels.samples import Data

__all__ = ["solve_machines", "votes"]


def solve_machines(
    data: Data, y: Array, limits: Array, rho: Array, multiclass: str, options: dict[str, Any]
) -> list[Machine]:
    """One machine, or one for each pair of classes."""
    if rho.size == 2:
        return [binary_machine(data, y, limits, rho, **options)]
    if multiclass == "max":
        return [joint_machine(data, y, limits, rho, **options)]
    pairs = combinations(range(rho.size), 2)
    return [_between(data, y, limits, rho, pair, options) for pair in pairs]


def votes(scores: Array, n_classes: int) -> Array:
    """Scores of pairs to votes for classes, (n, c), and how sure they are."""
    return np.asarray(_ovr_decision_function(scores > 0, scores, n_classes))


def _between(
    data: Data,
    y: Array,
    limits: Array,
    rho: Array,
    pair: tuple[int, int],
    options: dict[str, Any],
) -> Machine:
    """The machine of two of the classes, with coefficients for all samples."""
    members = np.flatnonzero(np.isin(y, pair))
    small = binary_machine(
        data.subset(members),
        (y[members] == pair[1]).astype(int),
        limits[members],
        rho[list(pair)],
        **options,
    )
    coefficients = np.zeros((1, y.size))
    coefficients[:, members] = small.coefficients
    return replace(small, coefficients=coefficients)
