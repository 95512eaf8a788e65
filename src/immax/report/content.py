"""What a comparison's page shows, as typed data for the template."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from immax import __version__
from immax.compare import Answer, Comparison
from immax.compare.protocol import INNER_FOLDS
from immax.evaluation.environment import describe_environment
from immax.report.classes import ClassesSection, describe_classes
from immax.report.decisions import DecisionSection, describe_decisions
from immax.report.margins import MarginsSection, describe_margins, describe_path
from immax.report.pictures import Picture, draw_precision_recall, draw_reliability
from immax.report.ranking import RankingSection, describe_ranking
from immax.report.tables import (
    CalibrationRow,
    ClassCount,
    ClassShare,
    calibration_rows,
    class_counts,
    rare_classes,
)
from immax.tabular import Column

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

__all__ = ["About", "DataSection", "Page", "ProbabilitiesSection", "RunSection", "describe_page"]


@dataclass(frozen=True)
class About:
    """Where a comparison comes from.

    Parameters
    ----------
    source : str
        The name of the data file or data set.
    target : str
        The column of the labels.
    command : str
        The command that runs the comparison again.
    seconds : float
        How long it took.
    notices : tuple of str, default=()
        What the reader should know about the data, such as rows left out.
    """

    source: str
    target: str
    command: str
    seconds: float
    notices: tuple[str, ...] = ()


@dataclass(frozen=True)
class DataSection:
    """The table, its columns and its classes.

    Parameters
    ----------
    rows : int
        Number of rows.
    columns : tuple of Column
        All columns but that of the labels.
    ratio : float
        Count of the most frequent class over that of the rarest.
    classes : tuple of ClassCount
        The classes, the most frequent first.
    """

    rows: int
    columns: tuple[Column, ...]
    ratio: float
    classes: tuple[ClassCount, ...]

    @property
    def n_used(self) -> int:
        """Number of columns in use."""
        return sum(column.used for column in self.columns)


@dataclass(frozen=True)
class ProbabilitiesSection:
    """Probabilities of all methods that have them.

    Parameters
    ----------
    reliability : Picture
        Reliability diagrams of the rarest class.
    calibration : tuple of CalibrationRow
        For each method, the mean predicted share of each class beside the true one.
    classes : tuple of ClassShare
        The classes of these columns, the rarest first.
    precision_recall : Picture
        Precision against recall of the rarest class.
    """

    reliability: Picture
    precision_recall: Picture
    classes: tuple[ClassShare, ...]
    calibration: tuple[CalibrationRow, ...]


@dataclass(frozen=True)
class RunSection:
    """How the comparison was run.

    Parameters
    ----------
    folds, repeats, seed : int
        The protocol.
    inner_folds : int
        Folds by which hyperparameters are chosen.
    seconds : float
        How long it took.
    date : str
        When it ended.
    command : str
        The command that runs it again.
    environment : mapping of str to str
        Versions and the machine.
    """

    folds: int
    repeats: int
    seed: int
    inner_folds: int
    seconds: float
    date: str
    command: str
    environment: Mapping[str, str]


@dataclass(frozen=True)
class Page:
    """Everything that the template shows.

    Parameters
    ----------
    title : str
        The heading of the page.
    version : str
        The version of immax.
    sentence : str
        The recommendation.
    notices : tuple of str
        What the reader should know about the data.
    data : DataSection
        The table and its classes.
    ranking : RankingSection
        The methods, ranked.
    classes : ClassesSection
        Results for each class.
    decisions : DecisionSection or None
        None if the recommended method has no probabilities.
    probabilities : ProbabilitiesSection or None
        None if no method has probabilities.
    margins : MarginsSection or None
        None if IMMAX is not among the fitted models.
    path : Picture or None
        The coefficients of a fitted model with few features, or None if there is no such model.
    run : RunSection
        How the comparison was run.
    """

    title: str
    version: str
    sentence: str
    notices: tuple[str, ...]
    data: DataSection
    ranking: RankingSection
    classes: ClassesSection
    decisions: DecisionSection | None
    probabilities: ProbabilitiesSection | None
    margins: MarginsSection | None
    path: Picture | None
    run: RunSection


def describe_page(
    comparison: Comparison, answer: Answer, models: Mapping[str, Pipeline], about: About
) -> Page:
    """Collect what the page of a comparison shows.

    Parameters
    ----------
    comparison : Comparison
        The finished comparison.
    answer : Answer
        Its ranking and recommendation.
    models : mapping of str to Pipeline
        Pipelines fitted to all rows, by method; that of "immax" shows its margins and its search.
    about : About
        Where the comparison comes from.

    Returns
    -------
    Page
    """
    counts, protocol = comparison.counts, comparison.protocol
    return Page(
        title=f"{about.target} of {about.source}",
        version=__version__,
        sentence=answer.sentence,
        notices=about.notices,
        data=DataSection(
            rows=int(counts.sum()),
            columns=comparison.schema.columns,
            ratio=float(counts.max() / counts.min()),
            classes=class_counts(comparison),
        ),
        ranking=describe_ranking(comparison, answer),
        classes=describe_classes(comparison, answer),
        decisions=describe_decisions(comparison, answer, models),
        probabilities=_probabilities(comparison, answer),
        margins=describe_margins(models["immax"], comparison) if "immax" in models else None,
        path=describe_path(models, comparison),
        run=RunSection(
            folds=protocol.folds,
            repeats=comparison.repeats,
            seed=protocol.seed,
            inner_folds=INNER_FOLDS,
            seconds=about.seconds,
            date=f"{datetime.datetime.now(tz=datetime.UTC):%Y-%m-%d %H:%M} UTC",
            command=about.command,
            environment=describe_environment(),
        ),
    )


def _probabilities(comparison: Comparison, answer: Answer) -> ProbabilitiesSection | None:
    reliability = draw_reliability(comparison, answer)
    precision_recall = draw_precision_recall(comparison, answer)
    if reliability is None or precision_recall is None:
        return None
    return ProbabilitiesSection(
        reliability,
        precision_recall,
        rare_classes(comparison),
        calibration_rows(comparison, answer),
    )
