"""Parquet, Feather, and folders of Parquet files."""

import warnings

import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from immax.errors import WrongCall
from immax.tabular.arrow_files import read_spread
from immax.tabular.table_files import open_table

TABLE = pa.table({"a": [1, 2, 3], "b": ["01", None, "x"], "c": [[1], [], [2]]})


@pytest.mark.parametrize("name", ["a.parquet", "a.feather", "first.feather"])
def test_types_are_kept(tmp_path, name):
    path = tmp_path / name
    table = TABLE.drop(["c"])
    if name.endswith("parquet"):
        pa.parquet.write_table(table, path)
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pa.feather.write_feather(table, str(path), version=1 if "first" in name else 2)
    file = open_table(path)
    assert file.names == ("a", "b")
    assert file.declared
    assert file.cells()["b"].to_pylist() == ["01", None, "x"]
    assert [n for n, _ in file.chunks(2)] == [2, 1]
    path.write_bytes(b"nonsense")
    with pytest.raises(ValueError, match=r"cannot be read as (Parquet|Feather)"):
        open_table(path)


def test_row_labels_of_pandas_are_no_column(tmp_path):
    frame = pd.DataFrame({"a": range(6), "b": list("uvwxyz")})
    frame[::-1].set_index(pd.Index([5, 3, 2, 8, 1, 0])).to_parquet(tmp_path / "1.parquet")
    frame.to_parquet(tmp_path / "2.parquet")
    assert "__index_level_0__" in pa.parquet.read_schema(tmp_path / "1.parquet").names
    file = open_table(tmp_path)
    assert file.names == ("a", "b")
    assert file.cells()["a"].to_pylist() == [5, 4, 3, 2, 1, 0, 0, 1, 2, 3, 4, 5]
    assert read_spread(tmp_path, 4).keys() == {"a", "b"}
    frame.set_index("b").to_parquet(tmp_path / "1.parquet")
    assert set(open_table(tmp_path / "1.parquet").names) == {"a", "b"}  # its name is the user's


def test_a_folder_is_one_table(tmp_path):
    """Columns may be in another order, of another width, and in the names of folders."""
    for year, part in (("2020", TABLE.slice(0, 2)), ("2021", TABLE.slice(2))):
        folder = tmp_path / f"year={year}"
        folder.mkdir()
        part = part.select(["b", "a"]) if year == "2021" else part.select(["a", "b"])
        pa.parquet.write_table(part, folder / "part.parquet")
    (tmp_path / "_metadata.parquet").write_text("not read")
    file = open_table(tmp_path)
    assert file.names == ("a", "b", "year")
    cells = file.cells()
    assert cells["a"].to_pylist() == [1, 2, 3]
    assert cells["year"].to_pylist() == ["2020", "2020", "2021"]


def test_files_of_a_folder_must_have_the_same_columns(tmp_path):
    pa.parquet.write_table(TABLE.select(["a"]), tmp_path / "1.parquet")
    pa.parquet.write_table(TABLE.select(["b"]), tmp_path / "2.parquet")
    with pytest.raises(WrongCall, match=r"2.parquet and .*1.parquet have different columns"):
        open_table(tmp_path)


def test_a_column_of_a_folder_and_of_its_files_is_refused(tmp_path):
    (tmp_path / "a=1").mkdir()
    pa.parquet.write_table(TABLE.select(["a"]), tmp_path / "a=1" / "1.parquet")
    with pytest.raises(WrongCall, match=r"'a' is in .*1.parquet, and in the name of its folder"):
        open_table(tmp_path)


def test_missing_values_and_signs_in_names_of_folders(tmp_path):
    for name in ("k=a%2Fb", "k=__HIVE_DEFAULT_PARTITION__"):
        (tmp_path / name).mkdir()
        pa.parquet.write_table(TABLE.select(["a"]).slice(0, 1), tmp_path / name / "1.parquet")
    assert open_table(tmp_path).cells()["k"].to_pylist() == [None, "a/b"]
