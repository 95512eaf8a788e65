"""Record batches of numbers."""

import numpy as np
import pandas as pd
import pytest

from immax.distributed import parquet_batches
from immax.distributed.parquet_batches import open_batches
from immax.errors import WrongCall


def test_batches_are_the_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet_batches, "BATCH_BYTES", 8)
    n = 3000
    frame = pd.DataFrame(
        {
            "a": np.arange(n, dtype=np.float32),
            "y": np.arange(n) % 2 == 0,
            "b": np.arange(n) % 7,
            "c": np.arange(n) % 3 == 0,
        }
    )
    frame.to_parquet(tmp_path / "t.parquet")
    batches = open_batches(tmp_path / "t.parquet", "y")
    assert batches.features == ("a", "b", "c")
    parts = list(batches.read())
    assert [part.number for part in parts] == [0, 1, 2]
    np.testing.assert_array_equal(
        np.concatenate([part.X for part in parts]), frame[["a", "b", "c"]].astype(float)
    )
    assert np.concatenate([part.y for part in parts]).tolist() == frame["y"].tolist()
    frame[["a", "y"]].to_parquet(tmp_path / "t.parquet")
    assert next(open_batches(tmp_path / "t.parquet", "y").read()).X.dtype == np.float32


def test_row_labels_of_pandas_are_no_feature(tmp_path):
    frame = pd.DataFrame({"a": np.arange(20.0), "y": np.arange(20) % 2})
    frame.sample(frac=1, random_state=0).to_parquet(tmp_path / "1.parquet")
    frame.to_parquet(tmp_path / "2.parquet")
    batches = open_batches(tmp_path, "y")
    assert batches.features == ("a",)
    assert sum(part.X.sum() for part in batches.read()) == 2 * frame["a"].sum()


def write_in_folders(path, names):
    frame = pd.DataFrame({"a": np.arange(4, dtype=np.float32)})
    for number, name in enumerate(names):
        (path / name).mkdir(parents=True)
        (frame + 10 * number).to_parquet(path / name / "x.parquet")
    return path


def test_names_of_folders_are_columns(tmp_path):
    """As in Hive: numbers are features, and labels may be strings."""
    write_in_folders(tmp_path, ["y=no/k=1", "y=no/k=3", "y=yes/k=1.5"])
    batches = open_batches(tmp_path, "y")
    assert batches.features == ("a", "k")
    parts = list(batches.read())
    assert np.unique(parts[1].X[:, 1]).tolist() == [3.0]
    assert parts[2].X[:, 0].tolist() == [20, 21, 22, 23]
    assert [str(part.y[0]) for part in parts] == ["no", "no", "yes"]
    weighted = next(open_batches(tmp_path, "y", "k").read())
    assert weighted.X.dtype == np.float32
    assert weighted.weight.tolist() == [1.0] * 4


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["y=0/k=p", "y=1/k=q"], "the folders k=… hold '[pq]', not numbers: IMMAXClassifier"),
        (["y=0/k=1", "y=1/k=__HIVE_DEFAULT_PARTITION__"], "the folders k=… hold a missing value"),
        (["y=0/k=1", "y=1"], "have different columns"),
        (["y=0/a=1", "y=1/a=2"], "the column 'a' is in .*x.parquet, and in the name of its folder"),
    ],
)
def test_folders_that_are_no_numbers_are_refused(tmp_path, names, message):
    with pytest.raises(WrongCall, match=message):
        open_batches(write_in_folders(tmp_path, names), "y")


def test_a_column_has_one_type_in_all_files(tmp_path):
    frame = pd.DataFrame({"a": [1, 2], "y": [0, 1]})
    frame.to_parquet(tmp_path / "1.parquet")
    frame.astype({"a": str}).to_parquet(tmp_path / "2.parquet")
    message = r"the column 'a' holds int64 in .*1.parquet, but (large_)?string in .*2.parquet"
    with pytest.raises(WrongCall, match=message):
        open_batches(tmp_path, "y")
