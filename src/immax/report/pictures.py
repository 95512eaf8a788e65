"""The pictures of a comparison's page."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from immax.compare.results import Comparison
from immax.compare.verdict import Answer
from immax.evaluation.candidates import CANDIDATES
from immax.plots import (
    ComparisonDisplay,
    MarginsDisplay,
    PrecisionRecallDisplay,
    ReliabilityDisplay,
    plot_search,
)
from immax.plots.axes import new_figure, require_matplotlib
from immax.report.svg import page_style, to_svg

__all__ = ["Figure", "comparison", "margins", "precision_recall", "reliability", "surface"]

MOST_DIAGRAMS = 9


class Figure(NamedTuple):
    """An element for the page, and what it shows in words."""

    svg: str
    text: str


def _drawn(name: str, text: str, draw: Any, width: float, height: float, **grid: Any) -> Figure:
    with require_matplotlib().rc_context(page_style()):
        canvas = new_figure(width, height)
        draw(canvas.subplots(**grid))
        return Figure(to_svg(canvas, name, text), text)


def comparison(answer: Answer) -> Figure:
    """Gains over plain logistic regression."""
    best = answer.rows[0]
    metric = answer.metric.replace("_", " ")
    text = (
        f"Gain in {metric} over plain logistic regression, with 95 % intervals, for "
        f"{len(answer.rows)} methods. The best is {best.title} with {best.gain:+.4f}, "
        f"from {best.low:+.4f} to {best.high:+.4f}."
    )
    display = ComparisonDisplay.from_answer(answer)
    return _drawn("comparison", text, display.plot, 7.5, 1.2 + 0.36 * len(answer.rows))


def reliability(found: Comparison, answer: Answer) -> Figure | None:
    """A diagram for each method with probabilities, the best calibrated first."""
    displays = []
    for row in answer.rows:
        y, _, proba = found.pooled(row.name)
        if proba is not None:
            displays.append(ReliabilityDisplay.from_predictions(y, proba, name=row.title))
    if not displays:
        return None
    displays = sorted(displays, key=lambda one: one.error)[:MOST_DIAGRAMS]
    columns = min(3, len(displays))
    rows = -(-len(displays) // columns)
    errors = ", ".join(f"{one.name} {one.error:.3f}" for one in displays)
    text = f"Reliability diagrams. Expected calibration error of each method: {errors}."

    def draw(grid: Any) -> None:
        for ax, display in zip(grid.flat, displays, strict=False):
            display.plot(ax)
        for ax in grid.flat[len(displays) :]:
            ax.axis("off")

    size = (3.1 * columns, 3.2 * rows)
    return _drawn("reliability", text, draw, *size, nrows=rows, ncols=columns, squeeze=False)


def precision_recall(found: Comparison, answer: Answer) -> Figure | None:
    """Of the rarest class."""
    rare = int(found.counts.argmin())
    scores = {}
    for row in answer.rows:
        y, _, proba = found.pooled(row.name)
        if proba is not None:
            scores[row.title] = proba[:, rare]
    if not scores:
        return None
    name = found.class_names[rare]
    display = PrecisionRecallDisplay.from_predictions(y == rare, scores, class_name=name)
    values = sorted(display.curves.items(), key=lambda item: -item[1][2])
    each = ", ".join(f"{own} {curve[2]:.3f}" for own, curve in values)
    text = f"Precision against recall of the rarest class, {name}. Average precision: {each}."
    return _drawn("precision-recall", text, display.plot, 7.5, 4.6)


def surface(search: Any) -> Figure:
    """Scores of all cells of the search for margins."""
    text = (
        f"Mean score of the folds for each power of the class counts and each lambda. Chosen: "
        f"power {search.best_parameters_[0]:.3f} and lambda {search.best_lam_:g}, score "
        f"{search.best_score_:.4f}; the theory's power is 1/3."
    )
    return _drawn("surface", text, lambda ax: plot_search(search, ax), 7.5, 4.2)


def margins(search: Any, counts: Any) -> Figure:
    """Of the model with all rows, beside the theory's."""
    display = MarginsDisplay.from_estimator(search, counts)
    theory = np.asarray(display.theory)
    each = "; ".join(
        f"{name} {own:.3f}, theory {best:.3f}"
        for name, own, best in zip(display.class_names, display.margins, theory, strict=True)
    )
    text = f"Margins of {CANDIDATES['immax'].title} as shares of their sum: {each}."
    return _drawn("margins", text, display.plot, 7, 1.5 + 0.34 * len(theory))
