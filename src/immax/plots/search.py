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
MOST_POINTS = 20  # of families of several parameters, each of which is a column


@dataclass(eq=False)
class SearchDisplay(Display):
    """Mean test score of every candidate of a search.

    Parameters
    ----------
    parameters : ndarray of shape (n_points,), or (n_points, n_parameters)
        Parameters of the margin family, ascending: the columns. A family of several parameters,
        such as that of margins and class weights, has a column for each point.
    strengths : ndarray of shape (n_strengths,)
        Values of ``lam`` or ``C``, ascending: the rows.
    scores : ndarray of shape (n_strengths, n_points)
        Mean score of the folds; where a search tried two rules, that of the better one. NaN where
        a combination was not tried.
    near_best : ndarray of bool, shape (n_strengths, n_points)
        Whether the score is within one standard error of the best.
    best : tuple
        The chosen parameter, or point, and the chosen strength.
    theory : float or tuple of float
        The parameter, or point, that the theory prescribes.
    strength_name : str, default="lam"
        ``"lam"`` or ``"C"``.
    """

    parameters: Vector
    strengths: Vector
    scores: Vector
    near_best: Array
    best: tuple[float | tuple[float, ...], float]
    theory: float | tuple[float, ...]
    strength_name: str = "lam"

    @classmethod
    def from_search(cls, search: MarginSearch) -> Self:
        """Create the display from a fitted search.

        Parameters
        ----------
        search : IMMAXClassifierCV or IMMAXSVCCV
            A fitted search over a family of one parameter, or of few points.

        Returns
        -------
        SearchDisplay

        Raises
        ------
        ValueError
            If the search is not fitted, or its family has several parameters and many points.
        """
        if not hasattr(search, "cv_results_"):
            raise ValueError("the search has not been fitted: call fit() first")
        table = search.cv_results_
        name = next(name for name in STRENGTHS if f"param_{name}" in table)
        tried = np.asarray(table[f"param_{name}"], dtype=np.float64)
        values = np.array([np.ravel(point) for point in table["param_parameters"]], np.float64)
        points, columns = np.unique(values, axis=0, return_inverse=True)
        if values.shape[1] > 1 and len(points) > MOST_POINTS:
            raise ValueError(
                f"only searches over families of one parameter, or of at most {MOST_POINTS} "
                f"points, can be drawn; this one has {values.shape[1]} parameters and "
                f"{len(points)} points"
            )
        strengths, rows = np.unique(tried, return_inverse=True)
        scores = np.full((strengths.size, len(points)), np.nan)
        near_best = np.zeros(scores.shape, bool)
        cells = rows, columns.ravel()
        np.fmax.at(scores, cells, table["mean_test_score"])
        np.logical_or.at(near_best, cells, table["near_best"])
        single = values.shape[1] == 1
        return cls(
            points[:, 0] if single else points,
            strengths,
            scores,
            near_best,
            (_as_point(search.best_parameters_), float(getattr(search, f"best_{name}_"))),
            _as_point(search.theory_parameters_),
            name,
        )

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
        column = self._column(self.best[0])
        row = np.searchsorted(self.strengths, self.best[1])
        ax.scatter(column, row, marker="x", s=90, color="red", label="chosen")
        theory = self._column(self.theory)
        if not np.isnan(theory):  # else it was not among the points
            ax.axvline(theory, color="white", linestyle="--", linewidth=1, label="theory")
        labels = [self._words(point, 2) for point in self.parameters]
        ax.set_xticks(range(len(labels)), labels)
        ax.set_yticks(range(self.strengths.size), [f"{value:g}" for value in self.strengths])
        several = "" if self.parameters.ndim == 1 else "s"
        ax.set(xlabel=f"parameter{several} of the margins", ylabel=self.strength_name)
        legend = ax.legend(loc="upper right", facecolor="#333333", framealpha=0.7, frameon=True)
        for text in legend.get_texts():
            text.set_color("white")
        return self

    def _column(self, point: float | tuple[float, ...]) -> float:
        """Return where a point is drawn: between columns for one parameter, else in its own."""
        if self.parameters.ndim == 1:
            columns = np.arange(self.parameters.size)
            return float(np.interp(np.ravel(point)[0], self.parameters, columns))
        matching = np.flatnonzero(np.isclose(self.parameters, point).all(axis=1))
        return float(matching[0]) if matching.size else np.nan

    def _words(self, point: Array, digits: int) -> str:
        return ", ".join(f"{value:.{digits}f}" for value in np.ravel(point))

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
            where = self._words(self.parameters[j], 3)
            at = f"parameter {where}, {self.strength_name} {self.strengths[i]:g}"
            set_tooltip(cell, f"{at}: {score:.4f}")
            ax.add_patch(cell)
        n_rows, n_columns = self.scores.shape
        ax.set(xlim=(-0.5, n_columns - 0.5), ylim=(-0.5, n_rows - 0.5))
        ax.figure.colorbar(shade, ax=ax, label="mean score of the folds")


def _as_point(parameters: Array) -> float | tuple[float, ...]:
    values = tuple(float(value) for value in np.ravel(parameters))
    return values[0] if len(values) == 1 else values


def plot_search(search: MarginSearch, ax: Axes | None = None) -> Axes:
    """Draw the score of every candidate of a search.

    Circles mark the candidates within one standard error of the best, the cross the chosen one,
    and the dashed line the theory's parameter. Where the search tried two rules, the better score
    is shown.

    Parameters
    ----------
    search : IMMAXClassifierCV or IMMAXSVCCV
        A fitted search over a family of one parameter, or of few points.
    ax : matplotlib Axes, optional
        The axes to draw on; by default those of a new figure.

    Returns
    -------
    matplotlib Axes
    """
    return SearchDisplay.from_search(search).plot(ax).ax_
