"""Copied columns, against products with all features."""

import numpy as np
import pytest
from scipy import sparse

from immax.solvers.feature_columns import take_columns


@pytest.mark.parametrize("order", ["C", "F", "K"])
@pytest.mark.parametrize("convert", [np.asarray, np.asfortranarray, sparse.csr_matrix])
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
