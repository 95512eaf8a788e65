"""Schemas: what they know of columns, and how they check tables."""

import pandas as pd
import pytest

from immax.tabular import Column, NumberFormat, Schema, SchemaError, describe_columns


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


def test_columns_of_earlier_versions_are_read_as_they_were():
    column = Column.from_dict({"name": "seen", "kind": "date", "why": ""})
    assert column == Column("seen", "date")
    assert column.date_format == "mixed"
    assert "NA" in column.missing


def test_what_is_stored_of_a_column():
    column = Column("x", "number", number_format=NumberFormat(","), missing=("", "?"))
    assert column.to_dict() == {
        "name": "x",
        "kind": "number",
        "why": "",
        "missing": ["", "?"],
        "number_format": {"decimal": ",", "thousands": "", "sign": ""},
    }
    assert Column.from_dict(column.to_dict()) == column
    assert Column("x", "category", categories=("a", "b")).to_dict()["categories"] == ["a", "b"]
    assert Column("x", "boolean", words=("t", "f")).to_dict()["words"] == ["t", "f"]


@pytest.mark.parametrize(
    "content",
    [
        {"name": "x", "kind": "colour"},
        {"name": "x", "kind": "boolean", "words": ["t"]},
        {"name": "x", "kind": "date", "date_format": "%q"},
        {"name": "x", "kind": "number", "number_format": {"decimal": "x"}},
    ],
)
def test_descriptions_that_are_not_of_a_column(content):
    with pytest.raises(ValueError, match=r"not the description|date format|number format"):
        Column.from_dict(content)
