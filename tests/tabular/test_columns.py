"""What columns are taken for, and how they become features."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from immax.tabular import Schema, describe_columns, prepare
from immax.tabular.columns import SchemaError


def kinds(**columns):
    return {c.name: c.kind for c in describe_columns(pd.DataFrame(columns)).columns}


def test_kinds_of_columns():
    n = 60
    found = kinds(
        age=np.linspace(1, 90, n),
        level=np.arange(n) % 4,
        row=np.arange(7, 7 + n),
        user_id=np.random.default_rng(0).permutation(n) * 17,
        code=[f"{i * 7919 % 100003:05d}x" for i in range(n)],
        city=np.tile(["Aix", "Bonn", "Cork"], n // 3),
        yes=np.arange(n) % 2 == 0,
        when=pd.date_range("2020-01-01", periods=n),
        day=[f"{1 + i % 28}/03/2021" for i in range(n)],
        words=["so many words that nobody will ever read all of them here"] * 30 + ["short"] * 30,
        name=[f"person {'x' * (i % 9)}{i}" for i in range(n)],
        same=["a"] * n,
        empty=[None] * n,
        holes=[1.0, None] * (n // 2),
        several=[1.5, 2.5, None] * (n // 3),
    )
    assert found == {
        "age": "number",
        "level": "number",
        "row": "id",
        "user_id": "id",
        "code": "id",
        "city": "category",
        "yes": "boolean",
        "when": "date",
        "day": "date",
        "words": "category",
        "name": "text",
        "same": "constant",
        "empty": "constant",
        "holes": "constant",
        "several": "number",
    }


def test_a_column_of_whole_numbers_that_differ_is_no_id_by_that_alone():
    assert kinds(price=np.random.default_rng(0).permutation(500) * 3)["price"] == "number"


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
    odd["city"], odd["when"] = "Zug", "not a date"
    assert np.isfinite(pipeline.transform(odd)).all()


def test_three_hundred_categories_share_columns():
    frame = pd.DataFrame({"kind": [f"k{i % 300}" for i in range(3000)]})
    assert prepare(describe_columns(frame)).fit_transform(frame).shape[1] <= 60


def test_schemas_check_tables():
    frame = table()
    schema = describe_columns(frame)
    assert Schema.from_list(schema.to_list()) == schema
    assert schema.check(frame.assign(more=1)) == ["more"]
    assert schema.check(frame.drop(columns="note")) == []
    with pytest.raises(SchemaError, match=r"missing: 'age'"):
        schema.check(frame.drop(columns="age"))
    with pytest.raises(SchemaError, match="must hold numbers; got 'old'"):
        schema.check(frame.assign(age="old"))


def test_nothing_to_use_is_said():
    frame = pd.DataFrame({"a": ["x"] * 30, "b": range(30)})
    with pytest.raises(ValueError, match="no column can be used"):
        prepare(describe_columns(frame))
