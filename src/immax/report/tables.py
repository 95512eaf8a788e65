"""Tables of a comparison's page, as typed rows for the template."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support

from immax.arrays import Array
from immax.compare import Answer, Comparison
from immax.evaluation.calibration import ClassCalibration, calibrate_classes
from immax.margins import theory_margins

__all__ = [
    "CalibrationRow",
    "ClassCount",
    "ClassScores",
    "ClassShare",
    "ConfusionCell",
    "calibration_rows",
    "class_counts",
    "class_scores",
    "confusion_cells",
    "rare_classes",
]

MAX_CLASSES = 6  # whose calibration is shown


@dataclass(frozen=True)
class ClassCount:
    """One class of the data.

    Parameters
    ----------
    name : str
        The name of the class.
    rows : int
        Number of rows of the class.
    share : float
        Share of all rows.
    theory : float
        The margin that the theory prescribes; equal margins are 1.
    """

    name: str
    rows: int
    share: float
    theory: float


@dataclass(frozen=True)
class ClassScores:
    """Scores of one method on one class.

    Parameters
    ----------
    name : str
        The name of the class.
    recall, precision, f1 : float
        Scores over all test folds.
    rows : int
        Number of test rows of the class.
    """

    name: str
    recall: float
    precision: float
    f1: float
    rows: int


@dataclass(frozen=True)
class ConfusionCell:
    """One cell of a confusion matrix.

    Parameters
    ----------
    count : int
        Number of rows.
    share : float
        Share of the rows of the true class.
    correct : bool
        Whether the cell is on the diagonal.
    """

    count: int
    share: float
    correct: bool


@dataclass(frozen=True)
class ClassShare:
    """A class and its share of the rows.

    Parameters
    ----------
    name : str
    share : float
    """

    name: str
    share: float


@dataclass(frozen=True)
class CalibrationRow:
    """The calibration of a method for each class, the rarest first.

    Parameters
    ----------
    title : str
        The title of the method.
    classes : tuple of ClassCalibration
    """

    title: str
    classes: tuple[ClassCalibration, ...]


def rare_classes(comparison: Comparison) -> tuple[ClassShare, ...]:
    """Return the rarest classes, at most ``MAX_CLASSES`` of them.

    Parameters
    ----------
    comparison : Comparison
        The finished comparison.

    Returns
    -------
    tuple of ClassShare
        The rarest class first.
    """
    shares = comparison.counts / comparison.counts.sum()
    order = np.argsort(comparison.counts, kind="stable")[:MAX_CLASSES]
    return tuple(ClassShare(comparison.class_names[k], float(shares[k])) for k in order)


def calibration_rows(comparison: Comparison, answer: Answer) -> tuple[CalibrationRow, ...]:
    """Compute the calibration of each method for each of the rarest classes.

    Parameters
    ----------
    comparison : Comparison
        The finished comparison.
    answer : Answer
        Its ranking, whose order is kept.

    Returns
    -------
    tuple of CalibrationRow
    """
    rows = []
    for row in answer.rows:
        y, _, proba = comparison.pooled(row.name)
        if proba is not None:
            own = {one.code: one for one in calibrate_classes(proba, y)}
            order = np.argsort(comparison.counts, kind="stable")[:MAX_CLASSES]
            rows.append(CalibrationRow(row.title, tuple(own[int(k)] for k in order)))
    return tuple(rows)


def class_counts(comparison: Comparison) -> tuple[ClassCount, ...]:
    """Count the rows of each class.

    Parameters
    ----------
    comparison : Comparison
        The finished comparison.

    Returns
    -------
    tuple of ClassCount
        The most frequent class first.
    """
    counts = comparison.counts
    theory = theory_margins(counts)
    relative = theory / theory.mean()
    return tuple(
        ClassCount(
            comparison.class_names[k],
            int(counts[k]),
            float(counts[k] / counts.sum()),
            float(relative[k]),
        )
        for k in _by_frequency(comparison)
    )


def class_scores(comparison: Comparison, method: str) -> tuple[ClassScores, ...]:
    """Compute recall, precision and F1 of a method for each class, over all test folds.

    Parameters
    ----------
    comparison : Comparison
        The finished comparison.
    method : str
        Name of the method.

    Returns
    -------
    tuple of ClassScores
        The most frequent class first.
    """
    y, predicted, _ = comparison.pooled(method)
    precision, recall, f1, rows = precision_recall_fscore_support(
        y, predicted, labels=np.arange(len(comparison.class_names)), zero_division=0
    )
    return tuple(
        ClassScores(
            comparison.class_names[k],
            float(recall[k]),
            float(precision[k]),
            float(f1[k]),
            int(rows[k]),
        )
        for k in _by_frequency(comparison)
    )


def confusion_cells(
    comparison: Comparison, method: str
) -> tuple[tuple[str, tuple[ConfusionCell, ...]], ...]:
    """Compute the confusion matrix of a method over all test folds.

    Parameters
    ----------
    comparison : Comparison
        The finished comparison.
    method : str
        Name of the method.

    Returns
    -------
    tuple of (str, tuple of ConfusionCell)
        A row for each true class, with its name; columns are predicted classes.
    """
    y, predicted, _ = comparison.pooled(method)
    names = comparison.class_names
    matrix = confusion_matrix(y, predicted, labels=np.arange(len(names)))
    return tuple(
        (
            name,
            tuple(
                ConfusionCell(int(count), float(count / max(row.sum(), 1)), i == j)
                for j, count in enumerate(row)
            ),
        )
        for i, (name, row) in enumerate(zip(names, matrix, strict=True))
    )


def _by_frequency(comparison: Comparison) -> Array:
    return np.argsort(-comparison.counts, kind="stable")
