"""What an aim is worth at every threshold, and the plateau on which it hardly changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike

from immax.arrays import Vector
from immax.decisions.aims import Aim, Costs
from immax.decisions.fitting import resolve_aim, threshold_curve
from immax.plots.axes import COLOURS, get_axes, set_tooltip
from immax.plots.display import Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ThresholdCurveDisplay", "plot_threshold_curve"]

MAX_POINTS = 400


@dataclass(eq=False)
class ThresholdCurveDisplay(Display):
    """The value of an aim against the threshold of the decision.

    Parameters
    ----------
    thresholds, values : ndarray of shape (m,)
        Ascending thresholds, and the value at each.
    chosen : float
        The threshold of the rule.
    tolerance : float, default=0.0
        The plateau is where values are within this much of the best one.
    higher_is_better : bool, default=True
    label : str, default="value"
        What the values are.
    axis : str, default="threshold"
        What the thresholds are.
    logarithmic : bool, default=False
        Whether thresholds are shown on a logarithmic scale.
    """

    thresholds: Vector
    values: Vector
    chosen: float
    tolerance: float = 0.0
    higher_is_better: bool = True
    label: str = "value"
    axis: str = "threshold"
    logarithmic: bool = False

    @classmethod
    def from_predictions(
        cls,
        y: ArrayLike,
        probabilities: ArrayLike,
        aim: str | Aim = "f1",
        *,
        chosen: float | None = None,
        tolerance: float = 0.0,
        class_name: str = "the positive class",
    ) -> Self:
        """Create the display from held-out predictions for two classes.

        Parameters
        ----------
        y : array-like of bool, shape (n,)
            Whether each sample is positive.
        probabilities : array-like of shape (n,)
            Of being positive.
        aim : str or Aim, default="f1"
            Costs are in the order of negative and positive.
        chosen : float, optional
            The threshold of the rule; by default the best one.
        tolerance : float, default=0.0
            The plateau is where values are within this much of the best one.
        class_name : str, default="the positive class"

        Returns
        -------
        ThresholdCurveDisplay

        Examples
        --------
        >>> p = np.array([0.1, 0.2, 0.4, 0.6, 0.8])
        >>> display = ThresholdCurveDisplay.from_predictions([0, 0, 1, 1, 1], p, "accuracy")
        >>> round(display.chosen, 2), display.best
        (0.3, 1.0)
        """
        goal = resolve_aim(aim)
        truth = np.asarray(y, dtype=bool)
        p = np.asarray(probabilities, dtype=np.float64)
        thresholds, values = threshold_curve(p, np.column_stack([~truth, truth]) * 1.0, goal, 1)
        costs = isinstance(goal, Costs)
        best = thresholds[int(np.argmax(values))]
        return cls(
            thresholds[::-1],
            -values[::-1] if costs else values[::-1],
            float(best) if chosen is None else chosen,
            tolerance,
            not costs,
            "cost per row" if costs else goal.name.replace("_", " "),
            f"threshold of the probability of {class_name}",
        )

    @property
    def best(self) -> float:
        """The best value."""
        return float(self.values.max() if self.higher_is_better else self.values.min())

    @property
    def plateau(self) -> tuple[float, float]:
        """The lowest and the highest threshold around the best one that are about as good."""
        sign = 1.0 if self.higher_is_better else -1.0
        good = sign * self.values >= sign * self.best - self.tolerance - 1e-12
        top = int(np.argmax(sign * self.values))
        low, high = top, top
        while low > 0 and good[low - 1]:
            low -= 1
        while high < good.size - 1 and good[high + 1]:
            high += 1
        return round(float(self.thresholds[low]), 12), round(float(self.thresholds[high]), 12)

    def value_at(self, threshold: float) -> float:
        """Return the value at a threshold.

        Parameters
        ----------
        threshold : float

        Returns
        -------
        float
        """
        return float(self.values[int(np.argmin(np.abs(self.thresholds - threshold)))])

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the curve, its plateau, and the threshold of the rule.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on; by default those of a new figure.

        Returns
        -------
        ThresholdCurveDisplay
            The display itself.
        """
        self.ax_ = ax = get_axes(ax, 6.5, 3.8)
        last = len(self.thresholds) - 1
        points = np.unique(np.linspace(0, last, MAX_POINTS).round().astype(int))
        low, high = self.plateau
        band = ax.axvspan(low, high, color=COLOURS[0], alpha=0.15, linewidth=0)
        set_tooltip(band, f"about as good: from {low:.3g} to {high:.3g}")
        ax.plot(self.thresholds[points], self.values[points], color=COLOURS[0], linewidth=1.8)
        value = self.value_at(self.chosen)
        ax.axvline(self.chosen, color=COLOURS[1], linestyle="--", linewidth=1.2)
        point = ax.plot(self.chosen, value, "o", color=COLOURS[1], markersize=8)[0]
        set_tooltip(point, f"the rule: {self.chosen:.3g}, {self.label} {value:.4f}")
        if self.logarithmic:
            ax.set_xscale("log")
        ax.set(xlabel=self.axis, ylabel=self.label)
        ax.grid(alpha=0.3)
        return self


def plot_threshold_curve(
    y: ArrayLike,
    probabilities: ArrayLike,
    aim: str | Aim = "f1",
    *,
    chosen: float | None = None,
    tolerance: float = 0.0,
    class_name: str = "the positive class",
    ax: Axes | None = None,
) -> Axes:
    """Draw the value of an aim against the threshold of the decision, for two classes.

    Parameters
    ----------
    y : array-like of bool, shape (n,)
        Whether each sample is positive.
    probabilities : array-like of shape (n,)
        Of being positive.
    aim : str or Aim, default="f1"
    chosen : float, optional
        The threshold of the rule; by default the best one.
    tolerance : float, default=0.0
        The plateau is where values are within this much of the best one.
    class_name : str, default="the positive class"
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes
    """
    display = ThresholdCurveDisplay.from_predictions(
        y, probabilities, aim, chosen=chosen, tolerance=tolerance, class_name=class_name
    )
    return display.plot(ax).ax_
