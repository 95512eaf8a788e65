"""What a user should know of a table."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from immax.tabular import Column, NumberFormat, Schema, describe_columns
from immax.tabular.cells import series_cells
from immax.tabular.conversion import Remarks, convert_frame
from immax.tabular.findings import find_leaks, label_notices, reading_notices, value_notices

RNG = np.random.default_rng(0)
Y = pd.Series(np.where(RNG.random(300) < 0.1, "ill", "well"))


def leaks(**columns):
    frame = pd.DataFrame(columns)
    schema = describe_columns(frame)
    return find_leaks(convert_frame(frame, schema.used()), Y, schema)


@pytest.mark.parametrize(
    "column",
    [
        Y.map({"ill": 1, "well": 0}),
        Y.map({"ill": "A", "well": "B"}),
        Y.eq("ill"),
        Y.eq("ill") * 5 + RNG.random(300),
        pd.Series(RNG.random(300)).where(Y == "ill"),  # known of the ill alone
        pd.Series(np.char.add(np.where(Y == "ill", "x", "y"), RNG.choice(["1", "2"], 300))),
        pd.to_datetime("2020-01-01") + pd.to_timedelta(Y.eq("ill") * 100, unit="D"),
    ],
    ids=["number", "category", "boolean", "noisy", "missing", "several", "date"],
)
def test_a_column_that_determines_the_target_is_named(column):
    (notice,) = leaks(cause=column)
    assert notice.startswith("WARNING: the column 'cause' determines the target by itself")
    assert "--kind cause=drop" in notice


def test_a_column_that_nearly_copies_the_target_is_named():
    y = pd.Series(np.arange(4000) % 2)
    copy = y.copy()
    copy[:6] = 1 - copy[:6]
    frame = pd.DataFrame({"copy": copy, "cat": copy.map({0: "a", 1: "b"})})
    found = find_leaks(frame, y, describe_columns(frame))
    assert [notice.split(" the target")[0] for notice in found] == [
        "WARNING: the column 'copy' nearly determines",
        "WARNING: the column 'cat' nearly determines",
    ]


def test_strong_features_and_chance_are_no_leaks():
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer(as_frame=True)
    assert find_leaks(data.data, data.target, describe_columns(data.data)) == []
    assert leaks(noise=RNG.random(300), city=RNG.choice([f"c{i}" for i in range(100)], 300)) == []
    few = pd.DataFrame({"a": [0, 1] * 5})
    assert find_leaks(few, few["a"], describe_columns(few)) == []


def test_most_columns_left_out_is_said_first():
    schema = Schema((Column("a", "text", "why"), Column("b", "id", "so"), Column("c", "number")))
    first, *rest = reading_notices(schema)
    assert first == "WARNING: most columns are left out (2 of 3); what is left is 'c'"
    assert rest == ["left out 'a': why", "left out 'b': so"]
    assert "what is left is nothing" in reading_notices(Schema(schema.columns[:2]))[0]


def test_unusual_formats_are_said():
    schema = Schema(
        (
            Column("price", "number", number_format=NumberFormat(",", ".", "€")),
            Column("day", "date", date_format="%d/%m/%Y", missing=("", "?")),
            Column("iso", "date", date_format="%Y-%m-%d"),
            Column("customer_id", "number"),
        )
    )
    assert reading_notices(schema) == [
        "the column 'price' is read as numbers: decimal comma, thousands separated by '.', "
        "sign '€'",
        "the column 'day' is read as dates: %d/%m/%Y",
        "in the column 'day', '?' is read as missing",
        "the column 'customer_id' looks like an identifier and is used as a feature: "
        "--kind customer_id=drop leaves it out",
    ]


def test_labels_and_names():
    y = pd.Series(["Yes", "yes ", "no", "NA", "NA"], dtype=object)
    assert label_notices(y, ["a"]) == [
        "the name 'a' is that of more than one column: the others are a.1, …",
        "the labels 'Yes', 'yes ' differ only by spaces or case: are they one class?",
        "the label 'NA' is read as a class, with 2 rows; if it stands for a missing label, remove "
        "these rows",
    ]
    assert label_notices(pd.Series([0, 1])) == []


def test_values():
    n = 40
    frame = pd.DataFrame(
        {
            "when": np.arange(n) * 3,
            "size": [*RNG.random(n - 1), 1e12],
            "country": ["DE", "NA"] * (n // 2),
            "city": ["Aix", "aix "] * (n // 2),
            "code": ["01", "A1"] * (n // 2),
            "plain": RNG.random(n),
        }
    )
    schema = describe_columns(frame)
    cells = {name: series_cells(frame[name]) for name in frame}
    found = value_notices(cells, convert_frame(frame, schema.columns), schema, Remarks())
    assert [notice.split(": ")[0] for notice in found] == [
        "the column 'when' is a running number, from 0 to 117 in the order of the rows, and is "
        "used as a feature",
        found[1],
        "in the column 'country', 'NA' is read as a category, not as missing",
        "in the column 'city', the categories 'Aix', 'aix ' differ only by spaces or case",
        "the column 'code' is read as categories, because of leading zeros such as in '01'",
    ]
    assert found[1].startswith("the column 'size' holds 1e+12, which is far from all else")
    assert isinstance(cells["code"], pa.Array | pa.ChunkedArray)
