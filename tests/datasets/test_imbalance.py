import numpy as np
import pytest

from immax.datasets import long_tailed


def test_exponential_profile():
    y = np.random.default_rng(0).permutation(np.repeat(list("abcde"), 1000))
    keep = long_tailed(y, 100, random_state=0)
    sizes = np.unique(y[keep], return_counts=True)[1]
    np.testing.assert_array_equal(sizes, np.round(1000 * 100 ** (-np.arange(5) / 4)))
    assert (np.diff(keep) > 0).all()
    np.testing.assert_array_equal(keep, long_tailed(y, 100, random_state=0))
    assert not np.array_equal(keep, long_tailed(y, 100, random_state=1))


def test_every_class_keeps_a_sample():
    y = np.repeat([0, 1, 2], 4)
    assert np.bincount(y[long_tailed(y, 1e6)]).min() == 1
    np.testing.assert_array_equal(long_tailed(y, 1), np.arange(12))


@pytest.mark.parametrize(
    ("y", "ratio", "message"),
    [
        ([0, 1], 0.5, "ratio must be a finite number of at least 1"),
        ([0, 1], np.nan, "ratio must be"),
        ([0, 0], 10, "at least two classes"),
        ([], 10, "not empty"),
        ([[0, 1]], 10, "1-D array"),
    ],
)
def test_bad_input(y, ratio, message):
    with pytest.raises(ValueError, match=message):
        long_tailed(y, ratio)
