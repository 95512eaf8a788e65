"""The margins of a model, with the theory's and equal ones for comparison."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike

from immax.arrays import Array, Vector
from immax.margins import theory_margins
from immax.plots.axes import COLOURS, get_axes, set_tooltip
from immax.plots.display import Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["MarginsDisplay", "plot_margins"]

LONGEST_NAME = 24  # characters of a tick label


class ModelWithMargins(Protocol):
    """A fitted classifier that has margins."""

    margins_: Array
    classes_: Array


@dataclass(eq=False)
class MarginsDisplay(Display):
    """Margin of each class, with the theory's and equal margins for comparison.

    Margins are drawn with mean one, so that equal margins are 1.

    Parameters
    ----------
    margins : ndarray of shape (c,)
        The margins of the model, with mean one.
    theory : ndarray of shape (c,) or None
        The margins that the theory prescribes, with mean one.
    class_names : sequence of str
        Names of the classes.
    """

    margins: Vector
    theory: Vector | None
    class_names: Sequence[str]

    @classmethod
    def from_estimator(cls, model: ModelWithMargins, counts: ArrayLike | None = None) -> Self:
        """Create the display from a fitted model.

        Parameters
        ----------
        model : fitted classifier
            With ``margins_`` and ``classes_``.
        counts : array-like of shape (c,), optional
            Class counts; with them, the theory's margins are shown too.

        Returns
        -------
        MarginsDisplay
        """
        return cls.from_margins(model.margins_, counts, model.classes_)

    @classmethod
    def from_margins(
        cls,
        margins: ArrayLike,
        counts: ArrayLike | None = None,
        class_names: Iterable[object] | None = None,
    ) -> Self:
        """Create the display from margins.

        Parameters
        ----------
        margins : array-like of shape (c,)
            Margins of any scale.
        counts : array-like of shape (c,), optional
            Class counts; with them, the theory's margins are shown too.
        class_names : iterable, optional
            Names of the classes; by default their numbers.

        Returns
        -------
        MarginsDisplay
        """
        rho = np.asarray(margins, dtype=np.float64)
        names = range(rho.size) if class_names is None else class_names
        theory = None if counts is None else _mean_one(theory_margins(counts))
        return cls(_mean_one(rho), theory, [str(name) for name in names])

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw a bar for each class, and a line across it for the theory's margin.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on; by default those of a new figure.

        Returns
        -------
        MarginsDisplay
            The display itself.
        """
        n = self.margins.size
        self.ax_ = ax = get_axes(ax, 6, 1.4 + 0.32 * n)
        heights = np.arange(n)[::-1]
        bars = ax.barh(heights, self.margins, height=0.6, color=COLOURS[0], label="this model")
        ax.axvline(1, color="0.5", linestyle=":", label="equal margins")
        for k, bar in enumerate(bars):
            text = f"{self.class_names[k]}: margin {self.margins[k]:.2f}, equal 1.00"
            if self.theory is not None:
                text += f", theory {self.theory[k]:.2f}"
                ends = [heights[k] - 0.4, heights[k] + 0.4]
                label = "theory" if k == 0 else None
                ax.plot([self.theory[k]] * 2, ends, color=COLOURS[1], linewidth=2.5, label=label)
            set_tooltip(bar, text)
        ax.set_yticks(heights, [name[:LONGEST_NAME] for name in self.class_names])
        ax.set_xlabel("margin, relative to equal margins")
        ax.legend(fontsize="small")
        return self


def plot_margins(
    model: ModelWithMargins, counts: ArrayLike | None = None, ax: Axes | None = None
) -> Axes:
    """Draw the margins of a fitted model relative to equal margins.

    Parameters
    ----------
    model : fitted classifier
        With ``margins_`` and ``classes_``.
    counts : array-like of shape (c,), optional
        Class counts; with them, the theory's margins are shown too.
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes
    """
    return MarginsDisplay.from_estimator(model, counts).plot(ax).ax_


def _mean_one(rho: Vector) -> Vector:
    return np.asarray(rho / rho.mean(), dtype=np.float64)
