"""Parts as they are read: checks, the first round, and class indices."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from immax.distributed.raw_parts import Encoding, encode_part, read_part, summarise_part
from immax.distributed.row_hashes import fold_numbers

X = np.array([[3.0, 4.0], [0.0, 1.0], [1.0, 0.0]])


def test_the_summary_is_of_all_rows():
    first = read_part(0, X, ["b", "a", "b"], [1.0, 2.0, 0.0])
    second = read_part(1, X[:2].astype(np.float32), ["c", "b"])
    empty = read_part(2, X[:0], np.empty(0, dtype="U1"))
    found = summarise_part(first, True) + summarise_part(second, True) + summarise_part(empty, True)
    assert found.labels.tolist() == ["a", "b", "c"]
    assert found.counts == {"a": 2.0, "b": 2.0, "c": 1.0}
    assert found.radii == {"a": 1.0, "b": 5.0, "c": 5.0}
    assert {number: tuple(size) for number, size in found.sizes.items()} == {
        0: (3, 2),
        1: (2, 2),
        2: (0, 0),
    }
    assert found.double
    assert not summarise_part(second).double
    assert not found.sparse
    assert summarise_part(read_part(0, sparse.csr_matrix(X), [0, 1, 1])).entries == 4


def test_rows_without_weight_are_left_out():
    part = read_part(1, X, ["b", "a", "b"], [1.0, 0.0, 3.0])
    encoding = Encoding(np.array(["a", "b"]), {1: (10, 7)}, np.dtype(np.float32), 3, 5)
    found = encode_part(part, encoding)
    assert found.X.dtype == np.float32
    np.testing.assert_array_equal(found.X, X[[0, 2]])
    assert found.y.tolist() == [1, 1]
    assert found.weight.tolist() == [1, 3]
    assert found.places.tolist() == [7, 8]
    assert found.folds.tolist() == fold_numbers(np.array([10, 12]), 3, 5).tolist()


def test_frames_and_other_numbers_become_floats():
    frame = pd.DataFrame({"a": [1, 2], "b": [True, False]})
    assert read_part(0, frame, [0, 1]).X.tolist() == [[1, 1], [2, 0]]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (([[np.nan]], [0]), "partition 4: Input X contains NaN"),
        (([[1.0]], [np.nan]), "partition 4: Input y contains NaN"),
        (([[1.0]], np.array([None], dtype=object)), "partition 4: Input y contains missing"),
        (([[1.0]], [0, 1]), r"partition 4: .*different lengths: \[1, 2\]"),
        (([[1.0]], [0], [-1.0]), "partition 4: sample_weight must be finite and not negative"),
    ],
)
def test_what_is_refused(args, message):
    with pytest.raises(ValueError, match=message):
        read_part(4, *args)


def test_labels_of_two_kinds_are_refused():
    strings = summarise_part(read_part(0, X[:2], np.array(["a", "b"], dtype=object)))
    numbers = summarise_part(read_part(1, X[:2], np.array([1, 2])))
    with pytest.raises(ValueError, match="labels of one kind; got 'a' and 1"):
        strings + numbers
