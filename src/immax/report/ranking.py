"""The part of the page that ranks methods."""

from __future__ import annotations

from dataclasses import dataclass

from immax.compare import Answer, Comparison, Row
from immax.evaluation.candidates import CANDIDATES, PLAIN
from immax.evaluation.metrics import METRICS
from immax.report.pictures import Picture, draw_comparison

__all__ = ["Measure", "RankingSection", "describe_ranking"]

HIDDEN = ("ece", "gmean", "kappa", "jaccard", "cost_10_to_1")  # unless methods are ranked by them


@dataclass(frozen=True)
class Measure:
    """A metric that the ranking shows.

    Parameters
    ----------
    name : str
        A key of ``immax.evaluation.metrics.METRICS``.
    title : str
        The heading of its column.
    higher_is_better : bool
        The direction of the metric.
    """

    name: str
    title: str
    higher_is_better: bool


@dataclass(frozen=True)
class RankingSection:
    """The methods with their gains over the baseline and all metrics.

    Parameters
    ----------
    metric : str
        The title of the metric that methods are ranked by.
    n_folds : int
        Number of folds, over all repeats.
    rows : tuple of Row
        The methods, the best first.
    recommended, baseline : str
        Names of the recommended method and of plain logistic regression.
    measures : tuple of Measure
        The metrics to show.
    left_out : tuple of (str, str)
        Titles of methods that were not compared, and the reasons.
    picture : Picture
        The gains.
    """

    metric: str
    n_folds: int
    rows: tuple[Row, ...]
    recommended: str
    baseline: str
    measures: tuple[Measure, ...]
    left_out: tuple[tuple[str, str], ...]
    picture: Picture


def describe_ranking(comparison: Comparison, answer: Answer) -> RankingSection:
    """Collect what the page shows of the ranking.

    Parameters
    ----------
    comparison : Comparison
    answer : Answer

    Returns
    -------
    RankingSection
    """
    return RankingSection(
        metric=answer.title,
        n_folds=len(comparison.splits),
        rows=answer.rows,
        recommended=answer.recommended,
        baseline=PLAIN,
        measures=_measures(comparison, answer),
        left_out=tuple((CANDIDATES[name].title, why) for name, why in comparison.left_out.items()),
        picture=draw_comparison(answer),
    )


def _measures(comparison: Comparison, answer: Answer) -> tuple[Measure, ...]:
    scorer = comparison.scorer
    shown = {
        name: Measure(name, metric.title, metric.higher_is_better)
        for name, metric in METRICS.items()
        if name not in HIDDEN and any(name in row.measures for row in answer.rows)
    }
    first = Measure(scorer.name, scorer.title, scorer.higher_is_better)
    return tuple(({scorer.name: first} | shown).values())
