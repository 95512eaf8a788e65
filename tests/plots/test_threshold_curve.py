"""The value of an aim at every threshold."""

import numpy as np
import pytest

from immax.decisions import Costs
from immax.plots import ThresholdCurveDisplay, plot_threshold_curve
from immax.plots.axes import TOOLTIP

Y = np.array([0, 0, 1, 0, 1, 1])
P = np.array([0.1, 0.2, 0.3, 0.4, 0.6, 0.9])


def test_values_by_hand_and_the_best_threshold():
    display = ThresholdCurveDisplay.from_predictions(Y, P, "accuracy")
    assert display.best == pytest.approx(5 / 6)
    assert display.value_at(0.5) == pytest.approx(5 / 6)
    assert display.value_at(0.0) == pytest.approx(1 / 2)
    assert (np.diff(display.thresholds) > 0).all()


def test_costs_are_positive_and_the_lowest_is_the_best():
    display = ThresholdCurveDisplay.from_predictions(Y, P, Costs([1.0, 5.0]))
    assert display.best == pytest.approx(1 / 6)
    assert display.label == "cost per row"
    assert display.chosen == pytest.approx(0.25)


def test_the_plateau_grows_with_the_tolerance():
    narrow = ThresholdCurveDisplay.from_predictions(Y, P, "f1")
    wide = ThresholdCurveDisplay.from_predictions(Y, P, "f1", tolerance=0.2)
    assert wide.plateau[0] <= narrow.plateau[0] <= narrow.plateau[1] <= wide.plateau[1]
    assert wide.plateau != narrow.plateau
    everything = ThresholdCurveDisplay.from_predictions(Y, P, "f1", tolerance=1.0)
    assert everything.plateau == (
        pytest.approx(everything.thresholds[0]), pytest.approx(everything.thresholds[-1])
    )  # fmt: skip


def test_the_rule_is_marked(ax):
    assert plot_threshold_curve(Y, P, "f1", chosen=0.35, class_name="fraud", ax=ax) is ax
    curve, line, point = ax.lines
    assert line.get_xdata()[0] == point.get_xdata()[0] == 0.35
    assert point.get_gid().startswith(f"{TOOLTIP}the rule: 0.35, f1 0.6667")
    assert ax.get_xlabel() == "threshold of the probability of fraud"
    assert curve.get_xdata().size == 7


def test_a_logarithmic_axis(ax):
    positions = np.geomspace(0.1, 10, 5)
    ThresholdCurveDisplay(positions, positions, 1.0, logarithmic=True).plot(ax)
    assert ax.get_xscale() == "log"
