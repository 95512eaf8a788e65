"""Precision against recall of one class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import average_precision_score, precision_recall_curve

from immax.arrays import Vector
from immax.plots.axes import COLOURS, get_axes, set_tooltip
from immax.plots.display import Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["PrecisionRecallCurve", "PrecisionRecallDisplay", "plot_precision_recall"]

LINE_STYLES = ("-", "--", ":")


@dataclass(frozen=True, eq=False)
class PrecisionRecallCurve:
    """Precision and recall of one method at every threshold.

    Parameters
    ----------
    precision, recall : ndarray of shape (n_thresholds + 1,)
        As ``sklearn.metrics.precision_recall_curve`` returns them.
    average_precision : float
        Mean of the precisions, weighted by the increase in recall.
    """

    precision: Vector
    recall: Vector
    average_precision: float


@dataclass(eq=False)
class PrecisionRecallDisplay(Display):
    """Precision against recall of one class, for one method or more.

    Parameters
    ----------
    curves : dict of str to PrecisionRecallCurve
        Names of methods and their curves.
    share : float
        Share of the samples that belong to the class: the precision of a random ranking.
    class_name : str, default=""
        The name of the class, for the label of the axis.
    """

    curves: dict[str, PrecisionRecallCurve]
    share: float
    class_name: str = ""

    @classmethod
    def from_predictions(
        cls, y: ArrayLike, scores: Mapping[str, ArrayLike], *, class_name: str = ""
    ) -> Self:
        """Create the display from the predictions of each method.

        Parameters
        ----------
        y : array-like of bool, shape (n,)
            Whether each sample belongs to the class.
        scores : mapping of str to array-like of shape (n,)
            Names of methods, and the probabilities or scores that they give the class.
        class_name : str, default=""
            The name of the class.

        Returns
        -------
        PrecisionRecallDisplay
        """
        truth = np.asarray(y, dtype=bool)
        curves = {}
        for name, values in scores.items():
            precision, recall, _ = precision_recall_curve(truth, values)
            average = float(average_precision_score(truth, values))
            curves[name] = PrecisionRecallCurve(precision, recall, average)
        return cls(curves, float(truth.mean()), class_name)

    def ordered(self) -> list[tuple[str, PrecisionRecallCurve]]:
        """Return the methods and their curves, the highest average precision first.

        Returns
        -------
        list of (str, PrecisionRecallCurve)
        """
        return sorted(self.curves.items(), key=lambda item: -item[1].average_precision)

    def plot(self, ax: Axes | None = None, *, max_points: int = 200) -> Self:
        """Draw one line for each method, and a dotted one for a random ranking.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on; by default those of a new figure.
        max_points : int, default=200
            Draw at most this many points of each curve.

        Returns
        -------
        PrecisionRecallDisplay
            The display itself.
        """
        self.ax_ = ax = get_axes(ax, 6.5, 4.2)
        for number, (name, curve) in enumerate(self.ordered()):
            last = len(curve.recall) - 1
            points = np.unique(np.linspace(0, last, max_points).round().astype(int))
            line = ax.plot(
                curve.recall[points],
                curve.precision[points],
                color=COLOURS[number % len(COLOURS)],
                linestyle=LINE_STYLES[number // len(COLOURS) % len(LINE_STYLES)],
                linewidth=1.6,
                label=f"{name} ({curve.average_precision:.3f})",
            )[0]
            set_tooltip(line, f"{name}: average precision {curve.average_precision:.4f}")
        ax.axhline(self.share, color="0.5", linestyle=":", linewidth=1)
        ax.set(xlim=(0, 1.01), ylim=(0, 1.02))
        ax.set(xlabel=f"recall of {self.class_name or 'the class'}", ylabel="precision")
        ax.legend(fontsize="small", title="average precision", loc="lower left")
        return self


def plot_precision_recall(
    y: ArrayLike,
    scores: Mapping[str, ArrayLike],
    *,
    class_name: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw precision against recall of one class, for one method or more.

    Parameters
    ----------
    y : array-like of bool, shape (n,)
        Whether each sample belongs to the class.
    scores : mapping of str to array-like of shape (n,)
        Names of methods, and the probabilities or scores that they give the class.
    class_name : str, default=""
        The name of the class.
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes
    """
    return PrecisionRecallDisplay.from_predictions(y, scores, class_name=class_name).plot(ax).ax_
