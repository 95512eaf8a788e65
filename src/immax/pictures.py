"""What all pictures share: where they are drawn, and what their parts say when pointed at."""

from __future__ import annotations

from typing import Any

__all__ = ["COLOURS", "TIP", "axes", "tip"]

TIP = "tip "
COLOURS = ("#4477aa", "#ee6677", "#228833", "#ccaa22", "#66aacc", "#aa3377", "#888888")


def axes(ax: Any, width: float = 6.0, height: float = 4.0) -> Any:
    """The axes that were given, or new ones."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ModuleNotFoundError as error:
        raise ImportError('drawing needs matplotlib: pip install "immax[report]"') from error
    return pyplot.subplots(figsize=(width, height), layout="constrained")[1]


def tip(artist: Any, text: str) -> None:
    """Let a part of a picture say something when it is pointed at, on a page."""
    artist.set_gid(TIP + text)
