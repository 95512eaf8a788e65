"""Gains of the methods of a comparison."""

import numpy as np
import pytest

from immax.compare import Answer, Row
from immax.plots import ComparisonDisplay, plot_comparison
from immax.plots.axes import COLOURS, TOOLTIP


@pytest.fixture
def answer():
    rows = tuple(
        Row(name, title, {"macro_f1": 0.9 + gain}, 0.01, gain, gain - 0.02, gain + 0.03, 0.2, 1.0)
        for name, title, gain in (("immax", "IMMAX", 0.01), ("logistic", "logistic", 0.0))
    )
    return Answer("macro_f1", rows, "immax", "Use it.")


def test_a_point_and_an_interval_for_each_method_the_best_on_top(answer, ax):
    assert plot_comparison(answer, ax) is ax
    zero, first, point, second, _ = ax.lines
    assert zero.get_xdata() == [0, 0]
    np.testing.assert_allclose(first.get_xdata(), [-0.01, 0.04])
    np.testing.assert_array_equal(first.get_ydata(), [1, 1])
    np.testing.assert_allclose(second.get_xdata(), [-0.02, 0.03])
    np.testing.assert_array_equal(second.get_ydata(), [0, 0])
    assert (point.get_xdata()[0], point.get_ydata()[0]) == (0.01, 1)
    labels = dict(zip(ax.get_yticks(), (t.get_text() for t in ax.get_yticklabels()), strict=True))
    assert labels == {1: "IMMAX", 0: "logistic"}
    assert ax.get_xlabel() == "gain in macro f1 over plain logistic regression"


def test_the_recommended_method_has_its_own_colour(answer, ax):
    ComparisonDisplay.from_answer(answer).plot(ax)
    assert [line.get_color() for line in ax.lines[1:]] == [COLOURS[1]] * 2 + [COLOURS[0]] * 2


def test_tooltips_give_score_gain_and_interval(answer, ax):
    plot_comparison(answer, ax)
    tooltip = ax.lines[2].get_gid().removeprefix(TOOLTIP)
    assert tooltip == "IMMAX: 0.9100, gain +0.0100 (-0.0100 to +0.0400)"


def test_a_new_figure_grows_with_the_number_of_methods(answer):
    height = plot_comparison(answer).figure.get_size_inches()[1]
    assert height == pytest.approx(1.2 + 2 * 0.34)
