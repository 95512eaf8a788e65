"""Cells as files and data frames have them."""

import datetime
import decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from immax.tabular.cells import (
    MixedCells,
    as_cells,
    as_text,
    is_text,
    is_unsupported,
    null_where,
    one_array,
    series_cells,
)


def test_objects_of_one_kind():
    assert as_cells(["a", None, "b"]).to_pylist() == ["a", None, "b"]
    assert as_cells([1, 2.5, None, float("nan"), decimal.Decimal("1.5"), 10**400]).to_pylist() == [
        1,
        2.5,
        None,
        None,
        1.5,
        float("inf"),
    ]
    assert as_cells([True, None]).to_pylist() == [True, None]
    day = datetime.datetime(2020, 1, 1, 2, tzinfo=datetime.timezone(datetime.timedelta(hours=2)))
    assert (
        as_cells([day, datetime.date(2020, 1, 1)]).to_pylist()
        == [datetime.datetime(2020, 1, 1)] * 2
    )
    assert len(as_cells([])) == 0


def test_strings_and_numbers_stay_apart():
    cells = as_cells(["1,5", 2.5, None])
    assert isinstance(cells, MixedCells)
    assert len(cells) == 3
    assert cells.strings.to_pylist() == ["1,5", None, None]
    assert cells.others.to_pylist() == [None, 2.5, None]
    assert as_text(cells).to_pylist() == ["1,5", "2.5", None]
    assert as_cells(["a", 1, True]).to_pylist() == ["a", "1", "True"]


@pytest.mark.parametrize(
    ("values", "why"), [([[1]], "nested"), ([{"a": 1}, 2], "nested"), ([b"x"], "binary")]
)
def test_what_is_not_supported(values, why):
    assert why in is_unsupported(as_cells(values).type)


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        (pa.list_(pa.int64()), "nested"),
        (pa.struct([("a", pa.int8())]), "nested"),
        (pa.map_(pa.string(), pa.int8()), "nested"),
        (pa.binary(), "binary"),
        (pa.binary(4), "binary"),
        (pa.dictionary(pa.int8(), pa.binary()), "binary"),
        (pa.dictionary(pa.int8(), pa.string()), ""),
        (pa.decimal128(9, 2), ""),
        (pa.timestamp("ns", "UTC"), ""),
        (pa.null(), ""),
        (pa.float16(), ""),
    ],
)
def test_types(kind, why):
    assert why in is_unsupported(kind)
    assert bool(why) == bool(is_unsupported(kind))


def test_numbers_as_categories_do_not_depend_on_their_type():
    for values in ([1, 2], [1.0, 2.0], [decimal.Decimal("1.00"), decimal.Decimal("2")]):
        assert as_text(pa.array(values)).to_pylist() == ["1", "2"]
    assert as_text(pa.array([1.5, None, 1e300])).to_pylist()[:2] == ["1.5", None]
    assert as_text(pa.array([True, False])).to_pylist() == ["True", "False"]
    assert as_text(pa.array([], pa.int64())).to_pylist() == []


def test_arrays_are_decoded():
    coded = pa.array(["a", "b", "a"]).dictionary_encode()
    assert one_array(pa.chunked_array([coded, coded])).to_pylist() == ["a", "b", "a"] * 2
    assert is_text(one_array(pa.array(["a"], pa.large_string())).type)
    assert len(one_array(pa.chunked_array([], pa.string()))) == 0


def test_columns_of_data_frames():
    frame = pd.DataFrame({"a": [1.0, np.nan], "b": ["x", None], "c": ["x", 1]})
    assert series_cells(frame["a"]).to_pylist() == [1.0, None]
    assert series_cells(frame["b"]).to_pylist() == ["x", None]
    assert isinstance(series_cells(frame["c"].astype(object)), MixedCells)
    periods = pd.Series(pd.period_range("2020-01", periods=2, freq="M"))
    assert is_unsupported(one_array(series_cells(periods)).type) in ("", as_nested())


def as_nested():
    return is_unsupported(pa.list_(pa.null()))


def test_nulls_in_slices_of_strings():
    words = pa.array([f"word {i}" for i in range(70)] + [None])
    part = words.slice(30)
    mask = pa.array([i % 3 == 0 for i in range(len(part))])
    found = null_where(part, mask)
    found.validate(full=True)
    wanted = [None if i % 3 == 0 else word for i, word in enumerate(part.to_pylist())]
    assert found.to_pylist() == wanted
