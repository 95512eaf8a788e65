"""Fitted classifiers whose labels are those of a rule."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from immax.arrays import Array, Features
from immax.decisions.fitted_wrapper import FittedWrapper
from immax.decisions.rules import Rule
from immax.documentation import DocumentationLink

__all__ = ["DecidedModel", "DecidedScore", "check_decides", "rule_of"]


class DecidedScore:
    """The accuracy as the score of classifiers; those that abstain have none."""

    def score(self, X: Features, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy of the labels.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n, d)
        y : array-like of shape (n,)
            True labels.
        sample_weight : array-like of shape (n,), optional

        Returns
        -------
        float

        Raises
        ------
        ValueError
            If the rule may leave samples undecided.
        """
        check_decides(self)
        return float(super().score(X, y, sample_weight))  # type: ignore[misc]


class DecidedModel(DocumentationLink, DecidedScore, FittedWrapper):
    """A fitted classifier whose labels are those of a rule.

    Parameters
    ----------
    model : classifier
        Fitted, with probabilities.
    rule : Rule
        For its probabilities.
    """

    def __init__(self, model: Any, rule: Rule) -> None:
        self.model = model
        self.rule = rule

    @property
    def classes_(self) -> Array:
        """Return the labels."""
        return np.asarray(self.rule.classes)

    @property
    def rule_(self) -> Rule:
        """Return the rule, under the name that ``DecisionClassifierCV`` has for it."""
        return self.rule

    def predict(self, X: Features) -> Array:
        return self.rule.predict(self.predict_proba(X))


def rule_of(model: Any) -> Rule | None:
    """Return the rule by which a fitted classifier decides.

    Parameters
    ----------
    model : classifier
        A ``DecidedModel``, ``DecisionClassifierCV``, search with an aim, or any other classifier.

    Returns
    -------
    Rule or None
        None if it decides in another way.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> rule_of(LogisticRegression()) is None
    True
    """
    for name in ("rule_", "best_rule_"):
        rule = getattr(model, name, None)
        if isinstance(rule, Rule):
            return rule
    return None


def check_decides(model: Any) -> None:
    """Raise an error if a fitted classifier may leave samples undecided.

    Parameters
    ----------
    model : classifier

    Raises
    ------
    ValueError
        If its rule abstains.
    """
    rule = rule_of(model)
    if rule is not None and rule.abstains:
        raise ValueError(
            "the aim has a cost of not deciding (abstain), and metrics of labels are not defined "
            "where predict returns None: score the decided samples alone, or compare models by "
            "aim.for_classes(classes).value(table of true classes and decisions)"
        )
