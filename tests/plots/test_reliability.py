"""Reliability diagrams."""

import numpy as np
import pytest

from immax.evaluation.metrics import expected_calibration_error
from immax.plots import ReliabilityDisplay, plot_reliability
from immax.plots.axes import TOOLTIP

PROBA = np.array([[0.9, 0.1]] * 8 + [[0.3, 0.7]] * 4)
Y = np.array([0] * 6 + [1] * 2 + [1, 1, 1, 0])


def test_samples_are_counted_in_bins():
    display = ReliabilityDisplay.from_predictions(Y, PROBA, bins=10, name="A")
    np.testing.assert_allclose(display.confidence, [0.7, 0.9])
    np.testing.assert_allclose(display.share, [0.75, 0.75])
    np.testing.assert_array_equal(display.count, [4, 8])
    assert display.error == expected_calibration_error(PROBA, Y, 10)
    assert display.error == pytest.approx((4 * 0.05 + 8 * 0.15) / 12)


def test_a_probability_of_one_is_in_the_last_bin():
    display = ReliabilityDisplay.from_predictions([0], [[1.0, 0.0]], bins=10)
    assert display.confidence.tolist() == [1.0]


def test_a_point_for_each_bin_larger_for_more_samples(ax):
    assert plot_reliability(Y, PROBA, bins=10, name="A", ax=ax) is ax
    diagonal, curve, few, many = ax.lines
    np.testing.assert_array_equal(diagonal.get_xydata(), [[0, 0], [1, 1]])
    np.testing.assert_allclose(curve.get_xdata(), [0.7, 0.9])
    assert (few.get_xdata()[0], few.get_ydata()[0]) == pytest.approx((0.7, 0.75))
    assert few.get_markersize() < many.get_markersize() == 10
    assert many.get_gid() == f"{TOOLTIP}A: probability 0.900, share right 0.750, 8 rows"
    assert ax.get_title() == "A\ncalibration error 0.117"
    assert ax.get_xlim() == (pytest.approx(0.65), 1.02)


def test_an_estimator_gives_name_and_probabilities(data, model):
    X, y = data
    display = ReliabilityDisplay.from_estimator(model, X, y, bins=5)
    assert display.count.sum() == len(y)
    assert display.name == "IMMAXClassifier"
    expected = ReliabilityDisplay.from_predictions(y, model.predict_proba(X), bins=5)
    assert display.error == expected.error
    assert ReliabilityDisplay.from_estimator(model, X, y, name="mine").name == "mine"


def test_labels_are_coded_as_the_columns_are(data, model):
    X, y = data
    model = type(model)().fit(X, np.array(["no", "yes"])[y])
    display = ReliabilityDisplay.from_estimator(model, X, np.array(["no", "yes"])[y])
    assert display.error == ReliabilityDisplay.from_predictions(y, model.predict_proba(X)).error


def test_one_class_has_its_own_probabilities_and_axes(ax):
    display = ReliabilityDisplay.from_class(Y, PROBA, 1, name="A", class_name="rare").plot(ax)
    np.testing.assert_allclose(display.confidence, [0.1, 0.7])
    np.testing.assert_allclose(display.share, [0.25, 0.75])
    assert display.error == pytest.approx((8 * 0.15 + 4 * 0.05) / 12)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("probability of rare", "share of rare")
    assert ax.get_xlim()[1] == pytest.approx(1.08 * 0.75)
    assert ReliabilityDisplay.from_class(Y, PROBA, 0).class_name == "0"
