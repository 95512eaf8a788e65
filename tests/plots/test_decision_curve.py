"""Net benefit against the ratio of costs."""

import numpy as np
import pytest

from immax.plots import DecisionCurveDisplay, plot_decision_curve

Y = np.array([0, 0, 0, 0, 1, 1])
P = {"good": [0.1, 0.1, 0.2, 0.6, 0.7, 0.9], "constant": [0.3] * 6}


def test_net_benefit_by_hand():
    display = DecisionCurveDisplay.from_predictions(Y, P, ratios=[1.0, 4.0])
    assert display.curves["good"].tolist() == pytest.approx([2 / 6 - 1 / 6, 2 / 6 - 2 / 6 / 4])
    assert display.curves["constant"].tolist() == pytest.approx([0, 2 / 6 - 4 / 6 / 4])
    assert display.act_always.tolist() == pytest.approx([2 / 6 - 4 / 6, 2 / 6 - 4 / 6 / 4])


def test_a_line_for_each_method_and_two_that_need_none(ax):
    assert plot_decision_curve(Y, P, class_name="fraud", ax=ax) is ax
    labels = [line.get_label() for line in ax.lines]
    assert labels == ["good", "constant", "act always", "never act"]
    assert ax.get_xlabel() == "cost of missing fraud, in false alarms"
    assert ax.get_xscale() == "log"
