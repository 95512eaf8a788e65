"""Axes, figures and tooltips, and the one guard of the import."""

import sys

import pytest

from immax.plots.axes import TOOLTIP, get_axes, new_figure, require_matplotlib, set_tooltip


def test_given_axes_are_used(ax):
    assert get_axes(ax) is ax


def test_new_axes_have_the_size_asked_for():
    figure = get_axes(width=5, height=2).figure
    assert figure.get_size_inches().tolist() == [5, 2]
    assert figure.get_layout_engine() is not None


def test_a_new_figure_is_not_managed_by_pyplot():
    from matplotlib import pyplot

    before = pyplot.get_fignums()
    figure = new_figure(3, 4, layout=None)
    assert figure.get_size_inches().tolist() == [3, 4]
    assert figure.get_layout_engine() is None
    assert pyplot.get_fignums() == before


def test_a_tooltip_is_the_id_of_its_artist(ax):
    line = ax.plot([0, 1])[0]
    set_tooltip(line, "a text")
    assert line.get_gid() == f"{TOOLTIP}a text"


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for call in (require_matplotlib, get_axes, lambda: new_figure(1, 1)):
        with pytest.raises(ImportError, match=r'plots need Matplotlib: .*"immax\[report\]"'):
            call()
