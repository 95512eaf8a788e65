"""Precision against recall of one class."""

import numpy as np
import pytest
from sklearn.metrics import precision_recall_curve

from immax.plots import PrecisionRecallDisplay, plot_precision_recall

Y = np.array([1, 1, 0, 0, 0])
SCORES = {"worse": [0.9, 0.4, 0.5, 0.1, 0.1], "better": [0.9, 0.8, 0.5, 0.1, 0.1]}


def test_average_precision_by_hand():
    display = PrecisionRecallDisplay.from_predictions(Y, SCORES)
    assert display.curves["worse"].average_precision == pytest.approx(0.5 + 0.5 * 2 / 3)
    assert display.curves["better"].average_precision == 1
    assert display.share == 0.4
    assert [name for name, _ in display.ordered()] == ["better", "worse"]


def test_the_best_curve_comes_first_and_the_share_is_a_line(ax):
    assert plot_precision_recall(Y, SCORES, class_name="rare", ax=ax) is ax
    better, worse, share = ax.lines
    assert [better.get_label(), worse.get_label()] == ["better (1.000)", "worse (0.833)"]
    precision, recall, _ = precision_recall_curve(Y, SCORES["worse"])
    np.testing.assert_array_equal(worse.get_xdata(), recall)
    np.testing.assert_array_equal(worse.get_ydata(), precision)
    assert share.get_ydata() == [0.4, 0.4]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("recall of rare", "precision")


def test_long_curves_are_thinned_but_keep_their_ends(ax):
    rng = np.random.default_rng(0)
    y, scores = rng.random(5000) < 0.3, rng.random(5000)
    display = PrecisionRecallDisplay.from_predictions(y, {"a": scores}).plot(ax, max_points=50)
    line, curve = ax.lines[0], display.curves["a"]
    assert line.get_xdata().size == 50
    assert line.get_xdata()[[0, -1]].tolist() == curve.recall[[0, -1]].tolist()
    assert ax.get_xlabel() == "recall of the class"


def test_more_methods_than_colours_differ_in_style(ax):
    PrecisionRecallDisplay.from_predictions(Y, {f"{i}": SCORES["worse"] for i in range(9)}).plot(ax)
    looks = {(line.get_color(), line.get_linestyle()) for line in ax.lines[:9]}
    assert len(looks) == 9
