"""Critical-difference diagrams."""

import numpy as np
import pytest

from immax.evaluation.statistics import critical_difference
from immax.plots import RanksDisplay, plot_ranks

NAMES, RANKS = ["a", "b", "c", "d"], np.array([1.0, 1.5, 2.4, 4.0])


def texts(ax):
    return {text.get_text().strip(): text.get_position() for text in ax.texts}


def test_groups_of_methods_that_do_not_differ():
    assert RanksDisplay(NAMES, RANKS, 1.0).groups() == [(0, 1), (1, 2)]
    assert RanksDisplay(NAMES, RANKS, 0.4).groups() == []
    assert RanksDisplay(NAMES, RANKS, 9.0).groups() == [(0, 3)]


def test_methods_are_ordered_by_rank():
    display = RanksDisplay.from_ranks(["b", "a"], [2.0, 1.0], 30)
    assert display.names == ["a", "b"]
    assert display.ranks.tolist() == [1.0, 2.0]
    assert display.critical_difference == critical_difference(2, 30)


def test_one_rank_for_each_name():
    with pytest.raises(ValueError, match=r"each of the 2 names; got shape \(3,\)"):
        RanksDisplay.from_ranks(["a", "b"], [1, 2, 3], 30)


def test_the_better_half_is_on_the_left(ax):
    RanksDisplay(NAMES, RANKS, 1.0).plot(ax)
    found = texts(ax)
    assert found["a 1.00"] == (1, -1.2)
    assert found["b 1.50"] == (1, -2.2)
    assert found["2.40 c"] == (4, -2.2)
    assert found["4.00 d"] == (4, -1.2)
    assert {"1", "2", "3", "4"} <= set(found)


def test_a_bar_for_each_group_and_one_for_the_critical_difference(ax):
    RanksDisplay(NAMES, RANKS, 1.0).plot(ax)
    bars = [line.get_xdata() for line in ax.lines if line.get_linewidth() == 2.5]
    np.testing.assert_allclose(bars, [[0.97, 1.53], [1.47, 2.43]])
    scale = [line.get_xdata() for line in ax.lines if line.get_linewidth() == 2]
    np.testing.assert_allclose(scale, [[1, 2]])
    assert "critical difference 1.00" in texts(ax)


def test_the_figure_is_saved_the_same_every_time(tmp_path):
    path = tmp_path / "ranks.svg"
    figure = plot_ranks(NAMES, RANKS, 50, path)
    assert path.read_text().startswith("<?xml")
    assert "<dc:date>" not in path.read_text()
    assert f"critical difference {critical_difference(4, 50):.2f}" in texts(figure.axes[0])
