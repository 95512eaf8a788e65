"""The list of penalties by name, and the function that makes one of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from immax.arrays import Array
from immax.penalties.base import Penalty
from immax.penalties.elastic_net import ElasticNet
from immax.penalties.group import GroupNorm
from immax.penalties.l1 import L1Norm
from immax.penalties.l2 import SquaredL2
from immax.validation import check_choice

__all__ = ["PENALTIES", "group_numbers", "make_penalty"]


def _elastic_net(l1_ratio: float, groups: Array | None) -> Penalty:  # noqa: ARG001
    # Without its kinks the elastic net is the l2 penalty, and has that penalty's solvers.
    return ElasticNet(l1_ratio) if l1_ratio > 0 else SquaredL2()


PENALTIES: Mapping[str, Callable[[float, Array | None], Penalty]] = MappingProxyType(
    {
        "l2": lambda l1_ratio, groups: SquaredL2(),  # noqa: ARG005
        "l1": lambda l1_ratio, groups: L1Norm(),  # noqa: ARG005
        "elasticnet": _elastic_net,
        "group": lambda l1_ratio, groups: GroupNorm(groups),  # noqa: ARG005
    }
)
"""Functions of ``l1_ratio`` and ``groups`` that make a penalty, by its name."""


def group_numbers(groups: ArrayLike | None, n_features: int) -> Array | None:
    """Return the number of each feature's group.

    Parameters
    ----------
    groups : array-like of shape (n_features,), or None
        A label for each feature, of any kind; features with the same label are a group.
    n_features : int
        The number of features.

    Returns
    -------
    ndarray of int, shape (n_features,), or None

    Raises
    ------
    ValueError
        If there is not one label for each feature.

    Examples
    --------
    >>> group_numbers(["age", "colour", "colour"], 3)
    array([0, 1, 1])
    """
    if groups is None:
        return None
    labels = np.asarray(groups)
    if labels.shape != (n_features,):
        raise ValueError(
            f"groups must have one label for each of the {n_features} features; got an array of "
            f"shape {labels.shape}"
        )
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError("groups must not contain NaN or infinity")
    return np.asarray(np.unique(labels, return_inverse=True)[1]).reshape(-1)


def make_penalty(
    name: str, l1_ratio: float = 0.5, groups: ArrayLike | None = None, n_features: int | None = None
) -> Penalty:
    """Return the penalty of this name.

    Parameters
    ----------
    name : {"l2", "l1", "elasticnet", "group"}
        A key of ``PENALTIES``.
    l1_ratio : float, default=0.5
        For "elasticnet": the share of the l1 norm, from 0 to 1. With 0 it is "l2".
    groups : array-like of shape (n_features,), optional
        For "group": a label for each feature.
    n_features : int, optional
        The number of features; by default the number of labels.

    Returns
    -------
    Penalty

    Raises
    ------
    ValueError
        If there is no such name, or if ``l1_ratio`` or ``groups`` make no sense.

    Examples
    --------
    >>> make_penalty("elasticnet", l1_ratio=0.2)
    ElasticNet(l1_ratio=0.2)
    """
    check_choice("penalty", name, tuple(PENALTIES))
    is_number = isinstance(l1_ratio, (int, float, np.number)) and not isinstance(l1_ratio, bool)
    if not (is_number and 0 <= l1_ratio <= 1):
        raise ValueError(f"l1_ratio must be a number from 0 to 1; got {l1_ratio!r}")
    if groups is not None and name != "group":
        raise ValueError(f"groups are for penalty='group'; got penalty={name!r}")
    if groups is None:
        return PENALTIES[name](float(l1_ratio), None)
    size = np.size(groups) if n_features is None else n_features
    return PENALTIES[name](float(l1_ratio), group_numbers(groups, size))
