"""Wrappers around a fitted classifier."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin

from immax.arrays import Array, Features

__all__ = ["FittedWrapper"]


class FittedWrapper(ClassifierMixin, BaseEstimator):
    """Base of wrappers around a fitted ``model``, which does all that they do not override."""

    model: Any

    @property
    def classes_(self) -> Array:
        """Return the labels."""
        return np.asarray(self.model.classes_)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: Features, y: ArrayLike) -> Self:
        """Fit the model again; the wrapper stays as it is.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,)
            Labels.

        Returns
        -------
        self
        """
        self.model.fit(X, y)
        return self

    def predict_proba(self, X: Features) -> Array:
        """Return the class probabilities, in the order of ``classes_``.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        ndarray of shape (n, c)
        """
        return np.asarray(self.model.predict_proba(X))

    def predict(self, X: Features) -> Array:
        """Return the labels.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)
        """
        return np.asarray(self.model.predict(X))
