"""The same pictures as functions, which return the axes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import ArrayLike

from immax.compare.answer import Answer
from immax.report.displays import (
    ComparisonDisplay,
    MarginsDisplay,
    PrecisionRecallDisplay,
    ReliabilityDisplay,
)

__all__ = ["plot_comparison", "plot_margins", "plot_precision_recall", "plot_reliability"]


def plot_margins(model: Any, counts: ArrayLike | None = None, ax: Any = None) -> Any:
    """Draw the margins of a fitted model; with class counts, the theory's beside them."""
    return MarginsDisplay.from_estimator(model, counts).plot(ax).ax_


def plot_reliability(
    y: ArrayLike, proba: ArrayLike, *, bins: int = 15, name: str = "", ax: Any = None
) -> Any:
    """Draw how often the most probable class is right, against its probability.

    Parameters
    ----------
    y : array-like of shape (n,)
        Codes of the true classes: columns of ``proba``.
    proba : array-like of shape (n, c)
    bins : int
        Of equal width.
    name : str
        Of the method.
    ax : matplotlib Axes, optional
    """
    return ReliabilityDisplay.from_predictions(y, proba, bins=bins, name=name).plot(ax).ax_


def plot_comparison(answer: Answer, ax: Any = None) -> Any:
    """Draw what each method gains over plain logistic regression."""
    return ComparisonDisplay.from_answer(answer).plot(ax).ax_


def plot_precision_recall(
    y: ArrayLike, scores: Mapping[str, ArrayLike], *, class_name: str = "", ax: Any = None
) -> Any:
    """Draw precision against recall of one class, for one method or more.

    Parameters
    ----------
    y : array-like of bool, shape (n,)
        Whether each sample is of the class.
    scores : dict
        Names of methods, and their probabilities of the class.
    class_name : str
    ax : matplotlib Axes, optional
    """
    return PrecisionRecallDisplay.from_predictions(y, scores, class_name=class_name).plot(ax).ax_
