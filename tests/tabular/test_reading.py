"""Reading by schema: what a row means depends on nothing but the row and the schema."""

import datetime
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from immax.errors import WrongCall
from immax.tabular import (
    ReadingOptions,
    SchemaError,
    prepare,
    read_by_schema,
    read_labelled,
    read_training_table,
)
from immax.tabular.streamed_table import open_streamed


def german(cents):
    whole = f"{cents // 100:,}".replace(",", ".")
    return f"{whole},{cents % 100:02d} €"


DAY = datetime.date(2020, 1, 31)
WORDS = st.sampled_from(["01", "1", "02", "A1", "1.0", " a", "NA", "true", "2020-01-01", "é,;\n"])
COLUMNS = {
    "code": (pa.string(), WORDS),
    "size": (pa.float64(), st.floats(-1e6, 1e6, allow_subnormal=False)),
    "count": (pa.int64(), st.integers(-1000, 1000)),
    "flag": (pa.bool_(), st.booleans()),
    "day": (pa.date32(), st.dates(DAY.replace(1950), DAY.replace(2050))),
    "price": (
        pa.string(),
        st.integers(1, 10**9).map(lambda cents: german(cents)),
    ),
    "date": (pa.string(), st.dates().map(lambda day: f"{day:%d/%m}/{day.year:04d}")),
}


@st.composite
def tables(draw):
    """Rows of every kind of column, of which the first ones determine the kinds."""
    sure = {
        "code": ["A1", "01"],
        "size": [0.5, 1.5],
        "count": [3, 7],
        "flag": [True, False],
        "day": [DAY, DAY.replace(2021)],
        "price": ["1.234,50 €", "7,25 €"],
        "date": ["31/01/2020", "13/02/2021"],
    }
    n = draw(st.integers(1, 12))
    data = {}
    for name, (kind, values) in COLUMNS.items():
        rows = draw(st.lists(st.none() | values, min_size=n, max_size=n))
        data[name] = pa.array([*sure[name], *rows], kind)
    return pa.table(data)


def write(table, path):
    """Write a table as a program would that keeps types, or has none."""
    suffix = path.suffixes[0]
    if suffix == ".parquet":
        pa.parquet.write_table(table, path)
    elif suffix == ".feather":
        pa.feather.write_feather(table, str(path))
    elif suffix == ".jsonl":
        lines = [json.dumps(row, default=str, ensure_ascii=False) for row in table.to_pylist()]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    else:
        delimiter = "\t" if suffix == ".tsv" else ","
        table.to_pandas(date_as_object=True, integer_object_nulls=True).to_csv(
            path, index=False, sep=delimiter, compression="infer", lineterminator="\n"
        )
    return path


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    table=tables(),
    source=st.sampled_from([".csv", ".tsv", ".parquet", ".feather", ".jsonl", ".csv.gz"]),
    suffix=st.sampled_from([".csv", ".tsv", ".parquet", ".feather", ".jsonl", ".csv.xz"]),
    rows=st.integers(1, 5),
    seed=st.integers(0, 99),
)
def test_features_depend_on_nothing_but_the_row(tmp_path, table, source, suffix, rows, seed):
    """Rows are shuffled, split, converted to another format, and read in chunks."""
    training = table.append_column("y", pa.array(np.arange(len(table)) % 2))
    training = pa.concat_tables([training] * 10)
    schema = read_training_table(write(training, tmp_path / f"train{source}"), "y").schema
    wanted = {column.name for column in schema.columns}
    assert wanted == set(COLUMNS)
    kinds = {column.name: column.kind for column in schema.columns}
    assert kinds == {
        "code": "category",
        "size": "number",
        "count": "number",
        "flag": "boolean",
        "day": "date",
        "price": "number",
        "date": "date",
    }
    whole = next(read_by_schema(tmp_path / f"train{source}", schema))
    pipeline = prepare(schema).fit(whole)
    features = pipeline.transform(whole)[: len(table)]

    order = np.random.default_rng(seed).permutation(len(table))
    cut = len(table) // 2
    for part in (order[:cut], order[cut:]):
        path = write(table.take(part), tmp_path / f"new{suffix}")
        chunks = list(read_by_schema(path, schema, rows))
        found = np.concatenate([pipeline.transform(chunk) for chunk in chunks])
        np.testing.assert_array_equal(found, features[part])


