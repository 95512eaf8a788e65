"""Gains with what the test rows know about them."""

import numpy as np
import pytest

from immax.compare.gains import GROUPS, GroupedValues, make_row_groups


def test_groups_have_the_classes_and_folds_in_about_the_same_shares(comparison):
    groups = make_row_groups(comparison)
    for k in range(len(comparison.classes)):
        counts = np.bincount(groups[comparison.codes == k], minlength=GROUPS)
        assert np.ptp(counts) <= 1
    test = np.bincount(groups[comparison.splits[0].test], minlength=GROUPS)
    assert test.max() <= len(comparison.splits[0].test) / GROUPS + len(comparison.classes) + 1


def test_the_mean_is_that_of_the_folds_and_gains_are_antisymmetric(comparison):
    values = GroupedValues(comparison)
    own = [fold["accuracy"] for fold in comparison.scores("immax")]
    assert values.value("immax").mean == pytest.approx(np.mean(own))
    gain, loss = values.gain("weights", "immax"), values.gain("immax", "weights")
    assert gain.mean == pytest.approx(-loss.mean)
    assert (gain.low, gain.high) == pytest.approx((-loss.high, -loss.low))
    nothing = values.gain("immax", "immax")
    assert (nothing.mean, nothing.low, nothing.high, nothing.p) == (0, 0, 0, 1)


def test_the_error_of_an_accuracy_is_about_the_binomial_one(comparison):
    """Of one accuracy, whose rows are independent; two repeats share their rows."""
    found = GroupedValues(comparison).value("logistic")
    n = len(comparison.codes)
    assert found.error == pytest.approx(np.sqrt(found.mean * (1 - found.mean) / n), rel=0.6)
