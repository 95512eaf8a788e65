"""Scores of held-out samples by all cells of a search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from immax.arrays import Array

__all__ = ["HeldOutCells", "PointTerms"]


@dataclass(frozen=True)
class PointTerms:
    """What the models of one point of a family have for each class.

    Attributes
    ----------
    margins, weights : ndarray of shape (n_models, c)
        Margins and class weights; they depend on the class counts of the training part.
    """

    margins: Array
    weights: Array


@dataclass(frozen=True)
class HeldOutCells:
    """Scores of samples by models that were not fitted to them, for all cells.

    Attributes
    ----------
    values : ndarray of shape (n_points, n_penalties, n, k)
        The scores; k is one for two classes.
    terms : sequence of PointTerms
        Margins and weights of the models of each point.
    rows : ndarray of int, shape (n,)
        The samples.
    model_index : ndarray of int, shape (n,)
        Which of a point's models scored each sample.
    groups : sequence of ndarray of int
        The positions of the samples of each test.
    fit_times : ndarray of shape (n_points, n_penalties, n_tests)
        Seconds.
    """

    values: Array
    terms: Sequence[PointTerms]
    rows: Array
    model_index: Array
    groups: Sequence[Array]
    fit_times: Array

    @classmethod
    def pool(cls, parts: Sequence[HeldOutCells]) -> Self:
        """Return the held-out samples of all folds together.

        Parameters
        ----------
        parts : sequence of HeldOutCells
            The same cells, on the test parts of several folds.

        Returns
        -------
        HeldOutCells
        """
        groups, index = list[Array](), list[Array]()
        n, models = 0, 0
        for part in parts:
            groups += [rows + n for rows in part.groups]
            index.append(part.model_index + models)
            n += part.rows.size
            models += len(part.terms[0].margins)
        terms = [
            PointTerms(
                np.concatenate([part.terms[i].margins for part in parts]),
                np.concatenate([part.terms[i].weights for part in parts]),
            )
            for i in range(len(parts[0].terms))
        ]
        return cls(
            np.concatenate([part.values for part in parts], axis=2),
            terms,
            np.concatenate([part.rows for part in parts]),
            np.concatenate(index),
            groups,
            np.concatenate([part.fit_times for part in parts], axis=2),
        )
