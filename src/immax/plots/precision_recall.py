"""Precision against recall."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import average_precision_score, precision_recall_curve

from immax.arrays import Array
from immax.plots.axes import COLOURS, get_axes, set_tooltip
from immax.plots.display import Display

__all__ = ["PrecisionRecallDisplay", "plot_precision_recall"]


@dataclass
class PrecisionRecallDisplay(Display):
    """Precision against recall of one class, for one method or more."""

    curves: dict[str, tuple[Array, Array, float]]  # precision, recall, average precision
    share: float  # of the class
    class_name: str = ""

    @classmethod
    def from_predictions(
        cls, y: ArrayLike, scores: Mapping[str, ArrayLike], *, class_name: str = ""
    ) -> Self:
        """From whether each sample is of the class, and each method's probabilities of it."""
        truth = np.asarray(y, dtype=bool)
        curves = {}
        for name, own in scores.items():
            precision, recall, _ = precision_recall_curve(truth, own)
            curves[name] = (precision, recall, float(average_precision_score(truth, own)))
        return cls(curves, float(truth.mean()), class_name)

    def plot(self, ax: Any = None, *, most: int = 200) -> Self:
        """At most so many points of each curve."""
        self.ax_ = ax = get_axes(ax, 6.5, 4.2)
        order = sorted(self.curves, key=lambda name: -self.curves[name][2])
        for number, name in enumerate(order):
            precision, recall, average = self.curves[name]
            kept = np.unique(np.linspace(0, len(recall) - 1, most).round().astype(int))
            line = ax.plot(
                recall[kept],
                precision[kept],
                color=COLOURS[number % len(COLOURS)],
                linestyle=("-", "--", ":")[number // len(COLOURS) % 3],
                linewidth=1.6,
                label=f"{name} ({average:.3f})",
            )[0]
            set_tooltip(line, f"{name}: average precision {average:.4f}")
        ax.axhline(self.share, color="0.5", linestyle=":", linewidth=1)
        ax.set(xlim=(0, 1.01), ylim=(0, 1.02))
        ax.set(xlabel=f"recall of {self.class_name or 'the class'}", ylabel="precision")
        ax.legend(fontsize="small", title="average precision", loc="lower left")
        return self


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
