"""The rows of a budget, among those of a table that is read in chunks."""

from __future__ import annotations

from typing import Any

import numpy as np

from immax.arrays import Array, Features
from immax.decisions import Rule, rule_of

__all__ = ["CountedRows", "counted_rule", "decision_proba"]


def counted_rule(model: Any) -> Rule | None:
    """Return the rule of a model if it predicts a class for a number of rows in each call.

    Parameters
    ----------
    model : classifier
        It may be a pipeline, or hold the classifier with the rule as its ``model``.

    Returns
    -------
    Rule or None
        None if the decision on a row does not depend on others.
    """
    while model is not None:
        rule = rule_of(model)
        if rule is not None:
            return rule if rule.count is not None else None
        model = model[-1] if hasattr(model, "steps") else getattr(model, "model", None)
    return None


def decision_proba(model: Any, X: Features) -> Array:
    """Return the probabilities to which the rule of a model is applied.

    Parameters
    ----------
    model : classifier
        One with a ``counted_rule``.
    X : {array-like, sparse matrix, data frame} of shape (n, d)

    Returns
    -------
    ndarray of shape (n, c)
    """
    if hasattr(model, "steps"):
        return decision_proba(model[-1], model[:-1].transform(X) if len(model) > 1 else X)
    if rule_of(model) is None:
        return decision_proba(model.model, X)
    return np.asarray(getattr(model, "decision_proba", model.predict_proba)(X))


class CountedRows:
    """The rows where a class is most probable, found chunk by chunk in little memory.

    Parameters
    ----------
    count : int
        The number of rows.

    Examples
    --------
    >>> rows = CountedRows(2)
    >>> rows.add(np.array([0.1, 0.9]))
    >>> rows.add(np.array([0.5, 0.2]))
    >>> rows.contains(0, 4)
    array([False,  True,  True, False])
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._seen = 0
        self._values: Array = np.empty(0)
        self._places: Array = np.empty(0, dtype=np.intp)

    def add(self, probabilities: Array) -> None:
        """Take note of the next rows.

        Parameters
        ----------
        probabilities : ndarray of shape (n,)
            Of the class.
        """
        values = np.r_[self._values, probabilities]
        places = np.r_[self._places, self._seen + np.arange(len(probabilities))]
        first = np.argsort(-values, kind="stable")[: self.count]  # earlier rows win ties
        self._values, self._places = values[first], places[first]
        self._seen += len(probabilities)

    def contains(self, begin: int, n: int) -> Array:
        """Return which of the ``n`` rows from ``begin`` on are among those of the budget.

        Parameters
        ----------
        begin, n : int

        Returns
        -------
        ndarray of bool, shape (n,)
        """
        return np.isin(np.arange(begin, begin + n), self._places)
