"""The scores of a search for margins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from immax.plots.axes import get_axes, set_tooltip

if TYPE_CHECKING:
    from immax.search.base import MarginSearch

__all__ = ["plot_search"]


def plot_search(search: MarginSearch, ax: Any = None) -> Any:
    """Draw the score against the margins' parameter and the price; returns the axes.

    Circles are cells within a standard error of the best, the cross is the choice, the dashed line
    the theory's parameter. For families of one parameter; of two rules the better is shown.
    """
    if not hasattr(search, "cv_results_"):
        raise ValueError("the search has not been fitted")
    table, name = search.cv_results_, search._penalty_name
    if len(search.best_parameters_) != 1:
        raise ValueError("a picture is for families of one parameter")
    parameters = np.array([point[0] for point in table["param_parameters"]])
    prices = np.asarray(table[f"param_{name}"])
    columns, rows = np.unique(parameters), np.unique(prices)
    scores = np.full((rows.size, columns.size), np.nan)
    near = np.zeros(scores.shape, bool)
    at = np.searchsorted(rows, prices), np.searchsorted(columns, parameters)
    np.fmax.at(scores, at, table["mean_test_score"])
    np.logical_or.at(near, at, table["near_best"])
    ax = get_axes(ax, 7, 4)
    _draw_cells(ax, scores, near, columns, rows, name)
    chosen = (
        np.searchsorted(columns, search.best_parameters_[0]),
        np.searchsorted(rows, getattr(search, f"best_{name}_")),
    )
    ax.scatter(*chosen, marker="x", s=90, color="red", label="chosen")
    theory = float(np.interp(search.theory_parameters_[0], columns, np.arange(columns.size)))
    ax.axvline(theory, color="white", linestyle="--", linewidth=1, label="theory")
    ax.set_xticks(range(columns.size), [f"{value:.2f}" for value in columns])
    ax.set_yticks(range(rows.size), [f"{value:g}" for value in rows])
    ax.set(xlabel="parameter of the margins", ylabel=name)
    legend = ax.legend(loc="upper right", facecolor="#333333", framealpha=0.7, frameon=True)
    for text in legend.get_texts():
        text.set_color("white")
    return ax


def _draw_cells(ax: Any, scores: Any, near: Any, columns: Any, rows: Any, name: str) -> None:
    """A square for each cell, which says what it is; circles on those that are nearly the best."""
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize
    from matplotlib.patches import Rectangle

    shade = ScalarMappable(Normalize(np.nanmin(scores), np.nanmax(scores)), colormaps["viridis"])
    for (i, j), score in np.ndenumerate(scores):
        cell = Rectangle((j - 0.5, i - 0.5), 1, 1, color=shade.to_rgba(score))
        set_tooltip(cell, f"parameter {columns[j]:.3f}, {name} {rows[i]:g}: {score:.4f}")
        ax.add_patch(cell)
    ax.set(xlim=(-0.5, columns.size - 0.5), ylim=(-0.5, rows.size - 0.5))
    ax.figure.colorbar(shade, ax=ax, label="mean score of the folds")
    marked = np.argwhere(near)
    ax.scatter(
        marked[:, 1],
        marked[:, 0],
        s=60,
        facecolors="none",
        edgecolors="white",
        label="within a standard error",
    )
