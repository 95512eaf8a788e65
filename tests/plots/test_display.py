"""What all displays share, and that there is a display for every function."""

import pytest

from immax import plots
from immax.plots import MarginsDisplay
from immax.plots.display import Display


def test_the_figure_is_that_of_the_last_axes(ax):
    display = MarginsDisplay.from_margins([1, 2])
    assert display.plot(ax) is display
    assert display.ax_ is ax
    assert display.figure_ is ax.figure


def test_nothing_drawn_yet():
    with pytest.raises(AttributeError, match=r"call plot\(\) first"):
        _ = MarginsDisplay.from_margins([1, 2]).figure_


def test_every_plot_is_a_function_and_a_display():
    functions = {name for name in plots.__all__ if name.startswith("plot_")}
    displays = {name for name in plots.__all__ if name.endswith("Display")}
    assert functions | displays == set(plots.__all__)
    names = {"plot_" + _snake(name.removesuffix("Display")) for name in displays}
    assert names == functions
    for name in displays:
        assert issubclass(getattr(plots, name), Display)


def _snake(name):
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")
