"""The first rounds, and what needs data in memory."""

import numpy as np
import pytest
from parted_cases import cut, rows

from immax import IMMAXClassifier
from immax.distributed.parts_fit import as_seed, check_supported, prepare_parts


def test_classes_counts_and_radii():
    X, y = rows(3, 900)
    weight = np.random.default_rng(0).integers(0, 3, 900).astype(float)
    data = prepare_parts(cut(X, y, weight), radii=True, n_folds=3)
    assert data.classes.tolist() == [0, 1, 2]
    np.testing.assert_allclose(data.counts, np.bincount(y, weight))
    norms = np.linalg.norm(X, axis=1)
    expected = [norms[(y == k) & (weight > 0)].max() for k in range(3)]
    np.testing.assert_allclose(data.radii, expected)
    np.testing.assert_allclose(data.held_out.sum(axis=1), data.counts)
    assert len(data.sample) == np.count_nonzero(weight)  # there are fewer than would be sampled
    assert data.parts.n_rounds == 2


def test_what_is_refused():
    X, y = rows(2, 100)
    with pytest.raises(ValueError, match="at least two classes; got one class, 0"):
        prepare_parts(cut(X, np.zeros(100, dtype=int)))
    with pytest.raises(ValueError, match=r"the classes \[1\] have none"):
        prepare_parts(cut(X, y, (y == 0).astype(float)))
    with pytest.raises(ValueError, match="y has no samples"):
        prepare_parts(cut(X[:0], y[:0]))
    uneven = cut(X, y)
    uneven.parts[0] = uneven.parts[0]._replace(X=X[: len(uneven.parts[0].y), :3])
    with pytest.raises(ValueError, match=r"same number of features; got \[3, 8\]"):
        prepare_parts(uneven)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"penalty": "l1"}, "need penalty='l2'; got penalty='l1'"),
        ({"solver": "dual"}, "'auto', 'newton', 'lbfgs'; got 'dual'"),
        ({"loss": "hinge"}, "IMMAXClassifier fits loss='hinge' to data in memory"),
    ],
)
def test_what_needs_all_rows_in_memory(params, message):
    with pytest.raises(ValueError, match=message):
        check_supported(IMMAXClassifier(**params))


def test_seeds():
    assert as_seed(None) == 0
    assert as_seed(np.int64(3)) == 3
    assert as_seed(np.random.RandomState(0)) == as_seed(np.random.RandomState(0))
