"""Gains over equal margins against the training error."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from immax.evaluation.metrics import METRICS
from immax.plots.axes import COLOURS, get_axes, new_figure

if TYPE_CHECKING:
    from immax.bench.surface_tables import Surfaces

__all__ = ["plot_surfaces"]


def plot_surfaces(
    surfaces: Sequence[Surfaces], test: str, metric: str, path: str | Path | None = None
) -> Any:
    """Draw the gain of every power over equal margins against the training error.

    A panel for each data set. Returns the figure; saved if a path is given.
    """
    figure = new_figure(4.2 * len(surfaces), 3.6)
    panels = figure.subplots(1, len(surfaces), squeeze=False)[0]
    factor = METRICS[metric].factor
    for panel, found in zip(panels, surfaces, strict=True):
        ax = get_axes(panel)
        wrong = np.maximum(100 * found.error(), 0.01)
        gains = factor * found.gains(test, metric)
        for number, power in enumerate(found.powers):
            if number == found.plain:
                continue
            own = gains[:, :, number]
            ax.errorbar(
                wrong,
                own.mean(axis=0),
                yerr=own.std(axis=0, ddof=1) if len(own) > 1 else None,
                color=COLOURS[number % len(COLOURS)],
                marker="o",
                markersize=4,
                capsize=2,
                linewidth=1.2,
                label=f"t = {power:.2f}",
            )
        ax.axhline(0, color="0.5", linewidth=1)
        ax.set_xscale("log")
        ax.invert_xaxis()
        ax.set_xticks(wrong, [f"{value:.2g}" for value in wrong])
        ax.set_xticks([], minor=True)
        ax.set_title(found.name, fontsize="small")
        ax.set_xlabel("training error with equal margins, %")
    panels[0].set_ylabel(f"gain in {metric.replace('_', ' ')} over t = 0")
    panels[-1].legend(fontsize="x-small")
    if path is not None:
        figure.savefig(path, metadata={"Date": None})
    return figure
