"""The table that comes with the package."""

import pandas as pd

from immax.datasets import load_page_blocks


def test_all_rows_and_columns_are_numbers_without_gaps():
    X, y = load_page_blocks()
    assert X.shape == (5472, 10)
    assert y.value_counts().to_dict() == {"text": 4913, "other": 559}
    assert all(pd.api.types.is_numeric_dtype(X[name]) for name in X)
    assert not X.isna().any(axis=None)
