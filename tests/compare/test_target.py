"""Targets of every type, and those that are refused."""

import numpy as np
import pandas as pd
import pytest

from immax.compare.target import encode_target
from immax.errors import WrongCall


@pytest.mark.parametrize(
    ("values", "classes"),
    [
        ([True, False] * 3, [False, True]),
        (pd.Series([7, 3] * 3, dtype="Int64"), [3, 7]),
        ([1.0, 0.0] * 3, [0, 1]),
        (pd.Series(["b", "a"] * 3, dtype="category"), ["a", "b"]),
        (np.array(["b", "a"] * 3), ["a", "b"]),
    ],
    ids=["bool", "nullable", "float", "category", "array"],
)
def test_codes_are_indices_of_the_sorted_classes(values, classes):
    target = encode_target(values)
    assert target.classes.tolist() == classes
    assert target.codes.tolist() == [1, 0] * 3


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["a"] * 20, "only one class, 'a'"),
        (["a"] * 18 + ["b"] * 2, "'b' has fewer"),
        (["a"] * 18 + ["b"] * 2 + ["c"], "'b', 'c' have fewer"),
        ([f"v{i}" for i in range(120)], "120 different values, more than 100"),
        ([0.5, 1.5] * 10, "the number 0.5, which is not a class"),
    ],
)
def test_targets_that_are_not_classes_are_refused(y, message):
    with pytest.raises(WrongCall, match=message):
        encode_target(pd.Series(y))
