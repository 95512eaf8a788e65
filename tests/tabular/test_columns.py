"""The kinds of columns, and schemas that check tables."""

import numpy as np
import pandas as pd
import pytest

from immax.tabular import Schema, SchemaError, describe_columns


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


def test_a_column_of_different_whole_numbers_is_not_an_id_by_that_alone():
    assert kinds(price=np.random.default_rng(0).permutation(500) * 3)["price"] == "number"


def test_short_columns_are_not_identifiers():
    found = kinds(user_id=[1, 2, 3], code=["a1", "b2", "c3"])
    assert found == {"user_id": "number", "code": "category"}


def test_columns_that_are_not_used_have_a_reason():
    schema = describe_columns(
        pd.DataFrame({"same": ["a"] * 30, "row": range(30), "x": np.arange(30) % 7.5})
    )
    assert [column.name for column in schema.left_out()] == ["same", "row"]
    assert all(column.why for column in schema.left_out())
    assert schema.named() == ["x"]
    assert schema.named("id", "constant") == ["same", "row"]


@pytest.fixture
def frame():
    return pd.DataFrame(
        {
            "age": [1.5, 2.5, None] * 10,
            "city": ["Aix", "Bonn", None] * 10,
            "note": [f"a long text that differs in each of the rows {i}" for i in range(30)],
        }
    )


def test_a_schema_survives_a_round_trip(frame):
    schema = describe_columns(frame)
    assert Schema.from_list(schema.to_list()) == schema


def test_schemas_check_tables(frame):
    schema = describe_columns(frame)
    assert schema.check(frame.assign(more=1)) == ["more"]
    assert schema.check(frame.drop(columns="note")) == []
    with pytest.raises(SchemaError, match=r"missing: 'age'"):
        schema.check(frame.drop(columns="age"))
    with pytest.raises(SchemaError, match="must hold numbers; got 'old'"):
        schema.check(frame.assign(age="old"))
