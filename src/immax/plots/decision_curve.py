"""Decision curves: the net benefit of acting on a model's probabilities, for all cost ratios."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike

from immax.arrays import Vector
from immax.plots.axes import COLOURS, get_axes, set_tooltip
from immax.plots.display import Display
from immax.plots.precision_recall import LINE_STYLES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["DecisionCurveDisplay", "plot_decision_curve"]

RATIOS = np.geomspace(1, 100, 61)
"""How many times as much a miss costs as a false alarm."""


@dataclass(eq=False)
class DecisionCurveDisplay(Display):
    """Net benefit against the ratio of costs (Vickers and Elkin, 2006).

    If a miss costs r times as much as a false alarm, the best decision is to act where the
    probability is at least 1/(1 + r). The net benefit is then the share of true positives, less
    the share of false positives divided by r.

    Parameters
    ----------
    ratios : ndarray of shape (m,)
        What a miss costs in terms of false alarms.
    curves : dict of str to ndarray of shape (m,)
        Names of methods and their net benefits.
    act_always : ndarray of shape (m,)
        The net benefit of acting on every sample; that of never acting is zero.
    class_name : str, default=""
    """

    ratios: Vector
    curves: dict[str, Vector]
    act_always: Vector
    class_name: str = ""

    @classmethod
    def from_predictions(
        cls,
        y: ArrayLike,
        probabilities: Mapping[str, ArrayLike],
        *,
        ratios: ArrayLike = RATIOS,
        class_name: str = "",
    ) -> Self:
        """Create the display from held-out probabilities.

        Parameters
        ----------
        y : array-like of bool, shape (n,)
            Whether each sample is positive.
        probabilities : mapping of str to array-like of shape (n,)
            Names of methods, and their probabilities of being positive.
        ratios : array-like of shape (m,), optional
            What a miss costs in terms of false alarms; from 1 to 100 by default.
        class_name : str, default=""

        Returns
        -------
        DecisionCurveDisplay

        Examples
        --------
        >>> display = DecisionCurveDisplay.from_predictions(
        ...     [0, 0, 0, 1], {"model": [0.1, 0.2, 0.6, 0.7]}, ratios=[1.0, 3.0])
        >>> display.curves["model"].round(4).tolist()
        [0.0, 0.1667]
        """
        truth, r = np.asarray(y, dtype=bool), np.asarray(ratios, dtype=np.float64)
        curves = {}
        for name, values in probabilities.items():
            act = np.asarray(values, dtype=np.float64)[:, None] >= 1 / (1 + r)
            curves[name] = act[truth].sum(0) / len(truth) - act[~truth].sum(0) / len(truth) / r
        share = truth.mean()
        return cls(r, curves, share - (1 - share) / r, class_name)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw one line for each method, and those of acting always and never.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on; by default those of a new figure.

        Returns
        -------
        DecisionCurveDisplay
            The display itself.
        """
        self.ax_ = ax = get_axes(ax, 6.5, 4.2)
        for number, (name, values) in enumerate(self.curves.items()):
            line = ax.plot(
                self.ratios,
                values,
                color=COLOURS[number % len(COLOURS)],
                linestyle=LINE_STYLES[number // len(COLOURS) % len(LINE_STYLES)],
                linewidth=1.6,
                label=name,
            )[0]
            set_tooltip(line, f"{name}: net benefit {values[0]:.4f} to {values[-1]:.4f}")
        ax.plot(self.ratios, self.act_always, color="0.5", linestyle="--", label="act always")
        ax.axhline(0, color="0.5", linewidth=1, label="never act")
        top = max([0.0, *(float(values.max()) for values in self.curves.values())])
        ax.set(xscale="log", ylim=(-0.35 * top - 1e-6, 1.1 * top + 1e-6))
        missed = f"missing {self.class_name}" if self.class_name else "a miss"
        ax.set(xlabel=f"cost of {missed}, in false alarms", ylabel="net benefit per row")
        ax.set_xticks([1, 2, 5, 10, 20, 50, 100], ["1", "2", "5", "10", "20", "50", "100"])
        ax.minorticks_off()
        ax.legend(fontsize="small")
        ax.grid(alpha=0.3)
        return self


def plot_decision_curve(
    y: ArrayLike,
    probabilities: Mapping[str, ArrayLike],
    *,
    class_name: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw the net benefit of acting on probabilities against the ratio of costs.

    Parameters
    ----------
    y : array-like of bool, shape (n,)
        Whether each sample is positive.
    probabilities : mapping of str to array-like of shape (n,)
        Names of methods, and their probabilities of being positive.
    class_name : str, default=""
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes
    """
    display = DecisionCurveDisplay.from_predictions(y, probabilities, class_name=class_name)
    return display.plot(ax).ax_
