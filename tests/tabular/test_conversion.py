"""Cells converted by a schema."""

import datetime
import decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from immax.tabular import Column, NumberFormat, SchemaError
from immax.tabular.cells import as_cells
from immax.tabular.conversion import Remarks, convert_cells, convert_column, convert_frame


def test_numbers_of_every_type():
    column = Column("x", "number")
    for cells in (
        pa.array([1, None]),
        pa.array(["1", "NA"]),
        pa.array([" 1.0 ", ""]),
        pa.array([decimal.Decimal("1.00"), None]),
        pa.array([True, None]),
        pa.array([1], pa.uint8()),
        pa.array([datetime.timedelta(seconds=1)]),
    ):
        found = convert_column(cells, column)
        assert found.dtype == np.float64
        assert found[0] == 1
        assert np.isnan(found[1:]).all()


def test_numbers_and_strings_in_one_column():
    column = Column("x", "number", number_format=NumberFormat(",", "."))
    cells = as_cells(["1.234", 1.234, "1,5", None])
    np.testing.assert_array_equal(convert_column(cells, column), [1234, 1.234, 1.5, np.nan])


@pytest.mark.parametrize(
    ("column", "cells", "message"),
    [
        (Column("x", "number"), ["1", "many"], "'x' must hold numbers; got 'many'"),
        (Column("x", "number", number_format=NumberFormat(",")), ["1.5"], "decimal comma"),
        (Column("x", "number"), [datetime.date(2020, 1, 1)], "must hold numbers; got dates"),
        (Column("x", "date", date_format="%d/%m/%Y"), ["2020-01-01"], "dates of the format %d/%m"),
        (Column("x", "date", date_format="%Y-%m-%d"), [1.5], "must hold dates; got 1.5"),
        (Column("x", "boolean"), ["yes"], "must hold true or false; got 'yes'"),
        (Column("x", "category", categories=("01", "A1")), [1, 2], "strings such as '01'"),
        (Column("x", "category", categories=("yes", "no")), [True], "got booleans"),
        (Column("x", "category"), [[1]], "nested values"),
        (Column("x", "number"), [b"1"], "binary values"),
    ],
)
def test_what_is_refused(column, cells, message):
    with pytest.raises(SchemaError, match=message):
        convert_column(pa.array(cells), column)


def test_dates_of_every_type():
    column = Column("x", "date", date_format="%d.%m.%Y")
    day = datetime.date(2020, 3, 1)
    for cells in (
        pa.array(["1.3.2020", "null"]),
        pa.array([day, None]),
        pa.array([day, None], pa.date64()),
        pa.array([datetime.datetime(2020, 3, 1)], pa.timestamp("ns", "UTC")),
    ):
        found = convert_column(cells, column)
        assert found[0] == np.datetime64("2020-03-01")
        assert np.isnat(found[1:]).all()
    assert convert_column(pa.array([20200301]), Column("x", "date", date_format="%Y%m%d"))[
        0
    ] == np.datetime64("2020-03-01")


def test_booleans_and_their_words():
    column = Column("x", "boolean", words=("t", "f"))
    for cells in (pa.array([True, False, None]), pa.array(["T", " f", ""]), pa.array([1, 0, None])):
        assert convert_column(cells, column).tolist() == [True, False, None]


def test_categories_are_kept_as_they_are_written():
    column = Column("x", "category", missing=("",), categories=("01", " a", "NA"))
    remarks = Remarks()
    found = convert_column(pa.array(["01", " a", "NA", "", None, "a"]), column, remarks)
    assert found.tolist() == ["01", " a", "NA", None, None, "a"]
    assert remarks.unseen == {"x": 1}
    assert "'x' holds 1 values that are not among the categories" in remarks.notices()[0]


def test_infinite_and_absurd_numbers_are_missing_with_a_remark():
    remarks = Remarks()
    found = convert_column(pa.array(["1e300", "-inf", "5"]), Column("x", "number"), remarks)
    np.testing.assert_array_equal(found, [np.nan, np.nan, 5])
    assert "the column 'x' holds 2 infinite or absurdly large values" in remarks.notices()[0]


def test_columns_without_values_are_read_as_anything():
    for kind, value in (("number", np.nan), ("category", None), ("boolean", None)):
        for cells in (pa.nulls(2), pa.array([None, None], pa.float64()), pa.array(["", ""])):
            found = convert_column(cells, Column("x", kind))
            assert pd.isna(found).all(), (kind, value)


def test_frames_keep_their_index_and_other_columns_are_left_out():
    frame = pd.DataFrame({"b": ["2", "3"], 7: [1, 2], "c": [0, 0]}, index=[5, 6])
    found = convert_frame(frame, [Column("7", "number"), Column("b", "number")])
    assert found.columns.tolist() == ["7", "b"]
    assert found.index.tolist() == [5, 6]
    assert found["b"].tolist() == [2.0, 3.0]


def test_columns_that_are_not_used_are_numbers_if_they_can_be():
    found = convert_cells(
        {"a": pa.array(["1", "2"]), "b": pa.array(["x", "2"])},
        [Column("a", "id"), Column("b", "text")],
    )
    assert found["a"].tolist() == [1.0, 2.0]
    assert found["b"].tolist() == ["x", "2"]
