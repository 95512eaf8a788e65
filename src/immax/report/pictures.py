"""Pictures of a comparison's page, each with a description in words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np

from immax.arrays import Array, Features
from immax.compare import Answer, Comparison
from immax.decisions import Aim, Costs
from immax.evaluation.candidates import CANDIDATES
from immax.paths import path as compute_path
from immax.plots import (
    CoefficientPathDisplay,
    ComparisonDisplay,
    DecisionCurveDisplay,
    MarginsDisplay,
    PrecisionRecallDisplay,
    ReliabilityDisplay,
    ThresholdCurveDisplay,
    plot_search,
)
from immax.plots.axes import new_figure, require_matplotlib
from immax.report.svg import page_style, to_svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from immax.search.base import MarginSearch

__all__ = [
    "FittedSearch",
    "Picture",
    "draw_comparison",
    "draw_decision_curve",
    "draw_margins",
    "draw_path",
    "draw_precision_recall",
    "draw_reliability",
    "draw_search",
    "draw_threshold_curve",
]

MAX_DIAGRAMS = 9
COLUMNS = 3  # of reliability diagrams


@dataclass(frozen=True)
class Picture:
    """A picture of the page.

    Parameters
    ----------
    svg : str
        An SVG element.
    text : str
        A description of what it shows.
    """

    svg: str
    text: str


class FittedSearch(Protocol):
    """The attributes of a fitted ``IMMAXClassifierCV`` that the page shows."""

    best_parameters_: Array
    best_lam_: float
    best_score_: float
    best_rule_: object
    margins_: Array
    classes_: Array


def _render(
    name: str, text: str, width: float, height: float, draw: Callable[[Figure], object]
) -> Picture:
    with require_matplotlib().rc_context(page_style()):
        figure = new_figure(width, height)
        draw(figure)
        return Picture(to_svg(figure, name, text), text)


def draw_comparison(answer: Answer) -> Picture:
    """Draw the gains over plain logistic regression.

    Parameters
    ----------
    answer : Answer
        The ranking of the comparison.

    Returns
    -------
    Picture
    """
    best = answer.rows[0]
    text = (
        f"Gain in {answer.title} over plain logistic regression, with 95 % "
        f"intervals, for {len(answer.rows)} methods. The best is {best.title} with "
        f"{best.gain:+.4f}, from {best.low:+.4f} to {best.high:+.4f}."
    )
    display = ComparisonDisplay.from_answer(answer)
    height = 1.2 + 0.36 * len(answer.rows)
    return _render("comparison", text, 7.5, height, lambda figure: display.plot(figure.subplots()))


def draw_reliability(comparison: Comparison, answer: Answer) -> Picture | None:
    """Draw a reliability diagram of the rarest class for each method, the best calibrated first.

    Parameters
    ----------
    comparison : Comparison
        The finished comparison.
    answer : Answer
        Its ranking.

    Returns
    -------
    Picture or None
        None if no method has probabilities.
    """
    rarest = int(comparison.counts.argmin())
    rare = comparison.class_names[rarest]
    displays = []
    for row in answer.rows:
        y, _, proba = comparison.pooled(row.name)
        if proba is not None:
            displays.append(
                ReliabilityDisplay.from_class(y, proba, rarest, name=row.title, class_name=rare)
            )
    if not displays:
        return None
    displays = sorted(displays, key=lambda display: display.error)[:MAX_DIAGRAMS]
    columns = min(COLUMNS, len(displays))
    rows = -(-len(displays) // columns)
    errors = ", ".join(f"{display.name} {display.error:.3f}" for display in displays)
    text = (
        f"Reliability diagrams of the rarest class, {rare}: its share against its predicted "
        f"probability. Calibration error of each method: {errors}."
    )

    def draw(figure: Figure) -> None:
        axes: list[Axes] = list(figure.subplots(rows, columns, squeeze=False).flat)
        for display, ax in zip(displays, axes, strict=False):
            display.plot(ax)
        for ax in axes[len(displays) :]:
            ax.axis("off")

    return _render("reliability", text, 3.1 * columns, 3.2 * rows, draw)


def draw_precision_recall(comparison: Comparison, answer: Answer) -> Picture | None:
    """Draw precision against recall of the rarest class.

    Parameters
    ----------
    comparison : Comparison
        The finished comparison.
    answer : Answer
        Its ranking.

    Returns
    -------
    Picture or None
        None if no method has probabilities.
    """
    rarest = int(comparison.counts.argmin())
    scores = {}
    for row in answer.rows:
        y, _, proba = comparison.pooled(row.name)
        if proba is not None:
            scores[row.title] = proba[:, rarest]
    if not scores:
        return None
    name = comparison.class_names[rarest]
    display = PrecisionRecallDisplay.from_predictions(y == rarest, scores, class_name=name)
    averages = ", ".join(f"{own} {curve.average_precision:.3f}" for own, curve in display.ordered())
    text = f"Precision against recall of the rarest class, {name}. Average precision: {averages}."
    return _render(
        "precision-recall", text, 7.5, 4.6, lambda figure: display.plot(figure.subplots())
    )


def draw_threshold_curve(
    positions: Array,
    values: Array,
    start: int,
    *,
    tolerance: float,
    aim: Aim,
    class_name: str,
    two_classes: bool,
) -> Picture:
    """Draw the value of an aim at every threshold, with the plateau around the best one.

    Parameters
    ----------
    positions, values : ndarray of shape (m,)
        Thresholds, or factors of the weight of a class, and the value at each.
    start : int
        The position of the rule.
    tolerance : float
        The plateau is where values are within this much of the best one.
    aim : Aim
    class_name : str
        The class that thresholds or weights are of.
    two_classes : bool

    Returns
    -------
    Picture
    """
    costs = isinstance(aim, Costs)
    display = ThresholdCurveDisplay(
        positions,
        values,
        float(positions[start]),
        tolerance,
        not costs,
        "cost per row" if costs else aim.name.replace("_", " "),
        f"threshold of the probability of {class_name}"
        if two_classes
        else f"weight of {class_name}, times that of the rule",
        not two_classes,
    )
    low, high = display.plateau
    what = "threshold" if two_classes else "factor of its weight"
    text = (
        f"{display.label.capitalize()} against the {what} of {class_name}. The rule has "
        f"{display.chosen:.3g} and a value of {display.value_at(display.chosen):.4f}; the best "
        f"value is {display.best:.4f}, and from {low:.3g} to {high:.3g} it is about as good."
    )
    return _render(
        "threshold-curve", text, 7.5, 3.8, lambda figure: display.plot(figure.subplots())
    )


def draw_decision_curve(comparison: Comparison, answer: Answer, rare: int) -> Picture | None:
    """Draw the net benefit of acting on probabilities against the ratio of costs.

    Parameters
    ----------
    comparison : Comparison
    answer : Answer
    rare : int
        The class that is acted on.

    Returns
    -------
    Picture or None
        None if no method has probabilities.
    """
    probabilities = {}
    for row in answer.rows:
        y, _, proba = comparison.pooled(row.name)
        if proba is not None:
            probabilities[row.title] = proba[:, rare]
    if not probabilities:
        return None
    name = comparison.class_names[rare]
    display = DecisionCurveDisplay.from_predictions(y == rare, probabilities, class_name=name)
    at = int(np.argmin(np.abs(display.ratios - 10)))
    best = max(display.curves, key=lambda own: display.curves[own][at])
    text = (
        f"Net benefit of acting on the probability of {name}, where missing it costs 1 to 100 "
        f"times as much as a false alarm. At ten times, the highest is "
        f"{display.curves[best][at]:.4f} per row, of {best}; acting always gives "
        f"{display.act_always[at]:.4f}, never acting 0."
    )
    return _render("decision-curve", text, 7.5, 4.4, lambda figure: display.plot(figure.subplots()))


def draw_search(search: FittedSearch) -> Picture:
    """Draw the scores of all candidates of the margin search.

    Parameters
    ----------
    search : IMMAXClassifierCV
        A fitted search.

    Returns
    -------
    Picture
    """
    power, *weights = np.ravel(search.best_parameters_)
    if weights:
        each = "pair of the powers of margins and of class weights"
        chosen, theory = f"powers {power:.3f} and {weights[0]:.3f}", "powers are 1/3 and 0"
    else:
        each, chosen, theory = "power of the class counts", f"power {power:.3f}", "power is 1/3"
    text = (
        f"Mean score of the folds for each {each} and each lambda. Chosen: {chosen}, lambda "
        f"{search.best_lam_:g}, score {search.best_score_:.4f}; the theory's {theory}."
    )
    fitted = cast("MarginSearch", search)
    return _render("search", text, 7.5, 4.2, lambda figure: plot_search(fitted, figure.subplots()))


def draw_path(search: Any, X: Features, y: Array, names: Sequence[str]) -> Picture:
    """Draw the coefficients of a model with few features along its path.

    Parameters
    ----------
    search : IMMAXClassifierCV
        A fitted search with a penalty that uses few features.
    X, y : array-like
        The features and labels that it was fitted to.
    names : sequence of str
        The names of the features.

    Returns
    -------
    Picture
    """
    fitted = compute_path(X, y, search.best_estimator_)
    text = (
        f"Coefficients of the features against lambda. At the chosen one, {search.best_lam_:.3g}, "
        f"the model uses {search.n_features_used_} of {search.n_features_in_} features; the "
        f"largest lambda, {fitted.lams[0]:.3g}, leaves none."
    )
    display = CoefficientPathDisplay.from_path(fitted, names, search.best_lam_)
    return _render("path", text, 7.5, 4.2, lambda figure: display.plot(figure.subplots()))


def draw_margins(search: FittedSearch, counts: Array) -> Picture:
    """Draw the margins of the model fitted to all rows, with the theory's.

    Parameters
    ----------
    search : IMMAXClassifierCV
        A fitted search.
    counts : ndarray of shape (c,)
        Class counts.

    Returns
    -------
    Picture
    """
    display = MarginsDisplay.from_estimator(search, counts)
    theory = display.margins if display.theory is None else display.theory
    each = "; ".join(
        f"{name} {own:.2f}, theory {prescribed:.2f}"
        for name, own, prescribed in zip(display.class_names, display.margins, theory, strict=True)
    )
    text = f"Margins of {CANDIDATES['immax'].title}, where equal margins are 1: {each}."
    height = 1.5 + 0.34 * len(display.class_names)
    return _render("margins", text, 7, height, lambda figure: display.plot(figure.subplots()))
