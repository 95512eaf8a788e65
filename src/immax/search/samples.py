"""The samples of a search, and what every fold derives from them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from immax.arrays import Array, Features

__all__ = ["SearchSamples"]


@dataclass(frozen=True)
class SearchSamples:
    """Labelled samples that are in every fit, some of them without weight.

    Attributes
    ----------
    X : {ndarray, sparse matrix} of shape (n, d)
        Features.
    y : ndarray of int, shape (n,)
        Indices of classes.
    weight : ndarray of shape (n,), optional
        Sample weights.
    classes : ndarray of shape (c,)
        The labels.
    """

    X: Features
    y: Array
    weight: Array | None
    classes: Array

    def training_weight(self, train: Array) -> Array:
        """Return the weight of every sample in a fit to some of them.

        Parameters
        ----------
        train : ndarray of int
            The positions of the training samples; one that is repeated counts as often.

        Returns
        -------
        ndarray of shape (n,)
            Zero for all other samples.
        """
        weight = np.zeros(self.y.size)
        np.add.at(weight, train, 1.0 if self.weight is None else self.weight[train])
        return weight

    def class_counts(self, weight: Array) -> Array:
        """Return the total weight of each class.

        Parameters
        ----------
        weight : ndarray of shape (n,)
            Sample weights.

        Returns
        -------
        ndarray of shape (c,)
        """
        return np.bincount(self.y, weights=weight, minlength=self.classes.size)
