"""Features and labels are checked, and pooled with those that a search is scored on."""

import numpy as np
import pytest
import torch
from head_cases import samples

from immax.torch.head_data import check_classes_present, checked_features, pool_selection

X, Y = samples()


def test_arrays_and_tensors():
    data = checked_features(torch.tensor(X), torch.tensor(Y))
    np.testing.assert_array_equal(data.X, X)
    np.testing.assert_array_equal(data.counts, np.bincount(Y))
    assert checked_features(X.tolist(), Y.tolist()).X.dtype == np.float64
    assert checked_features(X.astype(np.int32), Y).X.dtype == np.float32


@pytest.mark.parametrize(
    ("features", "y", "message"),
    [
        (X[0], Y, r"features must be numbers of shape \(n, d\)"),
        (X, Y[:5], "y must be 240 class numbers"),
        (X, Y.astype(float), "dtype float64"),
        (X, Y - 1, "y holds -1; classes go from 0 to 2"),
        (X, Y + 1, "y holds 3; classes go from 0 to 2"),
        (X[:0], Y[:0], "must have at least one row"),
    ],
)
def test_wrong_arguments(features, y, message):
    with pytest.raises(ValueError, match=message):
        checked_features(features, y, 3)


def test_missing_classes():
    with pytest.raises(ValueError, match="class 3 has no samples"):
        check_classes_present(checked_features(X, Y, 4))
    with pytest.raises(ValueError, match="two classes or more"):
        check_classes_present(checked_features(X, np.zeros(240, dtype=int)))


def test_held_out_samples_are_scored_and_never_fitted():
    data = checked_features(X, Y)
    held, labels = samples(30, seed=1)
    pool = pool_selection(data, (held, labels))
    ((train, test),) = pool.cv
    np.testing.assert_array_equal(pool.X[train], X)
    np.testing.assert_array_equal(pool.X[test], held)
    np.testing.assert_array_equal(pool.y[test], labels)
    assert pool.kind == "held-out"


def test_folds_of_several_networks():
    data = checked_features(X, Y)
    folds = [(X[:160] * k, Y[:160], X[160:] * k, Y[160:]) for k in (1, 2)]
    pool = pool_selection(data, folds)
    assert pool.kind == "cross-fitted"
    for k, (train, test) in enumerate(pool.cv, start=1):
        np.testing.assert_array_equal(pool.X[train], X[:160] * k)
        np.testing.assert_array_equal(pool.X[test], X[160:] * k)


def test_wrong_selections():
    data = checked_features(X, Y)
    with pytest.raises(TypeError, match="selection must be"):
        pool_selection(data, "folds")
    with pytest.raises(TypeError, match="selection must be"):
        pool_selection(data, [(X, Y)])
    with pytest.raises(ValueError, match="must have 4 columns"):
        pool_selection(data, (X[:, :2], Y))
    with pytest.raises(ValueError, match="only one of cv and selection"):
        pool_selection(data, (X, Y), cv=3)
    assert pool_selection(data, None, cv=3).cv == 3
