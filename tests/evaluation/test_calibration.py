"""Calibration of each class."""

import numpy as np
import pytest

from immax.evaluation.calibration import calibrate_classes
from immax.evaluation.metrics import expected_calibration_error


def test_a_weighted_model_is_caught_that_the_error_of_labels_misses():
    """One in forty is positive, and 30 % is predicted on average, never above one half."""
    rng = np.random.default_rng(0)
    y = (rng.random(4000) < 0.025).astype(int)
    p = rng.uniform(0.05, 0.55, 4000)
    rare, common = calibrate_classes(np.column_stack([1 - p, p]), y)
    assert rare.code == 1
    assert rare.share == pytest.approx(0.025, abs=0.01)
    assert rare.predicted == pytest.approx(0.3, abs=0.02)
    assert rare.error == pytest.approx(0.275, abs=0.02)
    assert common.error == pytest.approx(rare.error)
    right = np.column_stack([1 - y * 0.9, y * 0.9])
    assert calibrate_classes(right, y)[0].error == pytest.approx(0.1 * rare.share)


def test_bins_have_equally_many_samples_as_far_as_probabilities_differ():
    p = np.linspace(0.01, 0.99, 100)
    found = calibrate_classes(np.column_stack([1 - p, p]), (p > 0.5).astype(int), bins=5)[1]
    assert found.counts.tolist() == [20] * 5
    assert found.shares[0] == 0
    same = calibrate_classes(np.full((10, 2), 0.5), [0, 1] * 5)[0]
    assert same.counts.tolist() == [10]
    assert same.error == 0
    assert expected_calibration_error(np.full((10, 2), 0.5), [0, 1] * 5) == 0


def test_the_rarest_class_is_first():
    proba = np.full((9, 3), 1 / 3)
    assert [one.code for one in calibrate_classes(proba, [0] * 4 + [1] * 2 + [2] * 3)] == [1, 2, 0]
