"""The gains of the methods of a comparison over plain logistic regression."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from immax.plots.axes import COLOURS, get_axes, set_tooltip
from immax.plots.display import Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from immax.compare import Answer, Row

__all__ = ["ComparisonDisplay", "plot_comparison"]


@dataclass(eq=False)
class ComparisonDisplay(Display):
    """Gain of each method over plain logistic regression, with 95 % confidence intervals.

    Parameters
    ----------
    metric : str
        The metric that methods are ranked by.
    rows : sequence of Row
        One row for each method, the best first.
    recommended : str
        The name of the recommended method, drawn in another colour.
    title : str, default=""
        The metric in words; by default its name.
    """

    metric: str
    rows: Sequence[Row]
    recommended: str
    title: str = ""

    @classmethod
    def from_answer(cls, answer: Answer) -> Self:
        """Create the display from the answer of a comparison.

        Parameters
        ----------
        answer : Answer
            The ranking that ``immax.compare`` gives.

        Returns
        -------
        ComparisonDisplay
        """
        return cls(answer.metric, answer.rows, answer.recommended, answer.title)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw one line for each method, the best on top; gains are to the right of zero.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on; by default those of a new figure.

        Returns
        -------
        ComparisonDisplay
            The display itself.
        """
        self.ax_ = ax = get_axes(ax, 7, 1.2 + 0.34 * len(self.rows))
        heights = np.arange(len(self.rows))[::-1]
        ax.axvline(0, color="0.5", linewidth=1)
        for height, row in zip(heights, self.rows, strict=True):
            color = COLOURS[1] if row.name == self.recommended else COLOURS[0]
            ax.plot([row.low, row.high], [height, height], color=color, linewidth=2)
            point = ax.plot(row.gain, height, "o", color=color, markersize=8)[0]
            set_tooltip(
                point,
                f"{row.title}: {row.measures[self.metric]:.4f}, gain {row.gain:+.4f} "
                f"({row.low:+.4f} to {row.high:+.4f})",
            )
        ax.set_yticks(heights, [row.title for row in self.rows])
        title = self.title or self.metric.replace("_", " ")
        ax.set_xlabel(f"gain in {title} over plain logistic regression")
        ax.grid(axis="x", alpha=0.3)
        return self


def plot_comparison(answer: Answer, ax: Axes | None = None) -> Axes:
    """Draw the gain of each method over plain logistic regression.

    Parameters
    ----------
    answer : Answer
        The ranking that ``immax.compare`` gives.
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes
    """
    return ComparisonDisplay.from_answer(answer).plot(ax).ax_
