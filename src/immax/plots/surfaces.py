"""Gains of unequal over equal margins against the training error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from immax.arrays import Vector
from immax.evaluation.metrics import METRICS
from immax.plots.axes import COLOURS, new_figure, set_tooltip
from immax.plots.display import Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from immax.bench.surface_tables import Surfaces

__all__ = ["SurfacePanel", "SurfacesDisplay", "plot_surfaces"]

LEAST_ERROR = 0.01  # percent; smaller errors are drawn here, as the axis is logarithmic


@dataclass(frozen=True, eq=False)
class SurfacePanel:
    """What is drawn of one data set.

    Parameters
    ----------
    name : str
        The name of the data set.
    training_error : ndarray of shape (n_settings,)
        Training error with equal margins in percent, one for each λ or number of epochs.
    gains : dict of float to ndarray of shape (n_runs, n_settings)
        For each power of the class counts, the gain over equal margins, positive if better.
    """

    name: str
    training_error: Vector
    gains: dict[float, Vector]


@dataclass(eq=False)
class SurfacesDisplay(Display):
    """Gain of each power of the class counts over equal margins, one panel for each data set.

    Parameters
    ----------
    metric : str
        The metric that the gain is in.
    panels : sequence of SurfacePanel
        One for each data set.

    Attributes
    ----------
    axes_ : tuple of matplotlib Axes
        What ``plot`` drew on last; ``ax_`` is the first of them.
    """

    metric: str
    panels: Sequence[SurfacePanel]
    axes_: tuple[Axes, ...] = field(init=False, repr=False)

    @classmethod
    def from_surfaces(cls, surfaces: Sequence[Surfaces], test: str, metric: str) -> Self:
        """Create the display from the results of a benchmark.

        Parameters
        ----------
        surfaces : sequence of Surfaces
            Results for every λ (or number of epochs) and power, one for each data set.
        test : str
            The test set, such as ``"balanced"``.
        metric : str
            The metric; a key of ``immax.evaluation.metrics.METRICS``.

        Returns
        -------
        SurfacesDisplay
        """
        factor = METRICS[metric].factor
        panels = []
        for surface in surfaces:
            gains = factor * surface.gains(test, metric)
            panels.append(
                SurfacePanel(
                    surface.name,
                    np.maximum(100 * surface.error(), LEAST_ERROR),
                    {
                        float(power): gains[:, :, column]
                        for column, power in enumerate(surface.powers)
                        if column != surface.plain
                    },
                )
            )
        return cls(metric, panels)

    def plot(self, axes: Sequence[Axes] | None = None) -> Self:
        """Draw a line for each power, with the standard deviation over the runs.

        Parameters
        ----------
        axes : sequence of matplotlib Axes, optional
            One for each panel; by default those of a new figure.

        Returns
        -------
        SurfacesDisplay
            The display itself.
        """
        if axes is None:
            n = len(self.panels)
            axes = new_figure(4.2 * n, 3.6).subplots(1, n, squeeze=False)[0]
        self.axes_ = tuple(axes)
        self.ax_ = self.axes_[0]
        for ax, panel in zip(self.axes_, self.panels, strict=True):
            _draw_panel(ax, panel)
        self.axes_[0].set_ylabel(f"gain in {self.metric.replace('_', ' ')} over t = 0")
        self.axes_[-1].legend(fontsize="x-small")
        return self


def _draw_panel(ax: Axes, panel: SurfacePanel) -> None:
    error = panel.training_error
    for number, (power, gains) in enumerate(panel.gains.items()):
        lines = ax.errorbar(
            error,
            gains.mean(axis=0),
            yerr=gains.std(axis=0, ddof=1) if len(gains) > 1 else None,
            color=COLOURS[number % len(COLOURS)],
            marker="o",
            markersize=4,
            capsize=2,
            linewidth=1.2,
            label=f"t = {power:.2f}",
        )
        set_tooltip(lines[0], f"power {power:.2f}: best gain {gains.mean(axis=0).max():+.2f}")
    ax.axhline(0, color="0.5", linewidth=1)
    ax.set_xscale("log")
    ax.invert_xaxis()
    ax.set_xticks(error, [f"{value:.2g}" for value in error])
    ax.set_xticks([], minor=True)
    ax.set_title(panel.name, fontsize="small")
    ax.set_xlabel("training error with equal margins, %")


def plot_surfaces(
    surfaces: Sequence[Surfaces], test: str, metric: str, path: str | Path | None = None
) -> Figure:
    """Draw the gain of each power over equal margins against the training error.

    Parameters
    ----------
    surfaces : sequence of Surfaces
        Results for every λ (or number of epochs) and power, one for each data set, which has a
        panel.
    test : str
        The test set, such as ``"balanced"``.
    metric : str
        The metric; a key of ``immax.evaluation.metrics.METRICS``.
    path : str or Path, optional
        Save the figure to this file.

    Returns
    -------
    matplotlib Figure
    """
    figure = SurfacesDisplay.from_surfaces(surfaces, test, metric).plot().figure_
    if path is not None:
        figure.savefig(path, metadata={"Date": None})
    return figure
