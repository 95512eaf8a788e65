"""Rules in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from immax.decisions.rules import Rule

__all__ = ["rule_in_words"]

MOST_WEIGHTS = 12  # that are listed


def rule_in_words(rule: Rule) -> str:
    """Return what a rule does, as ``print`` shows it.

    Parameters
    ----------
    rule : Rule

    Returns
    -------
    str
    """
    if rule.count is not None:
        label = rule.classes[int(rule.positive or 0)]
        return f"predict {label!s} for the {rule.count} rows where it is most probable"
    if rule.threshold is not None:
        return _threshold_in_words(rule, rule.threshold)
    if rule.weights is not None and np.ptp(rule.weights) == 0:
        return "predict the most probable class"
    if rule.weights is not None:
        smallest = rule.weights[rule.weights > 0].min()
        each = [
            f"{label!s}: {weight / smallest:.3g}"
            for label, weight in zip(rule.classes, rule.weights, strict=True)
        ]
        shown = ", ".join(each[:MOST_WEIGHTS]) + (", …" if len(each) > MOST_WEIGHTS else "")
        return f"predict the class with the largest weight times probability ({shown})"
    end = ", or none where that is cheaper" if rule.abstains else ""
    return f"predict the class of the largest expected gain{end}"


def _threshold_in_words(rule: Rule, threshold: float) -> str:
    positive = int(rule.positive or 0)
    if not 0 <= threshold <= 1:
        return f"predict {rule.classes[1 - positive if threshold > 1 else positive]!s} always"
    exceeds = "at least" if positive == 1 else "more than"  # on a tie the higher index wins
    share = rule.prior[positive]
    times = f"{threshold / share:.2g} times"
    return (
        f"predict {rule.classes[positive]!s} when its probability is {exceeds} {threshold:.3g}, "
        f"that is {'about' if times == '1 times' else times} its share of {100 * share:.3g} %"
    )
