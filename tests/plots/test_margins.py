"""Margins relative to equal ones."""

import numpy as np
import pytest

from immax.margins import theory_margins
from immax.plots import MarginsDisplay, plot_margins
from immax.plots.axes import TOOLTIP


@pytest.mark.parametrize("scale", [1.0, 3.0, 0.01])
def test_margins_of_any_scale_are_drawn_with_mean_one(scale, ax):
    display = MarginsDisplay.from_margins(scale * np.array([0.5, 1.0, 1.5])).plot(ax)
    np.testing.assert_allclose(display.margins, [0.5, 1.0, 1.5])
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], [0.5, 1.0, 1.5])
    assert ax.lines[0].get_xdata() == [1, 1]  # equal margins
    assert ax.get_xlabel() == "margin, relative to equal margins"


def test_the_first_class_is_on_top_and_long_names_are_cut(ax):
    MarginsDisplay.from_margins([1, 2], class_names=["a", "b" * 40]).plot(ax)
    labels = dict(zip(ax.get_yticks(), (t.get_text() for t in ax.get_yticklabels()), strict=True))
    assert labels == {1: "a", 0: "b" * 24}
    assert ax.patches[0].get_y() == pytest.approx(0.7)


def test_the_theory_is_a_line_across_each_bar(ax):
    counts = [1000, 8]
    theory = theory_margins(counts) / theory_margins(counts).mean()
    display = MarginsDisplay.from_margins([1.2, 0.8], counts, ["many", "few"]).plot(ax)
    np.testing.assert_allclose(display.theory, theory)
    assert [line.get_xdata()[0] for line in ax.lines[1:]] == pytest.approx(theory.tolist())
    tooltips = [bar.get_gid().removeprefix(TOOLTIP) for bar in ax.patches]
    assert tooltips == [
        f"many: margin 1.20, equal 1.00, theory {theory[0]:.2f}",
        f"few: margin 0.80, equal 1.00, theory {theory[1]:.2f}",
    ]
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert sorted(legend) == ["equal margins", "theory", "this model"]


def test_a_model_with_the_theorys_margins_agrees_with_the_theory(data, model, ax):
    assert plot_margins(model, np.bincount(data[1]), ax) is ax
    display = MarginsDisplay.from_estimator(model, np.bincount(data[1]))
    np.testing.assert_allclose(display.margins, display.theory)
    assert display.margins.mean() == pytest.approx(1)
    assert display.class_names == ["0", "1"]
