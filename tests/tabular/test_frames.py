"""Tables of polars and pyarrow."""

from datetime import date

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from immax.errors import WrongCall
from immax.tabular import describe_columns, prepare
from immax.tabular.frames import as_data_frame

COLUMNS = {
    "age": [31, None, 27, 45, 52, 38] * 5,
    "city": ["Aix", "Bonn", "Aix", None, "Cork", "Bonn"] * 5,
    "since": [date(2020, 1, 1 + k) for k in range(30)],
    "price": ["1,50", "2,75", "3,10", "4,00", "5,25", "6,30"] * 5,
    "member": [True, False, None, True, False, True] * 5,
}
MAKERS = {
    "pandas": lambda columns: pd.DataFrame(columns),
    "polars": lambda columns: pl.DataFrame(columns),
    "pyarrow": lambda columns: pa.table(columns),
    "batch": lambda columns: pa.RecordBatch.from_pydict(columns),
}


@pytest.mark.parametrize("kind", ["polars", "pyarrow", "batch"])
def test_the_same_columns_and_features_as_with_pandas(kind):
    frame, table = MAKERS["pandas"](COLUMNS), MAKERS[kind](COLUMNS)
    expected, found = describe_columns(frame), describe_columns(table)
    assert [c.kind for c in found.columns] == [c.kind for c in expected.columns]
    assert [c.kind for c in found.columns] == ["number", "category", "date", "number", "boolean"]
    own = prepare(found).fit(table).transform(table)
    assert own == pytest.approx(prepare(expected).fit(frame).transform(frame))


def test_a_data_frame_of_pandas_is_returned_as_it_is():
    frame = pd.DataFrame(COLUMNS)
    assert as_data_frame(frame) is frame


def test_other_objects_are_refused():
    for other in ([[1, 2]], {"age": [1]}, pd.Series([1])):
        with pytest.raises(WrongCall, match="pandas or polars"):
            describe_columns(other)
    with pytest.raises(WrongCall, match="collect"):
        describe_columns(pl.DataFrame(COLUMNS).lazy())
