"""Axes, figures, colours and tooltips that all plots share."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["COLOURS", "TOOLTIP", "get_axes", "new_figure", "require_matplotlib", "set_tooltip"]

TOOLTIP = "tooltip "  # prefix of the ids that carry a text
COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccaa22", "#66aacc", "#aa3377", "#888888")


def require_matplotlib() -> ModuleType:
    """Import Matplotlib, the only optional dependency of the plots.

    Returns
    -------
    module

    Raises
    ------
    ImportError
        If Matplotlib is not installed; the message names the extra to install.
    """
    try:
        import matplotlib
    except ModuleNotFoundError as error:
        raise ImportError('plots need Matplotlib: pip install "immax[report]"') from error
    return matplotlib


def get_axes(ax: Axes | None = None, width: float = 6.0, height: float = 4.0) -> Axes:
    """Return the given axes, or new ones.

    Parameters
    ----------
    ax : matplotlib Axes, optional
        The axes to draw on.
    width, height : float, default=6.0 and 4.0
        Size in inches of the figure that is made if ``ax`` is None.

    Returns
    -------
    matplotlib Axes
    """
    if ax is not None:
        return ax
    require_matplotlib()
    from matplotlib import pyplot

    return pyplot.subplots(figsize=(width, height), layout="constrained")[1]


def new_figure(
    width: float, height: float, layout: Literal["constrained"] | None = "constrained"
) -> Figure:
    """Return an empty figure that pyplot does not manage.

    Parameters
    ----------
    width, height : float
        Size in inches.
    layout : {"constrained"} or None, default="constrained"
        Matplotlib's layout engine.

    Returns
    -------
    matplotlib Figure
    """
    require_matplotlib()
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout=layout)


def set_tooltip(artist: Artist, text: str) -> None:
    """Attach a text that the report shows when the reader points at a part of a plot.

    Parameters
    ----------
    artist : matplotlib Artist
        A part of the plot, such as a line or a bar.
    text : str
        What the tooltip says.
    """
    artist.set_gid(TOOLTIP + text)
