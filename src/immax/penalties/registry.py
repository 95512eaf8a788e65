"""The list of penalties by name, and the function that makes one of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from immax.arrays import Array
from immax.penalties.base import Penalty
from immax.penalties.elastic_net import ElasticNet
from immax.penalties.group import GroupNorm
from immax.penalties.l1 import L1Norm
from immax.penalties.l2 import SquaredL2
from immax.validation import check_choice, nearest

__all__ = ["PENALTIES", "Groups", "group_numbers", "make_penalty", "order_groups"]

Groups: TypeAlias = ArrayLike | Mapping[Any, Any]
"""Labels of features, in their order or by their names."""


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


def order_groups(groups: Groups, n_features: int, names: ArrayLike | None = None) -> ArrayLike:
    """Return the labels of groups in the order of the features.

    Parameters
    ----------
    groups : array-like of shape (n_features,), Series or mapping
        Labels. Those of a Series or a mapping are by the name of a feature, or by its number.
    n_features : int
        The number of features.
    names : array-like of str, shape (n_features,), optional
        The names of the features, if they have any.

    Returns
    -------
    array-like

    Raises
    ------
    ValueError
        If a feature has no label, or labels are by name and features have none.

    Examples
    --------
    >>> order_groups({"red": "colour", "age": "age"}, 2, ["age", "red"])
    ['age', 'colour']
    """
    own = _by_name(groups)
    if own is None:
        return groups  # type: ignore[return-value]
    numbered = all(isinstance(key, (int, np.integer)) for key in own)
    if numbered and (len(own) != n_features or set(own) == set(range(n_features))):
        return [own[key] for key in sorted(own)]
    if names is None:
        raise ValueError(
            f"groups have names, such as {next(iter(own))!r}, but the features have none: pass X "
            "as a data frame, or groups as a list in the order of the columns"
        )
    missing = [str(name) for name in np.asarray(names) if name not in own]
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        known = nearest(missing[0], map(str, own))
        raise ValueError(f"groups have no label for the feature {missing[0]!r}{more}{known}")
    return [own[name] for name in np.asarray(names)]


def _by_name(groups: Groups) -> dict[Any, Any] | None:
    """Return the labels of a mapping or a Series by name, or None for other arrays."""
    if isinstance(groups, Mapping):
        return dict(groups)
    if not hasattr(groups, "iloc") or np.ndim(groups) != 1:
        return None
    index: Any = groups.index  # type: ignore[union-attr]
    if not index.is_unique:
        twice = index[index.duplicated()][0]
        raise ValueError(f"groups have more than one label for the feature {twice!r}")
    return dict(zip(index.tolist(), np.asarray(groups).tolist(), strict=True))


def group_numbers(
    groups: Groups | None, n_features: int, names: ArrayLike | None = None
) -> Array | None:
    """Return the number of each feature's group.

    Parameters
    ----------
    groups : array-like of shape (n_features,), Series, mapping or None
        A label for each feature, of any kind; features with the same label are a group.
    n_features : int
        The number of features.
    names : array-like of str, shape (n_features,), optional
        The names of the features, by which a Series or a mapping is read.

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
    labels = np.asarray(order_groups(groups, n_features, names))
    if labels.shape != (n_features,):
        raise ValueError(
            f"groups must have one label for each of the {n_features} features; got an array of "
            f"shape {labels.shape}"
        )
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError("groups must not contain NaN or infinity")
    return np.asarray(np.unique(labels, return_inverse=True)[1]).reshape(-1)


def make_penalty(
    name: str,
    l1_ratio: float = 0.5,
    groups: Groups | None = None,
    n_features: int | None = None,
    names: ArrayLike | None = None,
) -> Penalty:
    """Return the penalty of this name.

    Parameters
    ----------
    name : {"l2", "l1", "elasticnet", "group"}
        A key of ``PENALTIES``.
    l1_ratio : float, default=0.5
        For "elasticnet": the share of the l1 norm, from 0 to 1. With 0 it is "l2".
    groups : array-like of shape (n_features,), Series or mapping, optional
        For "group": a label for each feature.
    n_features : int, optional
        The number of features; by default the number of labels.
    names : array-like of str, shape (n_features,), optional
        The names of the features, by which a Series or a mapping is read.

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
    if n_features is None:
        own = _by_name(groups)
        groups = groups if own is None else list(own.values())
        n_features = np.size(groups)  # type: ignore[arg-type]
    return PENALTIES[name](float(l1_ratio), group_numbers(groups, n_features, names))
