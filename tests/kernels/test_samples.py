"""Points, and matrices of kernel values."""

import numpy as np
import pytest
from kernel_samples import OPTIONS, sample
from sklearn.metrics.pairwise import pairwise_kernels

from immax.kernels.samples import Matrix, Points, build_samples


@pytest.mark.parametrize("name", ["linear", "rbf"])
def test_points_and_their_matrix_are_the_same_data(name):
    X, _ = sample()
    points = Points(X, name, **OPTIONS)
    matrix = Matrix(pairwise_kernels(X, metric=name, filter_params=True, **OPTIONS))
    coefficients = np.random.default_rng(0).standard_normal((2, len(X)))
    coefficients[:, ::3] = 0
    some = np.array([5, 2, 9])
    for one, other, few in (
        (points, matrix, coefficients),
        (points.subset(some), matrix.subset(some), coefficients[:, :3]),
    ):
        np.testing.assert_allclose(one.combine(few), other.combine(few), atol=1e-12)
        np.testing.assert_allclose(one.diagonal(), other.diagonal(), atol=1e-12)


def test_samples_without_weight_are_left_out():
    X, _ = sample(30)
    weight = np.ones(30)
    weight[::3] = 0
    kept = np.flatnonzero(weight)
    points, gamma = build_samples(X, "rbf", weight)
    assert gamma == pytest.approx(1 / (3 * X[kept].var()))
    np.testing.assert_array_equal(points.X, X[kept])
    K = pairwise_kernels(X, metric="rbf", gamma=gamma)
    given, _ = build_samples(K, "precomputed", weight)
    called, _ = build_samples(
        X, lambda A, B: np.exp(-gamma * ((A[:, None] - B) ** 2).sum(2)), weight
    )
    for matrix in (points.matrix(), given, called):
        np.testing.assert_allclose(matrix.values, K[np.ix_(kept, kept)])
