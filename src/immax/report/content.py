"""What a comparison's page shows, as typed data for the template."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from immax import __version__
from immax.compare import Answer, Comparison, Row
from immax.compare.protocol import INNER_FOLDS
from immax.evaluation.candidates import CANDIDATES, PLAIN
from immax.evaluation.environment import describe_environment
from immax.evaluation.metrics import METRICS
from immax.report.decisions import DecisionSection, describe_decisions
from immax.report.pictures import (
    FittedSearch,
    Picture,
    draw_comparison,
    draw_margins,
    draw_path,
    draw_precision_recall,
    draw_reliability,
    draw_search,
)
from immax.report.tables import (
    CalibrationRow,
    ClassCount,
    ClassScores,
    ClassShare,
    ConfusionCell,
    calibration_rows,
    class_counts,
    class_scores,
    confusion_cells,
    rare_classes,
)
from immax.tabular import Column

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

__all__ = [
    "About",
    "ClassesSection",
    "DataSection",
    "MarginsSection",
    "Measure",
    "MethodClasses",
    "Page",
    "ProbabilitiesSection",
    "RankingSection",
    "RunSection",
    "describe_page",
]

MAX_METHODS = 4  # whose classes are shown side by side
MAX_CONFUSION_CLASSES = 12
HIDDEN = ("ece", "gmean", "cost_10_to_1")  # unless methods are ranked by them


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


@dataclass(frozen=True)
class MethodClasses:
    """Scores of one method on each class.

    Parameters
    ----------
    title : str
        The title of the method.
    rows : tuple of ClassScores
        One for each class, the most frequent first.
    confusion : tuple of (str, tuple of ConfusionCell)
        The confusion matrix; empty if there are many classes.
    """

    title: str
    rows: tuple[ClassScores, ...]
    confusion: tuple[tuple[str, tuple[ConfusionCell, ...]], ...]


@dataclass(frozen=True)
class ClassesSection:
    """Results for each class, with methods side by side.

    Parameters
    ----------
    class_names : tuple of str
        Names of the classes in the order of the confusion matrices.
    methods : tuple of MethodClasses
        The methods to show, the best first.
    """

    class_names: tuple[str, ...]
    methods: tuple[MethodClasses, ...]


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
class MarginsSection:
    """The margin search of IMMAX and the model that it chose.

    Parameters
    ----------
    power, lam : float
        The chosen power of the class counts and strength of the penalty.
    rule : str
        The chosen rule, "score" or "bayes".
    search, margins : Picture
        The scores of all candidates, and the chosen margins.
    thresholds : tuple of (str, float)
        For two classes, the probability above which the rule "score" predicts each.
    certificate : str
        Bounds on the error of the rule "score".
    """

    power: float
    lam: float
    rule: str
    search: Picture
    margins: Picture
    thresholds: tuple[tuple[str, float], ...]
    certificate: str


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
        ranking=_ranking(comparison, answer),
        classes=_classes(comparison, answer),
        decisions=describe_decisions(comparison, answer, models),
        probabilities=_probabilities(comparison, answer),
        margins=_margins(models["immax"], comparison) if "immax" in models else None,
        path=_path(models, comparison),
        run=RunSection(
            folds=protocol.folds,
            repeats=protocol.repeats,
            seed=protocol.seed,
            inner_folds=INNER_FOLDS,
            seconds=about.seconds,
            date=f"{datetime.datetime.now(tz=datetime.UTC):%Y-%m-%d %H:%M} UTC",
            command=about.command,
            environment=describe_environment(),
        ),
    )


def _ranking(comparison: Comparison, answer: Answer) -> RankingSection:
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
    judge = comparison.judge
    shown = {
        name: Measure(name, metric.title, metric.higher_is_better)
        for name, metric in METRICS.items()
        if name not in HIDDEN and any(name in row.measures for row in answer.rows)
    }
    first = Measure(judge.name, judge.title, judge.higher_is_better)
    return tuple(({judge.name: first} | shown).values())


def _classes(comparison: Comparison, answer: Answer) -> ClassesSection:
    names = tuple(comparison.class_names)
    with_confusion = len(names) <= MAX_CONFUSION_CLASSES
    return ClassesSection(
        names,
        tuple(
            MethodClasses(
                answer.row(method).title,
                class_scores(comparison, method),
                confusion_cells(comparison, method) if with_confusion else (),
            )
            for method in _side_by_side(answer)
        ),
    )


def _side_by_side(answer: Answer) -> list[str]:
    """Return the best methods, among them the recommended one, the baseline and IMMAX."""
    ranked = [row.name for row in answer.rows]
    wanted = dict.fromkeys([answer.recommended, PLAIN, "immax", *ranked])
    shown = [name for name in wanted if name in ranked][:MAX_METHODS]
    return sorted(shown, key=ranked.index)


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


def _margins(pipeline: Pipeline, comparison: Comparison) -> MarginsSection:
    search = _search_of(pipeline)
    return MarginsSection(
        power=float(search.best_parameters_[0]),
        lam=search.best_lam_,
        rule=str(search.best_rule_),
        search=draw_search(search),
        margins=draw_margins(search, comparison.counts),
        thresholds=_thresholds(search, comparison.class_names),
        certificate=_certificate(pipeline, comparison),
    )


def _path(models: Mapping[str, Pipeline], comparison: Comparison) -> Picture | None:
    for pipeline in models.values():
        search = _search_of(pipeline)
        if hasattr(search, "best_lam_") and getattr(search, "penalty", "l2") != "l2":
            features = pipeline[:-1].transform(comparison.X)
            names = [str(name) for name in pipeline[:-1].get_feature_names_out()]
            labels = comparison.classes[comparison.codes]
            return draw_path(search, features, labels, names)
    return None


def _search_of(pipeline: Pipeline) -> FittedSearch:
    """Return the search for margins, which may be inside a model with a rule for an aim."""
    search: FittedSearch = getattr(pipeline[-1], "model", pipeline[-1])
    return search


def _thresholds(search: FittedSearch, names: list[str]) -> tuple[tuple[str, float], ...]:
    """Return, for two classes, the probability above which the rule "score" predicts each."""
    if len(names) != 2:
        return ()
    rho = np.asarray(search.margins_)
    return tuple(zip(names, (rho / rho.sum()).tolist(), strict=True))


def _certificate(pipeline: Pipeline, comparison: Comparison) -> str:
    """Return the certificate, and the one from a split, which does not assume fixed features."""
    from immax.theory import describe_certificates

    search = _search_of(pipeline)
    if search is not pipeline[-1]:  # the bounds are for the margins, not for the rule of an aim
        pipeline = type(pipeline)([*pipeline.steps[:-1], ("model", search)])
    return describe_certificates(pipeline, comparison.X, comparison.classes[comparison.codes])
