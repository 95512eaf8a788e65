"""Record batches of numbers."""

import numpy as np
import pandas as pd

from immax.distributed import parquet_batches
from immax.distributed.parquet_batches import open_batches


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
