"""Features from tables of mixed columns."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from immax.tabular import SchemaError, describe_columns, prepare
from immax.tabular.pipeline import TypedColumns


def table(n=60):
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "age": np.where(np.arange(n) % 7 == 0, np.nan, rng.normal(size=n)),
            "when": pd.date_range("2020-01-01", periods=n),
            "city": np.where(np.arange(n) % 10 == 3, None, rng.choice(["Aix", "Bonn"], n)),
            "flag": rng.random(n) < 0.5,
            "note": [f"a long text that differs in each of the rows {i}" for i in range(n)],
        }
    )


def test_features_are_finite_and_scaled():
    frame = table()
    pipeline = prepare(describe_columns(frame))
    X = clone(pipeline).fit_transform(frame)
    assert np.isfinite(X).all()
    np.testing.assert_allclose(X[:, :2].mean(axis=0), 0, atol=1e-9)
    names = pipeline.fit(frame).get_feature_names_out()
    assert any("city_Aix" in name for name in names)
    assert not any("note" in name for name in names)


def test_columns_in_another_order_and_new_values_do_not_matter():
    frame = table()
    pipeline = prepare(describe_columns(frame)).fit(frame)
    shuffled = frame[frame.columns[::-1]]
    np.testing.assert_array_equal(pipeline.transform(shuffled), pipeline.transform(frame))
    odd = frame.copy()
    odd["city"], odd["when"] = "Zug", None
    assert np.isfinite(pipeline.transform(odd)).all()
    odd["when"] = "not a date"
    with pytest.raises(SchemaError, match=r"'when' must hold dates .*; got 'not a date'"):
        pipeline.transform(odd)


def test_three_hundred_categories_share_columns():
    frame = pd.DataFrame({"kind": [f"k{i % 300}" for i in range(3000)]})
    assert prepare(describe_columns(frame)).fit_transform(frame).shape[1] <= 60


def test_a_table_without_usable_columns_is_refused():
    frame = pd.DataFrame({"a": ["x"] * 30, "b": range(30)})
    with pytest.raises(ValueError, match="no column can be used"):
        prepare(describe_columns(frame))


def test_columns_are_typed():
    frame = pd.DataFrame(
        {"n": ["1", None], "d": ["1970-01-03", "?"], "c": [1, None], "other": [0, 0]}
    )
    typed = TypedColumns(["n"], ["d"], ["c"]).fit(frame)
    found = typed.transform(frame)
    np.testing.assert_array_equal(found["n"], [1.0, np.nan])
    np.testing.assert_array_equal(found["d"], [2.0, np.nan])
    assert found["c"].tolist() == ["1", "missing"]
    assert typed.get_feature_names_out().tolist() == found.columns.tolist() == ["n", "d", "c"]
