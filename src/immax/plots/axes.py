"""What all plots share: Matplotlib's axes and figures, colours, and tooltips."""

from __future__ import annotations

from typing import Any, Literal

__all__ = ["COLOURS", "TOOLTIP", "get_axes", "new_figure", "require_matplotlib", "set_tooltip"]

TOOLTIP = "tip "  # prefix of the ids that carry a text
COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccaa22", "#66aacc", "#aa3377", "#888888")


def require_matplotlib() -> Any:
    """Import Matplotlib, or raise an ImportError that names the extra."""
    try:
        import matplotlib
    except ModuleNotFoundError as error:
        raise ImportError('plots need Matplotlib: pip install "immax[report]"') from error
    return matplotlib


def get_axes(ax: Any = None, width: float = 6.0, height: float = 4.0) -> Any:
    """Return ``ax``, or new axes of this size in inches if it is None."""
    if ax is not None:
        return ax
    require_matplotlib()
    from matplotlib import pyplot

    return pyplot.subplots(figsize=(width, height), layout="constrained")[1]


def new_figure(
    width: float, height: float, layout: Literal["constrained"] | None = "constrained"
) -> Any:
    """Return an empty figure of this size in inches that pyplot does not know of."""
    require_matplotlib()
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout=layout)


def set_tooltip(artist: Any, text: str) -> None:
    """Show a text when a reader of the report points at this part of a plot."""
    artist.set_gid(TOOLTIP + text)
