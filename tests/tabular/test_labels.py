"""Columns of labels as arrays."""

import numpy as np
import pandas as pd
import pytest

from immax.tabular import as_labels
from immax.tabular.labels import describe_labels, read_labels


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


LARGE = [2**60, 2**60 + 1, 2**60, -(2**62)]


def test_whole_numbers_that_floats_do_not_tell_apart():
    for dtype in ("int64", "Int64"):
        assert as_labels(pd.Series(LARGE, dtype=dtype)).tolist() == LARGE
    with pytest.raises(ValueError, match=r"whole numbers of up to 2\^53"):
        as_labels(pd.Series([0.0, 2.0**60]))


@pytest.mark.parametrize("as_text", [True, False])
def test_large_numbers_in_tables_are_labels_as_they_are_written(as_text):
    pa = pytest.importorskip("pyarrow")
    texts = [str(label) for label in LARGE]
    cells = pa.chunked_array([texts if as_text else LARGE])
    column = describe_labels("id", cells, declared=not as_text)
    assert column.kind == "category"
    assert read_labels(cells, column).tolist() == texts
    small = pa.chunked_array([["3", "5"] if as_text else [3, 5]])
    assert describe_labels("id", small, declared=not as_text).kind == "number"
