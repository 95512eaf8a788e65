"""Fitted classifiers whose labels are those of a rule."""

from __future__ import annotations

from typing import Any

import numpy as np

from immax.arrays import Array, Features
from immax.decisions.fitted_wrapper import FittedWrapper
from immax.decisions.rules import Rule
from immax.documentation import DocumentationLink

__all__ = ["DecidedModel", "rule_of"]


class DecidedModel(DocumentationLink, FittedWrapper):
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
