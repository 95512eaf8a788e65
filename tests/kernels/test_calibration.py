"""Folds of a calibration."""

import numpy as np
import pytest

from immax.kernels.calibration import calibration_folds
from immax.validation import Sample


def sample(labels, weight=None):
    labels = np.array(labels)
    weight = np.ones(labels.size) if weight is None else np.array(weight, float)
    return Sample(np.unique(labels), labels, weight, np.bincount(labels, weight))


def test_every_fold_has_every_class():
    labels = np.repeat([0, 1, 2], [60, 12, 5])
    folds = calibration_folds(sample(labels), 0)
    for k in range(3):
        sizes = np.bincount(folds[labels == k], minlength=5)
        assert sizes.max() - sizes.min() <= 1
    np.testing.assert_array_equal(folds, calibration_folds(sample(labels), 0))
    assert (folds != calibration_folds(sample(labels), 1)).any()


def test_small_classes_make_fewer_folds():
    assert set(calibration_folds(sample([0] * 9 + [1] * 3), None)) == {0, 1, 2}
    with pytest.raises(ValueError, match="two samples or more"):
        calibration_folds(sample([0, 0, 0, 1]), None)
    with pytest.raises(ValueError, match="two samples or more"):
        calibration_folds(sample([0, 0, 1, 1], [1, 1, 1, 0]), None)
