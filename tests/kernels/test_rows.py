"""Rows of kernel matrices, cached."""

import numpy as np
import pytest
from kernel_samples import sample
from sklearn.metrics.pairwise import pairwise_kernels

from immax.kernels.gram import Kernel
from immax.kernels.rows import KernelRows, MatrixRows


@pytest.mark.parametrize("megabytes", [1.0, 0.02])
def test_rows_come_and_go(megabytes):
    X, _ = sample()
    K = pairwise_kernels(X, metric="rbf", gamma=0.3)
    rows = KernelRows(Kernel("rbf", X, 0.3), X, megabytes)
    assert rows.store.nbytes <= megabytes * 2**20
    assert rows.store.dtype == (np.float64 if megabytes == 1 else np.float32)
    assert (rows.capacity < len(X)) == (megabytes < 1)
    rng = np.random.default_rng(0)
    for _ in range(30):
        asked = rng.choice(len(X), rows.capacity // 2, replace=False)
        np.testing.assert_allclose(rows.store[rows.slots(asked)], K[asked], atol=1e-6)


def test_rows_that_were_just_used_stay():
    X, _ = sample()
    calls = []

    class Counting(Kernel):
        def __call__(self, X, out=None, scratch=None):
            calls.append(len(X))
            return super().__call__(X, out, scratch)

    rows = KernelRows(Counting("rbf", X, 0.3), X, 0.02)
    half = rows.capacity // 2
    first, second, third = np.arange(half), np.arange(half, 2 * half), np.arange(60, 60 + half // 2)
    for asked in (first, second, first, third, first):
        rows.slots(asked)
    assert sum(calls) == 2 * half + half // 2  # the third set took the place of the second


def test_a_matrix_is_its_own_store():
    K = np.eye(5)
    rows = MatrixRows(K)
    assert rows.store is K
    assert rows.slots(np.array([3, 1])).tolist() == [3, 1]
