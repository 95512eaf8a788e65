"""Columns of labels as arrays."""

import numpy as np
import pandas as pd
import pytest

from immax.tabular import as_labels


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([True, False], np.array([True, False])),
        ([0.0, 2.0], np.array([0, 2])),
        (["b", "a"], np.array(["b", "a"], dtype=object)),
        (pd.Series(["b", "a"], dtype="category"), np.array(["b", "a"], dtype=object)),
        ([1, "a"], np.array(["1", "a"], dtype=object)),
    ],
)
def test_types_of_labels(values, expected):
    found = as_labels(values)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


def test_fractions_are_not_classes():
    with pytest.raises(ValueError, match=r"holds the number 0.5, which is not a class"):
        as_labels(pd.Series([0.0, 0.5]))
