"""Mean ranks on a line, methods that do not differ significantly tied by a bar."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from immax.arrays import Array
from immax.evaluation.statistics import critical_difference
from immax.plots.axes import new_figure

__all__ = ["plot_ranks"]


def plot_ranks(
    names: Sequence[str], ranks: Array, n_sets: int, path: str | Path | None = None
) -> Any:
    """Draw a critical-difference diagram; saved if a path is given. Returns the figure.

    Parameters
    ----------
    names : sequence of str
        In the order of their ranks, the best first.
    ranks : ndarray
        Ascending.
    n_sets : int
        Data sets that were ranked on.
    """
    gap = critical_difference(len(names), n_sets)
    half = -(-len(names) // 2)
    figure = new_figure(8, 1.2 + 0.26 * half, layout=None)
    axes = figure.add_axes((0.22, 0.02, 0.56, 0.96))
    low, high = np.floor(min(ranks)), np.ceil(max(ranks))
    axes.set_xlim(low, high)
    axes.set_ylim(-half - 1.5, 2.2)
    axes.axis("off")
    axes.plot([low, high], [0, 0], color="black", lw=1)
    for tick in np.arange(low, high + 1):
        axes.plot([tick, tick], [0, 0.2], color="black", lw=1)
        axes.text(tick, 0.35, f"{tick:g}", ha="center", va="bottom", fontsize=8)
    axes.plot([low, low + gap], [1.5, 1.5], color="tab:red", lw=2)
    axes.text(low, 1.6, f"critical difference {gap:.2f}", fontsize=8, color="tab:red")
    tied = _cliques(ranks, gap)
    for number, (first, last) in enumerate(tied):
        height = -0.25 - 0.18 * number
        ends = [ranks[first] - 0.03, ranks[last] + 0.03]
        axes.plot(ends, [height, height], color="black", lw=2.5, solid_capstyle="butt")
    for place, (name, rank) in enumerate(zip(names, ranks, strict=True)):
        left = place < half
        depth = -1.2 - (place if left else len(names) - 1 - place)
        edge = low if left else high
        axes.plot([rank, rank, edge], [0, depth, depth], color="0.5", lw=0.8)
        align = "right" if left else "left"
        text = f"{name} {rank:.2f} " if left else f" {rank:.2f} {name}"
        axes.text(edge, depth, text, ha=align, va="center", fontsize=8)
    if path is not None:
        figure.savefig(path, metadata={"Date": None})
    return figure


def _cliques(ranks: Array, gap: float) -> list[tuple[int, int]]:
    """The longest runs of methods within a critical difference."""
    found: list[tuple[int, int]] = []
    for first in range(len(ranks)):
        last = int(np.flatnonzero(ranks <= ranks[first] + gap)[-1])
        if last > first and (not found or last > found[-1][1]):
            found.append((first, last))
    return found
