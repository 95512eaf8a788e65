"""Critical-difference diagrams: mean ranks on a line, with bars over methods that do not differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike

from immax.arrays import Vector
from immax.evaluation.statistics import critical_difference
from immax.plots.axes import get_axes, new_figure, set_tooltip
from immax.plots.display import Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["RanksDisplay", "plot_ranks"]

MARGIN = 0.22  # share of the figure's width on either side that the names take


@dataclass(eq=False)
class RanksDisplay(Display):
    """Critical-difference diagram of mean ranks (Demšar, 2006).

    Parameters
    ----------
    names : sequence of str
        Names of the methods, the best first.
    ranks : ndarray of shape (n_methods,)
        Their mean ranks, ascending.
    critical_difference : float
        Methods whose ranks differ by less than this do not differ significantly.

    References
    ----------
    J. Demšar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7, 2006.
    """

    names: Sequence[str]
    ranks: Vector
    critical_difference: float

    @classmethod
    def from_ranks(cls, names: Sequence[str], ranks: ArrayLike, n_sets: int) -> Self:
        """Create the display from mean ranks.

        Parameters
        ----------
        names : sequence of str
            Names of the methods.
        ranks : array-like of shape (n_methods,)
            Their mean ranks; 1 is the best.
        n_sets : int
            Number of data sets that the ranks are means over.

        Returns
        -------
        RanksDisplay
        """
        values = np.asarray(ranks, dtype=np.float64)
        if values.shape != (len(names),):
            raise ValueError(
                f"ranks must hold one number for each of the {len(names)} names; "
                f"got shape {values.shape}"
            )
        order = np.argsort(values, kind="stable")
        ordered = [names[place] for place in order]
        return cls(ordered, values[order], critical_difference(len(names), n_sets))

    def groups(self) -> list[tuple[int, int]]:
        """Return the largest groups of methods that do not differ significantly.

        Returns
        -------
        list of (int, int)
            The first and the last method of each group, as places in ``names``.
        """
        groups: list[tuple[int, int]] = []
        for first, rank in enumerate(self.ranks):
            last = int(np.flatnonzero(self.ranks <= rank + self.critical_difference)[-1])
            if last > first and (not groups or last > groups[-1][1]):
                groups.append((first, last))
        return groups

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the ranks on a line and a bar below each group of methods that do not differ.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on, which need room for the names on both sides; by default those of
            a new figure.

        Returns
        -------
        RanksDisplay
            The display itself.
        """
        half = -(-len(self.names) // 2)
        self.ax_ = ax = get_axes(ax, 8, self._height())
        low, high = np.floor(self.ranks.min()), np.ceil(self.ranks.max())
        ax.set(xlim=(low, high), ylim=(-half - 1.5, 2.2))
        ax.axis("off")
        ax.plot([low, high], [0, 0], color="black", lw=1)
        for tick in np.arange(low, high + 1):
            ax.plot([tick, tick], [0, 0.2], color="black", lw=1)
            ax.text(tick, 0.35, f"{tick:g}", ha="center", va="bottom", fontsize=8)
        gap = self.critical_difference
        ax.plot([low, low + gap], [1.5, 1.5], color="tab:red", lw=2)
        ax.text(low, 1.6, f"critical difference {gap:.2f}", fontsize=8, color="tab:red")
        for number, (first, last) in enumerate(self.groups()):
            height = -0.25 - 0.18 * number
            ends = [self.ranks[first] - 0.03, self.ranks[last] + 0.03]
            bar = ax.plot(ends, [height, height], color="black", lw=2.5, solid_capstyle="butt")[0]
            set_tooltip(bar, f"{self.names[first]} to {self.names[last]}: not significant")
        for place, (name, rank) in enumerate(zip(self.names, self.ranks, strict=True)):
            left = place < half
            depth = -1.2 - (place if left else len(self.names) - 1 - place)
            edge = low if left else high
            ax.plot([rank, rank, edge], [0, depth, depth], color="0.5", lw=0.8)
            text = f"{name} {rank:.2f} " if left else f" {rank:.2f} {name}"
            ax.text(edge, depth, text, ha="right" if left else "left", va="center", fontsize=8)
        return self

    def _height(self) -> float:
        return 1.2 + 0.26 * -(-len(self.names) // 2)


def plot_ranks(
    names: Sequence[str], ranks: ArrayLike, n_sets: int, path: str | Path | None = None
) -> Figure:
    """Draw a critical-difference diagram.

    Parameters
    ----------
    names : sequence of str
        Names of the methods.
    ranks : array-like of shape (n_methods,)
        Their mean ranks; 1 is the best.
    n_sets : int
        Number of data sets that the ranks are means over.
    path : str or Path, optional
        Save the figure to this file.

    Returns
    -------
    matplotlib Figure
    """
    display = RanksDisplay.from_ranks(names, ranks, n_sets)
    figure = new_figure(8, display._height(), layout=None)
    display.plot(figure.add_axes((MARGIN, 0.02, 1 - 2 * MARGIN, 0.96)))
    if path is not None:
        figure.savefig(path, metadata={"Date": None})
    return figure
