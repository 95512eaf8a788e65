"""Held-out samples, scored by every decision rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from immax.arrays import Array, Features
from immax.search.predictions import HeldOutPredictions, HeldOutScores, log_probabilities
from immax.search.scoring import Scorer, group_means

__all__ = ["HeldOutScorer", "RuleScores"]


class RuleScores(NamedTuple):
    """Scores of the rules (rows) for groups of samples (columns), and the groups' log-losses."""

    scores: Array
    log_losses: Array


@dataclass(frozen=True)
class HeldOutScorer:
    """Labelled samples, and how their scores are turned into those of a search.

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
    loss : {"logistic", "hinge", "exponential"}
        The surrogate.
    rules : sequence of str
        The decision rules to be scored.
    scorer : Scorer
        By which they are scored.
    """

    X: Features
    y: Array
    weight: Array | None
    classes: Array
    loss: str
    rules: Sequence[str]
    scorer: Scorer

    def training_weight(self, train: Array) -> Array:
        """Return the weight of every sample in a fit to these rows; of others it is zero."""
        weight = np.zeros(self.y.size)
        np.add.at(weight, train, 1.0 if self.weight is None else self.weight[train])
        return weight

    def class_counts(self, weight: Array) -> Array:
        """Return the total weight of each class."""
        return np.bincount(self.y, weights=weight, minlength=self.classes.size)

    def subset(self, rows: Array) -> HeldOutScorer:
        """Return the scorer of some of the samples."""
        weight = None if self.weight is None else self.weight[rows]
        return replace(self, X=self.X[rows], y=self.y[rows], weight=weight)

    def score(
        self,
        scores: Array,
        rho: Array,
        groups: Sequence[Array] | None = None,
        model_index: Array | None = None,
    ) -> RuleScores:
        """Score the samples by every rule.

        Parameters
        ----------
        scores : ndarray of shape (n, c), or (n, 1) for two classes
            Scores of the classes by a model that was not fitted to the sample.
        rho : ndarray of shape (c,) or (n_models, c)
            The margins of the model, or of each of several.
        groups : sequence of ndarray of int, optional
            Rows that are scored together; by default all of them.
        model_index : ndarray of int, shape (n,), optional
            The row of the margins that belongs to each sample.

        Returns
        -------
        RuleScores
            Scores of every rule and group, and the log-loss of every group, which is zero for
            the hinge.
        """
        groups = [np.arange(self.y.size)] if groups is None else groups
        labels = self.classes[self.y]
        model = HeldOutPredictions(HeldOutScores(self.classes, scores, rho, self.loss, model_index))
        by_rule = [
            self.scorer.score_groups(model.with_rule(rule), self.X, labels, self.weight, groups)
            for rule in self.rules
        ]
        losses = np.zeros(len(groups))
        if self.loss != "hinge":
            losses[:] = group_means(-log_probabilities(model, labels), self.weight, groups)
        return RuleScores(np.array(by_rule), losses)
