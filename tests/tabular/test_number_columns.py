"""Identifiers and constants among numbers."""

import pyarrow as pa
import pytest

from immax.tabular import Column
from immax.tabular.number_columns import ID_NAME, describe_numbers, unless_constant


@pytest.mark.parametrize(
    ("name", "values", "kind"),
    [
        ("row", range(30), "id"),
        ("row", range(30, 0, -1), "id"),
        ("price", range(0, 300, 10), "number"),
        ("customer_id", range(0, 300, 10), "id"),
        ("customer_id", [1, 2] * 15, "number"),
        ("x", [1.5] * 30, "constant"),
        ("x", [None] * 30, "constant"),
        ("few", range(5), "number"),
    ],
)
def test_kinds(name, values, kind):
    column = describe_numbers(Column(name, "number"), pa.array(values, pa.float64()))
    assert column.kind == kind
    assert bool(column.why) == (kind != "number")


def test_constants():
    column = Column("x", "boolean")
    assert unless_constant(column, pa.array([True, False])) == column
    assert unless_constant(column, pa.array([True, None])).why == "one value in all rows"
    assert unless_constant(column, pa.nulls(2)).why == "no values"


def test_names_of_identifiers():
    for name in ("id", "user_id", "userId", "KEY", "row uuid", "customer-guid"):
        assert ID_NAME.search(name), name
    for name in ("grid", "monkey", "idea", "valid"):
        assert not ID_NAME.search(name), name
