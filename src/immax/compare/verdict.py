"""The answer of a comparison: a ranking with intervals, and a recommendation with its reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypedDict

import numpy as np

from immax.compare.results import Comparison
from immax.evaluation.candidates import CANDIDATES, PLAIN
from immax.evaluation.metrics import METRICS
from immax.evaluation.statistics import holm, paired_interval, paired_p

__all__ = ["Answer", "AnswerContent", "Row", "RowContent", "answer"]

LEVEL = 0.05
"""The significance level of a recommendation."""


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


class AnswerContent(TypedDict):
    """An ``Answer`` as JSON holds it."""

    metric: str
    rows: list[RowContent]
    recommended: str
    sentence: str


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
    """

    metric: str
    rows: tuple[Row, ...]
    recommended: str
    sentence: str

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
        }


def answer(comparison: Comparison) -> Answer:
    """Rank methods by the protocol's metric, and recommend one.

    Folds are paired: the gain of a method is the mean of its differences to plain logistic
    regression. Because the training sets of different folds overlap, differences vary less than
    those of independent samples; variances are corrected for this after Nadeau and Bengio (2003),
    and p-values for the number of methods after Holm. A method is recommended over plain logistic
    regression only if it is the best and its gain is significant.

    Parameters
    ----------
    comparison : Comparison

    Returns
    -------
    Answer
    """
    metric = comparison.protocol.metric
    sign = METRICS[metric].sign
    overlap = 1 / (comparison.protocol.folds - 1)
    scores = {name: comparison.scores(name) for name in comparison.complete}
    values = {name: np.array([fold[metric] for fold in own]) for name, own in scores.items()}
    gains = {name: sign * (values[name] - values[PLAIN]) for name in values}
    others = [name for name in values if name != PLAIN]
    corrected = dict(
        zip(others, holm([paired_p(gains[name], overlap) for name in others]), strict=True)
    )
    rows = []
    for name, own in scores.items():
        low, high = paired_interval(gains[name], overlap=overlap)
        rows.append(
            Row(
                name=name,
                title=CANDIDATES[name].title,
                measures={key: float(np.mean([fold[key] for fold in own])) for key in own[0]},
                deviation=float(values[name].std(ddof=1)),
                gain=float(gains[name].mean()),
                low=low if name != PLAIN else 0.0,
                high=high if name != PLAIN else 0.0,
                p=float(corrected.get(name, 1.0)),
                seconds=sum(result.seconds for result in comparison.fold_results[name]),
            )
        )
    rows.sort(key=lambda row: (-sign * row.measures[metric], row.seconds))
    recommendation = _recommend(rows, metric)
    return Answer(metric, tuple(rows), recommendation.name, recommendation.sentence)


class _Recommendation(NamedTuple):
    name: str
    sentence: str


def _recommend(rows: Sequence[Row], metric: str) -> _Recommendation:
    """Recommend the best of the rows if it is significantly better than the baseline."""
    best = rows[0]
    plain = next(row for row in rows if row.name == PLAIN)
    title = METRICS[metric].title
    level = f"{title} {plain.measures[metric]:.4f}"
    if best is plain:
        sentence = f"Take {plain.title}: no other method has a better {title} ({level})."
        return _Recommendation(PLAIN, sentence)
    tests = "1 comparison" if len(rows) == 2 else f"{len(rows) - 1} comparisons"
    gain = (
        f"by {best.gain:+.4f} of {title}, 95 % interval {best.low:+.4f} to {best.high:+.4f}, "
        f"p = {best.p:.2g} after correction for {tests}"
    )
    if best.p < LEVEL:
        sentence = f"Take {best.title}: better than plain logistic regression {gain}."
        return _Recommendation(best.name, sentence)
    sentence = (
        f"Take plain logistic regression ({level}): no method is clearly better; "
        f"the best, {best.title}, is ahead {gain}."
    )
    return _Recommendation(PLAIN, sentence)
