"""LossSpec: frozen, comparable, and clear about what is wrong with a table or a sample."""

import numpy as np
import pytest

from immax.losses import LossSpec
from immax.losses.catalog import make_spec

COUNTS = [700, 250, 45, 5]


def test_a_spec_is_frozen_and_comparable():
    spec = make_spec("ldam", COUNTS)
    with pytest.raises(ValueError, match="read-only"):
        spec.temperature[0] = 2
    with pytest.raises(AttributeError):
        spec.focus = 1.0
    assert spec == make_spec("ldam", COUNTS)
    assert spec != make_spec("ldam", COUNTS, C=0.7)
    given = np.ones(2)
    copy = LossSpec(given)
    given[0] = 5
    assert copy.temperature[0] == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"temperature": [1, 0]}, "temperature of class 1 is 0"),
        ({"temperature": [1, 1], "scale": [1, -1]}, "scale of class 1 is -1"),
        ({"temperature": [1, 1], "offset": [1]}, "offset must be 2 finite numbers"),
        ({"temperature": [1, 1], "target_offset": [0, np.inf]}, "target_offset must be 2 finite"),
        ({"temperature": [1, 1], "droppable": [True]}, "droppable must be 2 booleans"),
        ({"temperature": [1, 1], "drop_rate": 1.0}, "drop_rate must be at least 0"),
        ({"temperature": [1, 1], "focus": np.nan}, "focus must be a finite number"),
    ],
)
def test_bad_tables_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        LossSpec(**arguments)


@pytest.mark.parametrize(
    ("scores", "y", "message"),
    [
        ([[1.0, 2.0, 3.0]], [0], r"scores must have shape \(1, 2\)"),
        ([[1.0, 2.0]], [2], "y holds 2; labels go from 0 to 1"),
        ([[1.0, 2.0]], [-1], "y holds -1"),
        ([[1.0, 2.0]], [0.5], "1-D array of integers"),
        ([[1.0, 2.0]], [[0]], "1-D array of integers"),
    ],
)
def test_bad_samples_are_named(scores, y, message):
    with pytest.raises(ValueError, match=message):
        LossSpec([1.0, 1.0]).loss(scores, y)
