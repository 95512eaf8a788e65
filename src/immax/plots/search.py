"""Scores of all candidates of a margin search, as a heat map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from immax.arrays import Array, Vector
from immax.plots.axes import get_axes, set_tooltip
from immax.plots.display import Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from immax.search.base import MarginSearch

__all__ = ["SearchDisplay", "plot_search"]

STRENGTHS = ("lam", "C")  # what the searches call the strength of the penalty


@dataclass(eq=False)
class SearchDisplay(Display):
    """Mean test score of every candidate of a search over a family of one parameter.

    Parameters
    ----------
    parameters : ndarray of shape (n_parameters,)
        Parameters of the margin family, ascending: the columns.
    strengths : ndarray of shape (n_strengths,)
        Values of ``lam`` or ``C``, ascending: the rows.
    scores : ndarray of shape (n_strengths, n_parameters)
        Mean score of the folds; where a search tried two rules, that of the better one. NaN where
        a combination was not tried.
    near_best : ndarray of bool, shape (n_strengths, n_parameters)
        Whether the score is within one standard error of the best.
    best : tuple of float
        The chosen parameter and strength.
    theory : float
        The parameter that the theory prescribes.
    strength_name : str, default="lam"
        ``"lam"`` or ``"C"``.
    """

    parameters: Vector
    strengths: Vector
    scores: Vector
    near_best: Array
    best: tuple[float, float]
    theory: float
    strength_name: str = "lam"

    @classmethod
    def from_search(cls, search: MarginSearch) -> Self:
        """Create the display from a fitted search.

        Parameters
        ----------
        search : IMMAXClassifierCV or IMMAXSVCCV
            A fitted search over a family of one parameter.

        Returns
        -------
        SearchDisplay

        Raises
        ------
        ValueError
            If the search is not fitted, or its family has more than one parameter.
        """
        if not hasattr(search, "cv_results_"):
            raise ValueError("the search has not been fitted: call fit() first")
        if len(search.best_parameters_) != 1:
            raise ValueError(
                "only searches over families of one parameter can be drawn; this one has "
                f"{len(search.best_parameters_)} parameters"
            )
        table = search.cv_results_
        name = next(name for name in STRENGTHS if f"param_{name}" in table)
        values = np.array([point[0] for point in table["param_parameters"]], dtype=np.float64)
        tried = np.asarray(table[f"param_{name}"], dtype=np.float64)
        columns, rows = np.unique(values), np.unique(tried)
        scores = np.full((rows.size, columns.size), np.nan)
        near_best = np.zeros(scores.shape, bool)
        cells = np.searchsorted(rows, tried), np.searchsorted(columns, values)
        np.fmax.at(scores, cells, table["mean_test_score"])
        np.logical_or.at(near_best, cells, table["near_best"])
        best = float(search.best_parameters_[0]), float(getattr(search, f"best_{name}_"))
        theory = float(search.theory_parameters_[0])
        return cls(columns, rows, scores, near_best, best, theory, name)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw a cell for each candidate.

        Circles mark the candidates within one standard error of the best, the cross the chosen
        one, and the dashed line the theory's parameter.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on; by default those of a new figure.

        Returns
        -------
        SearchDisplay
            The display itself.
        """
        self.ax_ = ax = get_axes(ax, 7, 4)
        self._draw_cells(ax)
        rows, columns = np.nonzero(self.near_best)
        ax.scatter(
            columns,
            rows,
            s=60,
            facecolors="none",
            edgecolors="white",
            label="within a standard error",
        )
        column = np.searchsorted(self.parameters, self.best[0])
        row = np.searchsorted(self.strengths, self.best[1])
        ax.scatter(column, row, marker="x", s=90, color="red", label="chosen")
        theory = float(np.interp(self.theory, self.parameters, np.arange(self.parameters.size)))
        ax.axvline(theory, color="white", linestyle="--", linewidth=1, label="theory")
        ax.set_xticks(range(self.parameters.size), [f"{value:.2f}" for value in self.parameters])
        ax.set_yticks(range(self.strengths.size), [f"{value:g}" for value in self.strengths])
        ax.set(xlabel="parameter of the margins", ylabel=self.strength_name)
        legend = ax.legend(loc="upper right", facecolor="#333333", framealpha=0.7, frameon=True)
        for text in legend.get_texts():
            text.set_color("white")
        return self

    def _draw_cells(self, ax: Axes) -> None:
        """Draw the cells one by one rather than as an image, so that each has its tooltip."""
        from matplotlib import colormaps
        from matplotlib.cm import ScalarMappable
        from matplotlib.colors import Normalize
        from matplotlib.patches import Rectangle

        limits = Normalize(np.nanmin(self.scores), np.nanmax(self.scores))
        shade = ScalarMappable(limits, colormaps["viridis"])
        colors = shade.to_rgba(self.scores)
        for (i, j), score in np.ndenumerate(self.scores):
            cell = Rectangle((j - 0.5, i - 0.5), 1, 1, color=colors[i, j])
            at = f"parameter {self.parameters[j]:.3f}, {self.strength_name} {self.strengths[i]:g}"
            set_tooltip(cell, f"{at}: {score:.4f}")
            ax.add_patch(cell)
        n_rows, n_columns = self.scores.shape
        ax.set(xlim=(-0.5, n_columns - 0.5), ylim=(-0.5, n_rows - 0.5))
        ax.figure.colorbar(shade, ax=ax, label="mean score of the folds")


def plot_search(search: MarginSearch, ax: Axes | None = None) -> Axes:
    """Draw the score of every candidate of a search over a family of one parameter.

    Circles mark the candidates within one standard error of the best, the cross the chosen one,
    and the dashed line the theory's parameter. Where the search tried two rules, the better score
    is shown.

    Parameters
    ----------
    search : IMMAXClassifierCV or IMMAXSVCCV
        A fitted search over a family of one parameter.
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes
    """
    return SearchDisplay.from_search(search).plot(ax).ax_
