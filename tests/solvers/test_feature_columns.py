"""Copied columns, against products with all features."""

import numpy as np
import pytest
from scipy import sparse

from immax.solvers import feature_columns
from immax.solvers.feature_columns import take_columns


@pytest.mark.parametrize("order", ["F", "K"])
@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("k", [1, 3])
def test_products(convert, order, k):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 7)) * (rng.random((5000, 7)) < 0.5)
    numbers = np.array([1, 2, 5])
    columns = take_columns(convert(X), numbers, order)
    part = X[:, numbers]
    W, residuals, h = rng.normal(size=(k, 3)), rng.normal(size=(5000, k)), rng.random(5000)
    np.testing.assert_allclose(columns.scores(W), part @ W.T)
    np.testing.assert_allclose(columns.pull_back(residuals), residuals.T @ part)
    np.testing.assert_allclose(columns.squares, (part**2).sum(axis=0))
    for left, right in (([0, 1, 2], [0, 1, 2]), ([2, 0], [2, 0]), ([0, 2], [1])):
        left, right = np.array(left), np.array(right)
        right = left if left.tolist() == right.tolist() else right
        expected = part[:, left].T @ (h[:, None] * part[:, right])
        gram, of_left, of_right = columns.weighted_gram(left, right, h)
        np.testing.assert_allclose(gram, expected)
        np.testing.assert_allclose(of_left, h @ part[:, left])
        np.testing.assert_allclose(of_right, h @ part[:, right])
    assert columns.covers(np.array([1, 5]))
    assert not columns.covers(np.array([1, 4]))
    assert columns.places(np.array([5, 1])).tolist() == [2, 0]


def test_all_columns_are_not_copied():
    X = np.ones((10, 3))
    assert take_columns(X, np.arange(3), "K").X is X
    assert take_columns(X, np.arange(3), "F").X.flags.f_contiguous


def test_features_in_fortran_order_are_not_copied():
    X = np.asfortranarray(np.random.default_rng(0).normal(size=(10, 5)))
    columns = take_columns(X, np.array([1, 3]), "F")
    assert columns.X is X
    assert columns.places(np.array([3, 1])).tolist() == [3, 1]
    assert take_columns(X, np.array([1, 3]), "K").X.shape == (10, 2)


def test_copies_in_fortran_order_are_extended():
    X = np.random.default_rng(0).normal(size=(400, 900))
    first = take_columns(X, np.array([2, 5, 700]), "F")
    more = take_columns(X, np.array([0, 5, 800]), "F", first)
    assert more.room is first.room
    assert more.numbers.tolist() == [2, 5, 700, 0, 800]
    places = more.places(np.array([800, 0, 5]))
    np.testing.assert_array_equal(more.X[:, places], X[:, [800, 0, 5]])
    assert more.X.flags.f_contiguous
    assert more.covers(np.array([0, 700]))
    np.testing.assert_array_equal(first.X, X[:, [2, 5, 700]])


@pytest.mark.parametrize("smallest", [0, 10**6])  # entries for the compiled loops
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_columns_are_in_the_csc_format(smallest, dtype, monkeypatch):
    monkeypatch.setattr(feature_columns, "COMPILED_ENTRIES", smallest)
    monkeypatch.setattr(feature_columns, "ROUNDED_ENTRIES", 10)
    rng = np.random.default_rng(0)
    X = sparse.csr_matrix(rng.random((501, 40)) * (rng.random((501, 40)) < 0.1))
    for numbers in (np.array([0, 7, 8, 39]), np.setdiff1d(np.arange(40), 5), np.arange(40)):
        taken = take_columns(X.astype(dtype), numbers, "K").X
        assert taken.format == "csc"
        assert taken.has_canonical_format
        short = smallest == 0 and taken.dtype != dtype
        assert taken.indices.dtype == (np.uint16 if short else np.int32)
        expected = X.toarray()[:, numbers].astype(dtype)
        np.testing.assert_array_equal(taken.toarray(), expected.astype(taken.dtype))


@pytest.mark.parametrize("order", ["F", "K"])
@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("k", [1, 3])
def test_products_with_rounded_columns_have_the_precision_of_the_features(
    convert, order, k, monkeypatch
):
    monkeypatch.setattr(feature_columns, "ROUNDED_ENTRIES", 100)
    monkeypatch.setattr(feature_columns, "COMPILED_ENTRIES", 0)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 7))
    numbers = np.array([1, 2, 4, 5])
    columns = take_columns(convert(X), numbers, order)
    assert columns.is_rounded == (order == "F" or columns.is_sparse)
    W, residuals = rng.normal(size=(k, 4)), rng.normal(size=(80, k))
    np.testing.assert_allclose(columns.scores(W), X[:, numbers] @ W.T, rtol=1e-13)
    np.testing.assert_allclose(columns.pull_back(residuals), residuals.T @ X[:, numbers])
    np.testing.assert_allclose(columns.squares, (X[:, numbers] ** 2).sum(axis=0), rtol=1e-6)
    gram, sums, _ = columns.weighted_gram(np.array([0, 2]), np.array([3]), np.ones(80))
    np.testing.assert_allclose(gram, X[:, [1, 4]].T @ X[:, [5]], rtol=1e-5)
    np.testing.assert_allclose(sums, X[:, [1, 4]].sum(axis=0), rtol=1e-5)
    assert not take_columns(convert(X), numbers, order, may_round=False).is_rounded
    assert not take_columns(convert(X), numbers[:1], order).is_rounded
    assert not take_columns(convert(1e35 * X), numbers, order).is_rounded
    assert not take_columns(convert(X.astype(np.float32)), numbers, order).is_rounded


@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_matrix])
def test_constant_columns(convert):
    X = np.random.default_rng(0).normal(size=(50, 4))
    X[:, 1], X[:, 2] = 1e6 / 3, 0
    assert take_columns(convert(X), np.arange(4), "K").constant.tolist() == [
        False,
        True,
        True,
        False,
    ]
