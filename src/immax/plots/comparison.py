"""The gains of the methods of a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from immax.plots.axes import COLOURS, get_axes, set_tooltip
from immax.plots.display import Display

if TYPE_CHECKING:
    from immax.compare.verdict import Answer, Row

__all__ = ["ComparisonDisplay", "plot_comparison"]


@dataclass
class ComparisonDisplay(Display):
    """What each method gains over plain logistic regression, with 95 % intervals."""

    metric: str
    rows: Sequence[Row]
    recommended: str

    @classmethod
    def from_answer(cls, answer: Answer) -> Self:
        """From what ``immax.compare.verdict`` says."""
        return cls(answer.metric, answer.rows, answer.recommended)

    def plot(self, ax: Any = None) -> Self:
        """The best method on top; to the right of the line is better."""
        self.ax_ = ax = get_axes(ax, 7, 1.2 + 0.34 * len(self.rows))
        places = np.arange(len(self.rows))[::-1]
        ax.axvline(0, color="0.5", linewidth=1)
        for place, row in zip(places, self.rows, strict=True):
            color = COLOURS[1] if row.name == self.recommended else COLOURS[0]
            ax.plot([row.low, row.high], [place, place], color=color, linewidth=2)
            point = ax.plot(row.gain, place, "o", color=color, markersize=8)[0]
            set_tooltip(
                point,
                f"{row.title}: {row.measures[self.metric]:.4f}, gain {row.gain:+.4f} "
                f"({row.low:+.4f} to {row.high:+.4f})",
            )
        ax.set_yticks(places, [row.title for row in self.rows])
        ax.set_xlabel(f"gain in {self.metric.replace('_', ' ')} over plain logistic regression")
        ax.grid(axis="x", alpha=0.3)
        return self


def plot_comparison(answer: Answer, ax: Any = None) -> Any:
    """Draw what each method gains over plain logistic regression."""
    return ComparisonDisplay.from_answer(answer).plot(ax).ax_
