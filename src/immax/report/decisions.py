"""The part of the page about decisions: the rule, what it is worth, and what others would be."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from immax.arrays import Array
from immax.compare import Answer, Comparison
from immax.decisions import Accuracy, Aim, Budget, Costs, Rule, fit_rule, rule_of
from immax.decisions.confusion import precisions, recalls
from immax.decisions.rules import rarer_class
from immax.decisions.scorers import ScorerAim
from immax.plain_rules import highest_argmax
from immax.report.pictures import Picture, draw_decision_curve, draw_threshold_curve

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

__all__ = ["DecisionSection", "OtherShares", "Sweep", "describe_decisions", "sweep_rule"]

MAX_SLIDER_CLASSES = 12
POSITIONS = 101  # of the slider
FREQUENCIES = (0.5, 1.0, 2.0, 5.0)  # of the rarest class, times its share in the data


@dataclass(frozen=True)
class OtherShares:
    """What the decisions would be worth if the rarest class were more or less frequent.

    Parameters
    ----------
    times, share : float
        How much more frequent it is, and its share then.
    kept, adapted : float
        The value of the rule as it is, and of the rule for the new shares.
    recall, precision : float
        Of the rarest class, by the rule for the new shares.
    rule : str
        The rule for the new shares in words.
    """

    times: float
    share: float
    kept: float
    adapted: float
    recall: float
    precision: float
    rule: str


@dataclass(frozen=True, eq=False)
class Sweep:
    """The rule and those beside it.

    Parameters
    ----------
    positions : ndarray of shape (m,)
        Thresholds of two classes, ascending; for more classes, factors of the gains of the rarest.
    tables : ndarray of shape (m, c, c)
        The confusion matrix at each.
    start : int
        The position of the rule itself.
    """

    positions: Array
    tables: Array
    start: int


@dataclass(frozen=True)
class DecisionSection:
    """The decisions of the recommended method.

    Parameters
    ----------
    method, title, rule : str
        The method, what decisions are for, and the rule in words.
    value, low, high : float
        What the method was worth on the test folds, with its 95 % interval.
    higher_is_better : bool
    positive : str
        The class that the slider is about: the rarest one.
    curve, benefit : Picture or None
        The value at every threshold, and the decision curve.
    shares : tuple of OtherShares
        Other frequencies of the rarest class.
    shares_title : str
        What their values are: the accuracy where decisions have no aim of their own.
    slider : str
        What the slider needs, as JSON; empty if there are too many classes.
    class_names : tuple of str
    """

    method: str
    title: str
    rule: str
    value: float
    low: float
    high: float
    higher_is_better: bool
    positive: str
    curve: Picture | None
    benefit: Picture | None
    shares: tuple[OtherShares, ...]
    shares_title: str
    slider: str
    class_names: tuple[str, ...]


def describe_decisions(
    comparison: Comparison, answer: Answer, models: Mapping[str, Pipeline]
) -> DecisionSection | None:
    """Collect what the page shows about decisions.

    Parameters
    ----------
    comparison : Comparison
    answer : Answer
    models : mapping of str to Pipeline
        Fitted to all rows; that of the recommended method has the rule.

    Returns
    -------
    DecisionSection or None
        None if the recommended method has no probabilities.
    """
    pooled = comparison.pooled(answer.recommended, for_decisions=True)
    if pooled.proba is None:
        return None
    scorer = comparison.scorer
    aim = Accuracy() if scorer.aim is None or isinstance(scorer.aim, ScorerAim) else scorer.aim
    rule = _rule_of(models.get(answer.recommended), comparison)
    rare = rarest_class(comparison.counts)
    name = comparison.class_names[rare]
    row = answer.row(answer.recommended)
    sweep = sweep_rule(rule, pooled.proba, pooled.y, rare)
    curve = benefit = None
    if rule.count is None:
        curve = draw_threshold_curve(
            sweep.positions,
            _values(aim, sweep.tables, rare),
            sweep.start,
            tolerance=(row.value_high - row.value_low) / 4,
            aim=aim,
            class_name=name,
            two_classes=len(comparison.classes) == 2,
        )
        benefit = draw_decision_curve(comparison, answer, rare)
    return DecisionSection(
        method=row.title,
        title=answer.title,
        rule=str(rule),
        value=row.measures[answer.metric],
        low=row.value_low,
        high=row.value_high,
        higher_is_better=scorer.higher_is_better,
        positive=name,
        curve=curve,
        benefit=benefit,
        shares=() if rule.count is not None else _other_shares(aim, rule, pooled, rare),
        shares_title=answer.title if aim is scorer.aim else "accuracy",
        slider=_slider(aim, sweep, comparison, rare),
        class_names=tuple(comparison.class_names),
    )


def rarest_class(counts: Array) -> int:
    """Return the rarest class; of two equally frequent ones the second, as aims do.

    Parameters
    ----------
    counts : ndarray of shape (c,)

    Returns
    -------
    int
    """
    return rarer_class(counts) if len(counts) == 2 else int(np.argmin(counts))


def _rule_of(model: Pipeline | None, comparison: Comparison) -> Rule:
    """Return the rule of a model; that of methods without one predicts the most probable class."""
    own = None if model is None else rule_of(model[-1])
    if own is not None:
        return own
    prior = comparison.counts / comparison.counts.sum()
    positive = rarer_class(comparison.counts) if len(prior) == 2 else None
    return Rule(comparison.classes, np.eye(len(prior)), prior, "accuracy", positive)


def sweep_rule(rule: Rule, proba: Array, y: Array, rare: int) -> Sweep:
    """Return the confusion matrices of a rule and of rules beside it.

    Parameters
    ----------
    rule : Rule
    proba : ndarray of shape (n, c)
        Of held-out rows.
    y : ndarray of shape (n,)
        Codes of their classes.
    rare : int
        The class whose threshold or weight is varied.

    Returns
    -------
    Sweep
    """
    c = proba.shape[1]
    threshold = rule.threshold
    positions: Array
    if c == 2 and threshold is not None:
        if rule.positive != rare:
            threshold = 1 - threshold
        p = proba[:, rare]
        inner = np.quantile(p, np.linspace(0, 1, POSITIONS - 2))
        positions = np.unique(np.round(np.r_[0.0, inner, threshold, 1.0], 6))
        act = p[:, None] >= positions
        decisions = np.where(act, rare, 1 - rare)
        start = int(np.argmin(np.abs(positions - threshold)))
    elif rule.count is not None:
        positions, start = np.ones(1), 0
        decisions = rule.decide(proba)[:, None]
    else:
        positions = np.geomspace(0.01, 100, POSITIONS)
        start = POSITIONS // 2
        # A row of the rarest class counts as so many: its gains, or costs, are multiplied.
        of_rare = proba[:, [rare]] * rule.gains[rare]
        whole = proba @ rule.gains
        decisions = np.stack([highest_argmax(whole + (t - 1) * of_rare) for t in positions], axis=1)
    cells = y[:, None] * c + decisions
    tables = np.stack([np.bincount(own, minlength=c * c).reshape(c, c) for own in cells.T])
    return Sweep(positions, tables, start)


def _values(aim: Aim, tables: Array, rare: int) -> Array:
    values = aim.value(tables.astype(np.float64), rare)
    return -values if isinstance(aim, Costs) else values


def _other_shares(aim: Aim, rule: Rule, pooled: object, rare: int) -> tuple[OtherShares, ...]:
    """Weigh the rows of the classes as if the rarest one were more or less frequent."""
    y, proba = pooled.y, pooled.proba  # type: ignore[attr-defined]
    c = proba.shape[1]
    prior = np.bincount(y, minlength=c) / len(y)
    results = []
    for times in FREQUENCIES:
        share = times * prior[rare]
        if share > 0.9:
            continue
        actual = prior * (1 - share) / (1 - prior[rare])
        actual[rare] = share
        weight = (actual / prior)[:, None]
        adapted = _adapted_rule(aim, rule, pooled, actual / prior, actual)
        kept_table, table = (
            weight * np.bincount(y * c + own.decide(proba), minlength=c * c).reshape(c, c)
            for own in (rule, adapted)
        )
        results.append(
            OtherShares(
                times,
                float(share),
                float(_values(aim, kept_table[None], rare)[0]),
                float(_values(aim, table[None], rare)[0]),
                float(np.nan_to_num(recalls(table)[rare])),
                float(precisions(table)[rare]),
                str(adapted).partition(", that is")[0],
            )
        )
    return tuple(results)


def _adapted_rule(aim: Aim, rule: Rule, pooled: object, weight: Array, actual: Array) -> Rule:
    """Return the rule for other class shares; that of a budget is fitted to weighted rows."""
    if not isinstance(aim, Budget) or rule.aim != aim.name or rule.count is not None:
        return rule.for_prior(actual)
    y, proba = pooled.y, pooled.proba  # type: ignore[attr-defined]
    classes = rule.classes
    own = classes[int(rule.positive or 0)]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "no threshold has", UserWarning)
        return fit_rule(proba, classes[y], aim, weight[y], classes=classes, pos_label=own)


def _slider(aim: Aim, sweep: Sweep, comparison: Comparison, rare: int) -> str:
    """Return what the slider needs as JSON."""
    c = len(comparison.classes)
    if c > MAX_SLIDER_CLASSES or sweep.positions.size < 2:
        return ""
    content = {
        "positions": [float(f"{value:.6g}") for value in sweep.positions],
        "tables": sweep.tables.reshape(len(sweep.tables), -1).tolist(),
        "start": sweep.start,
        "rare": rare,
        "classes": list(comparison.class_names),
        "costs": _costs_of_errors(aim, comparison.counts),
        "twoClasses": c == 2,
    }
    return json.dumps(content, separators=(",", ":"))


def _costs_of_errors(aim: Aim, counts: Array) -> Sequence[float]:
    """Return what an error on each class costs at the start: by the aim, or by how rare it is."""
    if isinstance(aim, Costs):
        matrix = aim.matrix(np.arange(len(counts)))[:, : len(counts)]
        errors = matrix.sum(axis=1) / (len(counts) - 1)
        return [float(f"{value:.4g}") for value in errors]
    return [float(f"{value:.2g}") for value in counts.max() / counts]
