"""The part of the page about each class."""

from __future__ import annotations

from dataclasses import dataclass

from immax.compare import Answer, Comparison
from immax.evaluation.candidates import PLAIN
from immax.report.tables import ClassScores, ConfusionCell, class_scores, confusion_cells

__all__ = ["ClassesSection", "MethodClasses", "describe_classes"]

MAX_METHODS = 4  # whose classes are shown side by side
MAX_CONFUSION_CLASSES = 12


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


def describe_classes(comparison: Comparison, answer: Answer) -> ClassesSection:
    """Collect what the page shows of the classes.

    Parameters
    ----------
    comparison : Comparison
    answer : Answer

    Returns
    -------
    ClassesSection
    """
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
