"""Rules that need no data: in closed form, or the most probable class."""

from __future__ import annotations

import numpy as np

from immax.arrays import Array
from immax.decisions.aims import Aim, Budget
from immax.decisions.fitting import fit_rule
from immax.decisions.rules import Rule

__all__ = ["closed_form_rule", "most_probable_rule"]


def closed_form_rule(aim: Aim, classes: Array, prior: Array) -> Rule | None:
    """Return the rule of an aim that needs no data, such as costs or balanced accuracy.

    Parameters
    ----------
    aim : Aim
    classes : ndarray of shape (c,)
    prior : ndarray of shape (c,)
        The share of each class.

    Returns
    -------
    Rule or None
        None if the rule has to be fitted to probabilities of held-out samples.

    Examples
    --------
    >>> from immax.decisions import BalancedAccuracy, FBeta
    >>> rule = closed_form_rule(BalancedAccuracy(), np.array(["no", "yes"]), np.array([0.9, 0.1]))
    >>> round(rule.threshold, 3)
    0.1
    >>> closed_form_rule(FBeta(), np.array(["no", "yes"]), np.array([0.9, 0.1])) is None
    True
    """
    counted = isinstance(aim, Budget) and aim.count is not None
    if not counted and aim.gains(classes, prior) is None:
        return None
    c = len(classes)  # one sample of each class, as heavy as its share
    proba = np.full((c, c), 1 / c)
    return fit_rule(proba, classes, aim, prior, classes=classes, prior=prior)


def most_probable_rule(classes: Array, prior: Array) -> Rule:
    """Return the rule that decides for the most probable class.

    Parameters
    ----------
    classes : ndarray of shape (c,)
    prior : ndarray of shape (c,)
        The share of each class.

    Returns
    -------
    Rule
    """
    return Rule(classes, np.eye(len(classes)), prior, "accuracy")
