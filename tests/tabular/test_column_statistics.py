"""Statistics added up over batches, against those of all rows."""

import numpy as np
import pandas as pd
import pytest

from immax.tabular.column_statistics import ColumnStatistics


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    n = 5000
    a = rng.normal(size=n) + 1e6
    a[rng.random(n) < 0.2] = np.nan
    city = np.array(["Aix", "Bonn", "Cork"], dtype=object)[rng.integers(0, 3, n)]
    return pd.DataFrame({"a": a, "b": rng.exponential(size=n), "city": city})


@pytest.mark.parametrize("joined", [False, True], ids=["batches", "sums of statistics"])
def test_moments_and_counts_are_exact(frame, joined):
    found = ColumnStatistics(["a", "b"], ["city"])
    for rows in (slice(0, 1), slice(1, 1), slice(1, 3000), slice(3000, None)):
        own = ColumnStatistics(["a", "b"], ["city"]) if joined else found
        own.add(frame.iloc[rows])
        found = found + own if joined else found
    fill = np.array([1e6 + 3, 0.0])
    means, variances = found.imputed_moments(fill)
    filled = frame[["a", "b"]].fillna({"a": fill[0]})
    np.testing.assert_allclose(means, filled.mean(), rtol=1e-14)
    np.testing.assert_allclose(variances, filled.var(ddof=0), rtol=1e-8)
    assert found.counts["city"] == frame["city"].value_counts().to_dict()
    np.testing.assert_array_equal(found.medians(), frame[["a", "b"]].median())
    assert found.present.tolist() == frame[["a", "b"]].notna().sum().tolist()


def test_medians_of_sketches(frame):
    found = ColumnStatistics(["a", "b"], [], capacity=100)
    for begin in range(0, len(frame), 500):
        found.add(frame[begin : begin + 500])
    for name, median in zip("ab", found.medians(), strict=True):
        own = frame[name].dropna()
        assert (own < median).mean() == pytest.approx(0.5, abs=0.02)


def test_a_column_without_values():
    found = ColumnStatistics(["a"], [])
    found.add(pd.DataFrame({"a": [np.nan, np.nan]}))
    assert np.isnan(found.medians()).all()
