"""The answer of a comparison: a ranking with intervals, and a recommendation with its reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypedDict

import numpy as np

from immax.compare.gains import GroupedValues
from immax.compare.results import Comparison
from immax.compare.wording import Finding, describe_finding, describe_limits
from immax.decisions.rules import Rule
from immax.errors import WrongCall
from immax.evaluation.candidates import CANDIDATES, PLAIN
from immax.evaluation.statistics import holm

__all__ = ["PREFERENCES", "Answer", "AnswerContent", "Row", "RowContent", "answer", "is_open"]

PREFERENCES = ("simplest", "best")
"""Which of the methods that are as good as the best one is recommended."""

LEVEL = 0.05
"""The significance level of a recommendation."""

REPEAT_CORRECTION = 2
"""The factor of p-values if repeats have followed because the answer was open: without it, looking
again and again would find a gain too often where there is none (``benchmarks/verdict.py``)."""

MAX_OPEN_P = 0.5
"""The p-value from which on repeats would not make a gain significant."""


class RowContent(TypedDict):
    """A ``Row`` as JSON holds it."""

    name: str
    title: str
    measures: dict[str, float]
    deviation: float
    gain: float
    low: float
    high: float
    p: float
    seconds: float
    value_low: float
    value_high: float


class AnswerContent(TypedDict):
    """An ``Answer`` as JSON holds it."""

    metric: str
    rows: list[RowContent]
    recommended: str
    sentence: str
    ties: list[str]
    rule: str


@dataclass(frozen=True)
class Row:
    """A method's metrics, and its gain over plain logistic regression on the same folds.

    Attributes
    ----------
    name, title : str
    measures : mapping of str to float
        The mean of each metric over the folds.
    deviation : float
        The standard deviation over the folds of the metric that methods are ranked by.
    gain : float
        The mean difference to plain logistic regression; positive if the method is better.
    low, high : float
        The 95 % confidence interval of the gain.
    p : float
        The p-value of no gain, corrected for the number of methods.
    seconds : float
        The time of all folds.
    value_low, value_high : float
        The 95 % confidence interval of the metric itself.
    """

    name: str
    title: str
    measures: Mapping[str, float]
    deviation: float
    gain: float
    low: float
    high: float
    p: float
    seconds: float
    value_low: float = 0.0
    value_high: float = 0.0

    def to_dict(self) -> RowContent:
        """Return the row as JSON holds it.

        Returns
        -------
        dict
        """
        return {
            "name": self.name,
            "title": self.title,
            "measures": dict(self.measures),
            "deviation": self.deviation,
            "gain": self.gain,
            "low": self.low,
            "high": self.high,
            "p": self.p,
            "seconds": self.seconds,
            "value_low": self.value_low,
            "value_high": self.value_high,
        }


@dataclass(frozen=True)
class Answer:
    """A ranking of methods, and which one to take.

    Attributes
    ----------
    metric : str
        The metric that methods are ranked by.
    rows : tuple of Row
        The best method first.
    recommended : str
        The name of the recommended method.
    sentence : str
        The recommendation and its reason.
    ties : tuple of str
        The methods that are not significantly worse than the best one.
    title : str
        The metric in words.
    rule : str
        The decision rule of the recommended model in words; empty if it is not known.
    """

    metric: str
    rows: tuple[Row, ...]
    recommended: str
    sentence: str
    ties: tuple[str, ...] = ()
    title: str = ""
    rule: str = ""

    def __post_init__(self) -> None:
        if not self.title:
            object.__setattr__(self, "title", self.metric.replace("_", " "))

    def with_rule(self, rule: Rule | None) -> Answer:
        """Return the answer with the decision rule of the recommended model in words.

        Parameters
        ----------
        rule : Rule or None
            Of the model that was fitted to all rows; None if it has none.

        Returns
        -------
        Answer
        """
        if rule is None:
            return self
        words = str(rule)
        sentence = f"{self.sentence} The rule of the recommended model: {words}."
        return replace(self, sentence=sentence, rule=words)

    def row(self, name: str) -> Row:
        """Return the row of a method.

        Parameters
        ----------
        name : str

        Returns
        -------
        Row
        """
        return next(row for row in self.rows if row.name == name)

    def to_dict(self) -> AnswerContent:
        """Return the answer as JSON holds it.

        Returns
        -------
        dict
        """
        return {
            "metric": self.metric,
            "rows": [row.to_dict() for row in self.rows],
            "recommended": self.recommended,
            "sentence": self.sentence,
            "ties": list(self.ties),
            "rule": self.rule,
        }


def answer(comparison: Comparison, prefer: str = "simplest") -> Answer:
    """Rank methods by the protocol's metric or aim, and recommend one.

    Folds and test rows are paired: the gain of a method is the mean of its differences to plain
    logistic regression over the folds. Its variance is that over the test rows, with part of the
    variance between folds on top, since their training sets overlap (``paired_gain``); p-values
    are corrected for the number of methods after Holm, and doubled if rows were split again
    because the answer was open.

    Methods that are not significantly worse than the best one are tied with it.

    Parameters
    ----------
    comparison : Comparison
    prefer : {"simplest", "best"}, default="simplest"
        Which of the tied methods is recommended. The simplest is plain logistic regression, then
        come linear models, resampling, kernels and trees.

    Returns
    -------
    Answer

    Raises
    ------
    WrongCall
        If ``prefer`` is another word.
    """
    if prefer not in PREFERENCES:
        raise WrongCall(f"prefer must be one of {', '.join(PREFERENCES)}; got {prefer!r}")
    scorer = comparison.scorer
    values = GroupedValues(comparison)
    scores = {name: comparison.scores(name) for name in comparison.complete}
    gains = {name: values.gain(name, PLAIN) for name in scores}
    others = [name for name in scores if name != PLAIN]
    correction = 1 if len(comparison.splits) <= comparison.planned_folds else REPEAT_CORRECTION
    p = holm([min(1.0, correction * gains[name].p) for name in others])
    corrected = dict(zip(others, p, strict=True))
    rows = []
    for name, own in scores.items():
        value = values.value(name)
        low, high = sorted((scorer.sign * value.low, scorer.sign * value.high))
        rows.append(
            Row(
                name=name,
                title=CANDIDATES[name].title,
                measures={key: float(np.mean([fold[key] for fold in own])) for key in own[0]},
                deviation=float(np.std([fold[scorer.name] for fold in own], ddof=1)),
                gain=gains[name].mean,
                low=gains[name].low if name != PLAIN else 0.0,
                high=gains[name].high if name != PLAIN else 0.0,
                p=float(corrected.get(name, 1.0)),
                seconds=sum(result.seconds for result in comparison.fold_results[name]),
                value_low=low,
                value_high=high,
            )
        )
    # Of equal methods the simpler is first; times would make the order depend on the machine.
    rows.sort(
        key=lambda row: (-scorer.sign * row.measures[scorer.name], CANDIDATES[row.name].effort)
    )
    ties = _ties(values, [row.name for row in rows], corrected, correction)
    best = rows[0].name
    chosen = best if prefer == "best" else min([best, *ties], key=lambda n: CANDIDATES[n].effort)
    finding = Finding(
        title=scorer.title,
        rows=tuple(rows),
        chosen=next(row for row in rows if row.name == chosen),
        ahead=values.gain(best, chosen),
        ties=tuple(ties),
        name=scorer.name,
        repeats=comparison.repeats,
    )
    sentence = " ".join([describe_finding(finding), *describe_limits(comparison)]).strip()
    return Answer(scorer.name, tuple(rows), chosen, sentence, tuple(ties), scorer.title)


def is_open(comparison: Comparison) -> bool:
    """Return whether further repeats may show that a method is better than plain regression.

    Parameters
    ----------
    comparison : Comparison

    Returns
    -------
    bool
        Whether the best method is ahead, but not certainly so: the p-value of its gain is between
        ``LEVEL`` and ``MAX_OPEN_P``.
    """
    if len(comparison.complete) < 2:
        return False
    best = answer(comparison).rows[0]
    return best.name != PLAIN and LEVEL <= best.p < MAX_OPEN_P


def _ties(
    values: GroupedValues, ranked: Sequence[str], corrected: Mapping[str, float], correction: int
) -> list[str]:
    """Return the methods that are not significantly worse than the best one, in their order."""
    best, *others = ranked
    p = holm([min(1.0, correction * values.gain(best, name).p) for name in others])
    worse = {name: own < LEVEL for name, own in zip(others, p, strict=True)}
    if best != PLAIN:
        worse[PLAIN] = corrected[best] < LEVEL  # the p-value that the ranking shows
    return [name for name in others if not worse[name]]
