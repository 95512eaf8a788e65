"""By what the cells of a search over parts are compared, computed from sums over rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from immax.arrays import Array, Vector
from immax.boosting.rule_choice import closed_form_rule
from immax.decisions import Costs, LogLoss, Rule
from immax.search.cell_scores import AimCriterion, CellScores
from immax.search.criteria import Purpose, SearchGoal, resolve_purpose

__all__ = ["PartsCriterion", "parts_criterion"]

SCORINGS = (None, "accuracy", "neg_log_loss")


class PartsCriterion(NamedTuple):
    """A criterion, and the rules whose confusion matrices it needs."""

    purpose: Purpose
    rules: Sequence[str | Rule]
    by_loss: bool  # whether cells are compared by the log-loss

    def score(self, tables: Array, log_losses: Vector, sizes: Vector) -> CellScores:
        """Return the scores of a cell.

        Parameters
        ----------
        tables : ndarray of shape (n_folds, n_rules, c, actions)
            Confusion matrices of the held-out rows.
        log_losses, sizes : ndarray of shape (n_folds,)
            Sums of their log-losses and of their weights.

        Returns
        -------
        CellScores
        """
        criterion, rules = self.purpose.criterion, list(self.rules)
        if isinstance(criterion, AimCriterion) and not self.by_loss:
            own, positive = tables[:, 0], int(getattr(rules[0], "positive", None) or 0)
            aim, total = criterion.aim, own.sum(axis=0)
            if isinstance(aim, Costs):
                aim = aim.for_classes(rules[0].classes)  # type: ignore[union-attr]
            splits = np.asarray(aim.value(own, positive))
            without = np.asarray(aim.value(total - own, positive))
            return CellScores(
                rules, splits[None], np.array([aim.value(total, positive)]), without[None]
            )
        if self.by_loss:
            splits = np.repeat(-(log_losses / sizes)[None], len(rules), axis=0)
        else:
            splits = np.trace(tables, axis1=2, axis2=3).T / sizes
        n = splits.shape[1]
        totals = splits.mean(axis=1)
        if isinstance(criterion, AimCriterion):
            totals = np.array([-log_losses.sum() / sizes.sum()])
        return CellScores(rules, splits, totals, (n * totals[:, None] - splits) / (n - 1))


def parts_criterion(
    goal: SearchGoal, X: Any, y: Array, classes: Array, shares: Vector
) -> PartsCriterion:
    """Return the criterion of a search over parts.

    Parameters
    ----------
    goal : SearchGoal
        What the search is for.
    X : {ndarray, sparse matrix} of shape (n, d)
        Some rows.
    y : ndarray of shape (n,)
        Their labels.
    classes : ndarray of shape (c,)
        All labels.
    shares : ndarray of shape (c,)
        The share of each class.

    Returns
    -------
    PartsCriterion

    Raises
    ------
    ValueError
        If the criterion needs the predictions of all rows in one place.
    """
    purpose = resolve_purpose(goal, X, y, None, classes, True)
    criterion = purpose.criterion
    if purpose.others:
        raise ValueError("rows in parts are scored by one metric; got several in scoring")
    if isinstance(criterion, AimCriterion):
        rule = closed_form_rule(criterion.aim, classes, shares)
        if isinstance(criterion.aim, LogLoss):
            return PartsCriterion(purpose, [rule or "bayes"], True)
        if rule is None or rule.count is not None:
            raise ValueError(
                f"the rule for the aim {criterion.aim.name!r} has to be fitted to all held-out "
                "rows in one place: search by 'accuracy', 'balanced_accuracy', 'neg_log_loss' or "
                "costs, then DecisionClassifierCV(model, aim, cv='prefit') with the fitted model, "
                "or to_local() of one on Dask"
            )
        return PartsCriterion(purpose, [rule], False)
    if not (isinstance(goal.scoring, str) or goal.scoring is None) or (
        goal.scoring not in SCORINGS
    ):
        raise ValueError(
            f"scoring={goal.scoring!r} needs the predictions of all rows in one place; rows in "
            "parts are scored by 'accuracy', 'balanced_accuracy', 'neg_log_loss', an aim or costs"
        )
    return PartsCriterion(purpose, criterion.rules, goal.scoring == "neg_log_loss")  # type: ignore[attr-defined]
