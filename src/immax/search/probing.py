"""What a scorer asks a classifier for, found out by perfect predictions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from immax.arrays import Array, Features
from immax.search.predictions import check_rows

__all__ = ["ProbingClassifier", "takes_weights"]


class ProbingClassifier(ClassifierMixin, BaseEstimator):
    """A classifier that is always right, and records which of its methods are called.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n, d)
        The samples that it may be asked about.
    y : ndarray of shape (n,)
        Their labels.
    classes : ndarray of shape (c,)
        All labels.
    """

    def __init__(self, X: Features, y: Array, classes: Array) -> None:
        self.X = X
        self.y = y
        self.classes = classes
        self.classes_ = classes
        self.requested: set[str] = set()

    def _indicators(self) -> Array:
        return np.equal.outer(self.y, self.classes).astype(np.float64)

    def predict(self, X: Features) -> Array:
        """Return the labels.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n, d)
            Features, whose rows are those of the samples.

        Returns
        -------
        ndarray of shape (n,)
        """
        check_rows(X, self.X)
        self.requested.add("predict")
        return self.y

    def decision_function(self, X: Features) -> Array:
        """Return scores of one and minus one, or indicators of several classes.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n, d)
            Features, whose rows are those of the samples.

        Returns
        -------
        ndarray of shape (n,) or (n, c)
        """
        check_rows(X, self.X)
        self.requested.add("decision_function")
        indicators = self._indicators()
        return 2 * indicators[:, 1] - 1 if len(self.classes) == 2 else indicators

    def predict_proba(self, X: Features) -> Array:
        """Return indicators of the labels.

        Parameters
        ----------
        X : {ndarray, sparse matrix} of shape (n, d)
            Features, whose rows are those of the samples.

        Returns
        -------
        ndarray of shape (n, c)
        """
        check_rows(X, self.X)
        self.requested.add("predict_proba")
        return self._indicators()


def takes_weights(
    function: Callable[..., float], model: ProbingClassifier, X: Features, y: Array, weight: Array
) -> bool:
    """Return whether a scorer takes ``sample_weight``.

    Parameters
    ----------
    function : callable
        The scorer.
    model : ProbingClassifier
        What it is called with.
    X, y, weight : ndarray
        Some samples.

    Returns
    -------
    bool
    """
    try:
        function(model, X, y, sample_weight=weight)
    except TypeError:
        return False
    return True
