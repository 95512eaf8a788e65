"""Decisions from class probabilities, on the device.

The rules are those of ``immax.plain_rules`` and ``immax.decisions``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from immax.decisions.aims import Aim, Budget
from immax.decisions.fitting import resolve_aim
from immax.decisions.rules import Rule
from immax.plain_rules import check_costs

__all__ = ["RuleLike", "decide", "decide_by_rule", "highest_argmax", "rule_of"]

RuleLike: TypeAlias = str | Rule | Aim
"""A rule, "bayes", or an aim that needs no held-out samples, as an object or by name."""


def highest_argmax(values: Tensor) -> Tensor:
    """Return the class of the largest value, the highest class number on a tie.

    Parameters
    ----------
    values : Tensor of shape (N, C, …)
        Classes are along dimension 1.

    Returns
    -------
    Tensor of int64, shape (N, …)
    """
    return values.shape[1] - 1 - values.flip(1).argmax(1)


def decide(proba: Tensor, costs: ArrayLike | Tensor | None = None) -> Tensor:
    """Return the most probable class, or the class of least expected cost.

    Parameters
    ----------
    proba : Tensor of shape (N, C, …)
        Class probabilities, along dimension 1.
    costs : array-like of shape (C,) or (C, C), optional
        The cost of an error on each class, or at (k, j) the cost of predicting j when k is true.

    Returns
    -------
    Tensor of int64, shape (N, …)
        The highest class number on a tie.

    Raises
    ------
    ValueError
        If the costs have another shape, are negative, or not finite.
    """
    if costs is None:
        return highest_argmax(proba)
    c = proba.shape[1]
    if not torch.compiler.is_compiling():  # values are not known then
        check_costs(costs.detach().cpu() if isinstance(costs, Tensor) else costs, c)
    matrix = torch.as_tensor(costs, dtype=proba.dtype, device=proba.device)
    if matrix.shape == (c,):
        matrix = matrix.unsqueeze(1) * (1 - torch.eye(c, dtype=proba.dtype, device=proba.device))
    if matrix.shape != (c, c):
        raise ValueError(f"costs must have shape ({c},) or ({c}, {c}); got {tuple(matrix.shape)}")
    return _largest_gain(proba, -matrix)


def decide_by_rule(proba: Tensor, rule: Rule) -> Tensor:
    """Return the decisions of a rule.

    Parameters
    ----------
    proba : Tensor of shape (N, C, …)
        Class probabilities, along dimension 1.
    rule : Rule
        Its classes are those of the logits, in their order.

    Returns
    -------
    Tensor of int64, shape (N, …)
        The index of a class, and C where the rule abstains.

    Raises
    ------
    ValueError
        If the rule is for another number of classes.
    """
    c = proba.shape[1]
    if len(rule.classes) != c:
        raise ValueError(f"the rule is for {len(rule.classes)} classes, the logits have {c}")
    if rule.count is None:
        gains = torch.tensor(rule.gains, dtype=proba.dtype, device=proba.device)
        return _largest_gain(proba, gains)
    if proba.ndim != 2:
        raise ValueError(
            f"a rule with a count needs probabilities of shape (N, C); got {tuple(proba.shape)}"
        )
    positive = int(rule.positive or 0)
    order = torch.argsort(proba[:, positive], descending=True, stable=True)
    decisions = torch.full_like(order, 1 - positive)
    return decisions.index_fill(0, order[: rule.count], positive)


def rule_of(rule: RuleLike, n_classes: int, counts: Sequence[float] | None) -> Rule:
    """Return the rule that serves an aim by a closed form.

    Parameters
    ----------
    rule : Rule, Aim or str
        A rule as it is; an aim, or the name of one.
    n_classes : int
        The number of classes.
    counts : sequence of float, or None
        The class counts of the training data, from which the class shares come.

    Returns
    -------
    Rule

    Raises
    ------
    TypeError, ValueError
        If there is no such aim, it has no closed form, or it needs counts that are not known.
    """
    if isinstance(rule, Rule):
        return rule
    if not isinstance(rule, (str, Aim)):
        raise TypeError(
            f"rule must be 'score', 'bayes', a Rule or an aim; got {type(rule).__name__}"
        )
    try:
        aim = resolve_aim(rule)
    except ValueError as error:
        raise ValueError(
            "rule must be 'score' (without costs), 'bayes', a Rule, or an aim such as "
            f"'balanced_accuracy'; got {rule!r}"
        ) from error
    classes = np.arange(n_classes)
    shares = np.ones(n_classes) if counts is None else np.asarray(counts, dtype=np.float64)
    known = counts is not None and shares.size == n_classes
    prior = shares / shares.sum() if known else np.full(n_classes, 1 / n_classes)
    count = aim.count if isinstance(aim, Budget) else None
    if count is not None and n_classes != 2:
        raise ValueError(f"{aim.name} is for two classes; there are {n_classes}")
    gains = np.eye(2) if count is not None else aim.gains(classes, prior)
    if gains is None:
        raise ValueError(
            f"{aim.name} has no closed form: fit a rule to held-out samples, "
            f"fit_rule(criterion.proba(logits).numpy(), y, {rule!r}), and pass it"
        )
    other = aim.gains(classes, np.arange(1.0, n_classes + 1))  # None: the rarer class is flagged
    if not known and (other is None or not np.array_equal(gains, other)):
        raise ValueError(
            f"{aim.name} needs the class shares, which the loss does not know: make it with "
            "counts=, labels= or dataset=, or pass a Rule"
        )
    return Rule(classes, gains, prior, aim.name, count=count)


def _largest_gain(proba: Tensor, gains: Tensor) -> Tensor:
    expected = torch.tensordot(proba.movedim(1, -1), gains, dims=1)
    return highest_argmax(expected.movedim(-1, 1))
