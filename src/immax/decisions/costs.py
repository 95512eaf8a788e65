"""The aim of the least expected cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from immax.arrays import Array
from immax.class_vectors import in_class_order
from immax.decisions.aim import Aim
from immax.plain_rules import check_cost_values, check_costs

__all__ = ["Costs"]


@dataclass(frozen=True)
class Costs(Aim):
    """The least expected cost.

    Parameters
    ----------
    costs : array-like of shape (c,) or (c, c), or dict by label
        The cost of an error on each class, or at (k, j) the cost of predicting class j when k
        is true, in the order of the classes. A dict may name the costs of errors by label.
    abstain : float, optional
        The cost of not deciding. By default every sample is decided.

    Examples
    --------
    >>> Costs([1.0, 10.0]).matrix(np.array(["ok", "fraud"]))
    array([[ 0.,  1.],
           [10.,  0.]])
    """

    costs: ArrayLike | Mapping[object, float]
    abstain: float | None = None

    @property
    def name(self) -> str:
        return "costs"

    def __post_init__(self) -> None:
        own: Any
        if isinstance(self.costs, Mapping):
            own = dict(self.costs)  # a copy, which its owner does not change
            values = check_cost_values(list(own.values()))
        else:
            values = check_cost_values(self.costs)
            own = _as_tuples(values.tolist())
        if values.ndim not in (1, 2) or (values.ndim == 2 and values.shape[0] != values.shape[1]):
            raise ValueError(
                "costs must have one entry per class, or one row and column per class; got shape "
                f"{values.shape}"
            )
        if self.abstain is not None and not (np.isfinite(self.abstain) and self.abstain >= 0):
            raise ValueError(f"abstain must be a finite cost of at least 0; got {self.abstain!r}")
        object.__setattr__(self, "costs", own)

    def __hash__(self) -> int:
        own = self.costs
        return hash((frozenset(own.items()) if isinstance(own, Mapping) else own, self.abstain))

    def matrix(self, classes: Array) -> Array:
        """Return the cost of every decision for every true class, shape (c, a).

        Parameters
        ----------
        classes : ndarray of shape (c,)
            In whose order the matrix is.

        Returns
        -------
        ndarray of shape (c, c), or (c, c + 1) if there is a cost of abstaining
        """
        given = self.costs
        if isinstance(given, Mapping):
            given = in_class_order(given, classes, "costs", "cost")
        costs = check_costs(given, len(classes))
        if self.abstain is not None:
            costs = np.column_stack([costs, np.full(len(classes), float(self.abstain))])
        return costs

    def value(self, confusion: Array, positive: int = 1) -> Array:  # noqa: ARG002
        if isinstance(self.costs, Mapping):
            raise ValueError("costs by label have no order: pass them in the order of the classes")
        costs = self.matrix(np.arange(confusion.shape[-2]))
        total = confusion.sum(axis=(-2, -1))
        return np.asarray(-(confusion * costs).sum(axis=(-2, -1)) / total)

    def for_classes(self, classes: Array) -> Costs:
        """Return the same costs in the order of the classes.

        Parameters
        ----------
        classes : ndarray of shape (c,)

        Returns
        -------
        Costs
        """
        matrix = self.matrix(classes)[:, : len(classes)]
        return Costs(matrix, self.abstain)

    def gains(self, classes: Array, prior: Array) -> Array:  # noqa: ARG002
        return -self.matrix(classes)


def _as_tuples(values: Any) -> Any:
    return tuple(map(_as_tuples, values)) if isinstance(values, list) else values
