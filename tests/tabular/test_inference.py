"""The kinds of columns."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from immax.tabular import SchemaError, describe_columns
from immax.tabular.inference import describe_cells
from immax.tabular.reading_options import ReadingOptions


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


def test_declared_types_are_kept():
    cells = {
        "category": pa.array(["1", "2", "1"]).dictionary_encode(),
        "codes": pa.array([1, 2, 1]).dictionary_encode(),
        "strings": pa.array(["1", "2", "1"]),
        "flag": pa.array([True, False, None]),
        "list": pa.array([[1], [2], []]),
        "bytes": pa.array([b"a", b"b", b"c"]),
    }
    found = {c.name: c.kind for c in describe_cells(cells).columns}
    assert found == {
        "category": "category",
        "codes": "category",
        "strings": "category",
        "flag": "boolean",
        "list": "unsupported",
        "bytes": "unsupported",
    }
    # In a CSV file, digits are numbers.
    (column,) = describe_cells({"strings": cells["strings"]}, declared=False).columns
    assert column.kind == "number"


def test_running_numbers_are_identifiers_in_any_order():
    shuffled = np.random.default_rng(0).permutation(50) + 1000
    assert kinds(row=shuffled) == {"row": "id"}


def test_a_point_is_unclear_where_other_columns_have_decimal_commas():
    cells = {"a": pa.array(["1,5", "2,5"]), "b": pa.array(["1.234", "2.500"])}
    with pytest.raises(SchemaError, match=r"'b' is unclear: the points of cells such as '1.234'"):
        describe_cells(cells, declared=False)
    schema = describe_cells(cells, ReadingOptions(decimal=","), declared=False)
    assert [c.number_format.thousands for c in schema.columns] == ["", "."]


def test_options_that_fit_no_column():
    frame = pd.DataFrame({"a": [1, 2]})
    with pytest.raises(ValueError, match="there is no column 'b'"):
        describe_columns(frame, kinds={"b": "drop"})
    with pytest.raises(ValueError, match="no column holds dates of the format '%d/%m/%Y'"):
        describe_columns(frame, date_format="%d/%m/%Y")


def test_chosen_kinds():
    frame = pd.DataFrame({"zip": [1, 2, 3], "day": [20200101, 20200102, 20200103], "x": [1, 2, 2]})
    schema = describe_columns(
        frame, kinds={"zip": "category", "day": "date", "x": "drop"}, date_format="%Y%m%d"
    )
    assert [c.kind for c in schema.columns] == ["category", "date", "dropped"]


def test_a_name_that_two_columns_have_is_refused():
    frame = pd.DataFrame([[1, 2]], columns=["a", "a"])
    with pytest.raises(SchemaError, match="'a' is that of more than one column"):
        describe_columns(frame)
