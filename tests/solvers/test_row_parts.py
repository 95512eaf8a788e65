"""Products with sparse matrices in threads."""

import numpy as np
from scipy import sparse

from immax.solvers.row_parts import RowParts


def test_products_in_threads(monkeypatch):
    monkeypatch.setattr("immax.solvers.row_parts.ENTRIES_PER_THREAD", 10)
    monkeypatch.setattr("immax.solvers.row_parts.available_cores", lambda: 3)
    rng = np.random.default_rng(0)
    X = sparse.random(50, 20, density=0.3, format="csr", random_state=0)
    parts = RowParts(X)
    assert len(parts._parts) == 3
    for k in (1, 4):
        right, left = rng.normal(size=(20, k)), rng.normal(size=(50, k))
        np.testing.assert_allclose(parts.product(right), X @ right)
        np.testing.assert_allclose(parts.transposed_product(left), X.T @ left)
    assert all(np.shares_memory(part.data, X.data) for part in parts._parts)
