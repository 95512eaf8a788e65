"""What a bound is on: the error, the mean cost of errors, or the mean of the classes' errors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from immax.arrays import Array
from immax.class_vectors import class_vector

__all__ = ["Target", "target_of"]


class Target(NamedTuple):
    """A loss ``weights_y 1[wrong]``, and what its deviations are multiplied by."""

    name: str
    weights: Array  # (c,)
    span: float


def target_of(costs: ArrayLike | str | None, labels: Array, n_classes: int) -> Target:
    """Return the target that the argument ``costs`` of a bound stands for.

    Parameters
    ----------
    costs : array-like of shape (c,), "balanced" or None
        None is the error. With "balanced" the weights are ``m / (c m_k)``; for given class counts
        the samples are independent, and by McDiarmid's inequality deviations are multiplied by the
        root of the mean square of their weights. With other costs they are multiplied by the
        largest.
    labels : ndarray of int, shape (m,)
    n_classes : int

    Returns
    -------
    Target

    Examples
    --------
    >>> target_of("balanced", np.array([0, 0, 0, 1]), 2).weights
    array([0.66666667, 2.        ])
    """
    if costs is None:
        return Target("error", np.ones(n_classes), 1.0)
    if isinstance(costs, str):
        if costs != "balanced":
            raise ValueError(
                f"costs must be 'balanced' or one positive number per class; got {costs!r}"
            )
        counts = np.bincount(labels, minlength=n_classes).astype(np.float64)
        if not counts.all():
            raise ValueError(
                f"costs='balanced' needs samples of every class; class {int(counts.argmin())} has "
                "none"
            )
        weights = labels.size / (n_classes * counts)
        return Target("balanced error", weights, float(np.sqrt(np.mean(weights[labels] ** 2))))
    weights = class_vector(costs, "costs", n_classes)
    return Target("cost", weights, float(weights.max()))