def test_the_case_of_codes(tmp_path):
    """The column is text in training; without A1 it looks like integers."""
    train = "code,y\n" + "01,0\n02,1\n03,0\nA1,1\n" * 10
    (tmp_path / "train.csv").write_text(train)
    table = read_training_table(tmp_path / "train.csv", "y")
    assert table.schema.columns[0].categories == ("01", "02", "03", "A1")
    assert table.y.tolist()[:2] == [0, 1]
    (tmp_path / "new.csv").write_text("code\n01\n\n02\n")
    frames = list(read_by_schema(tmp_path / "new.csv", table.schema, 1))
    assert pd.concat(frames)["code"].tolist() == ["01", "02"]


def test_unknown_delimiters_of_rows_do_not_matter(tmp_path):
    (tmp_path / "train.csv").write_text("a;b,y\n" + "x;1,0\nz;2,1\n" * 5)
    schema = read_training_table(tmp_path / "train.csv", "y").schema
    assert schema.named() == ["a;b"]
    (tmp_path / "new.csv").write_text("a;b,y\n")
    assert list(read_by_schema(tmp_path / "new.csv", schema)) == []


def test_options_and_notices(tmp_path):
    rows = "".join(f"0{1 + i % 9}/0{1 + i % 7}/2020,{i % 2}\n" for i in range(40))
    (tmp_path / "t.csv").write_text("day,y\n" + rows)
    with pytest.raises(SchemaError, match=r"'day' is unclear.*--date-format"):
        read_training_table(tmp_path / "t.csv", "y")
    options = ReadingOptions(date_format="%m/%d/%Y")
    table = read_training_table(tmp_path / "t.csv", "y", options)
    assert table.X["day"][1] == np.datetime64("2020-02-02")
    assert "the column 'day' is read as dates: %m/%d/%Y" in table.notices
    with pytest.raises(WrongCall, match="'y' is the target"):
        read_training_table(tmp_path / "t.csv", "y", ReadingOptions(kinds={"y": "drop"}))


def test_names_that_appear_twice(tmp_path):
    (tmp_path / "t.csv").write_text("a,a,y\n1,2,0\n2,1,1\n")
    table = read_training_table(tmp_path / "t.csv", "y")
    assert table.schema.named() == ["a", "a.1"]
    assert any("'a' is that of more than one column" in notice for notice in table.notices)
    with pytest.raises(WrongCall, match="more than one column 'a', the target"):
        read_training_table(tmp_path / "t.csv", "a")
    (tmp_path / "one.csv").write_text("a,y\n1,0\n2,1\n")
    schema = read_training_table(tmp_path / "one.csv", "y").schema
    with pytest.raises(SchemaError, match="more than one column 'a'"):
        list(read_by_schema(tmp_path / "t.csv", schema))


def test_labels_are_read_by_the_schema(tmp_path):
    (tmp_path / "t.csv").write_text("a,y\n1,01\n2,1\n3,1\n")
    table = read_training_table(tmp_path / "t.csv", "y")
    assert table.y.tolist() == ["01", "1", "1"]
    (tmp_path / "part.csv").write_text("a,y\n2,1\n")
    X, y = read_labelled(tmp_path / "part.csv", table.schema, table.schema.labels)
    assert y.tolist() == ["1"]
    assert X["a"].tolist() == [2.0]


def test_what_is_missing(tmp_path):
    (tmp_path / "t.csv").write_text("a,y\n1,0\n2,NA\n")
    with pytest.raises(ValueError, match=r"'y' has 1 missing labels \('NA'\)"):
        read_training_table(tmp_path / "t.csv", "y")
    (tmp_path / "t.csv").write_text("a,y\n1,DE\n2,NA\n")
    notices = read_training_table(tmp_path / "t.csv", "y").notices
    assert any("'NA' is read as a class" in notice for notice in notices)


def test_columns_of_two_types_in_files_of_a_folder_are_refused(tmp_path):
    rows = {"a": list(range(40)), "b": [0.5, 2.0] * 20, "y": [0, 1] * 20}
    pa.parquet.write_table(pa.table(rows), tmp_path / "1.parquet")
    changed = pa.table({**rows, "a": list(map(str, rows["a"]))})
    pa.parquet.write_table(changed, tmp_path / "2.parquet")
    message = "'a' holds int64 in .*1.parquet, but string in .*2.parquet: .* --kind a=number"
    for read in (read_training_table, open_streamed):
        with pytest.raises(WrongCall, match=message):
            read(tmp_path, "y")
        with pytest.raises(WrongCall, match=r"the target 'a' holds int64 in .*1.parquet"):
            read(tmp_path, "a")
    table = read_training_table(tmp_path, "y", ReadingOptions(kinds={"a": "number"}))
    assert table.X["a"].tolist() == rows["a"] * 2
    assert sum(map(len, read_by_schema(tmp_path, table.schema))) == 80
