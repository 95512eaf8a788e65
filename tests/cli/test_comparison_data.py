"""Reading, sampling and describing the table of a comparison."""

import numpy as np
import pandas as pd
import pytest

from immax.cli.comparison_data import read_comparison_data
from immax.errors import WrongCall
from immax.tabular import describe_columns


def large(tmp_path, n=3000):
    rng = np.random.default_rng(0)
    y = (rng.random(n) < 0.1).astype(int)
    frame = pd.DataFrame({"a": rng.normal(size=n) + y, "firm": "north", "y": y})
    frame.to_parquet(tmp_path / "big.parquet")
    return frame


def test_all_rows_of_a_small_table_are_used(tmp_path):
    frame = large(tmp_path)
    data = read_comparison_data(tmp_path / "big.parquet", "y", 3000, 0)
    pd.testing.assert_frame_equal(data.X, frame[["a", "firm"]], check_dtype=False)
    assert data.notices == ("left out 'firm': one value in all rows",)
    assert (data.source, data.target) == ("big.parquet", "y")
    assert data.schema.columns == describe_columns(data.X).columns
    assert data.schema.labels.kind == "number"


def test_a_large_table_is_sampled_by_class(tmp_path):
    frame = large(tmp_path)
    data = read_comparison_data(tmp_path / "big.parquet", "y", 500, 0)
    assert len(data.X) == len(data.y) == 500
    assert data.y.mean() == pytest.approx(frame["y"].mean(), abs=2e-3)
    assert data.X.index.tolist() == list(range(500))
    assert data.notices[-1] == "3,000 rows are many: a sample of 500 is used (--rows)"
    again = read_comparison_data(tmp_path / "big.parquet", "y", 500, 0)
    pd.testing.assert_frame_equal(again.X, data.X)
    other = read_comparison_data(tmp_path / "big.parquet", "y", 500, 1)
    assert not other.X.equals(data.X)


def test_without_a_file_the_page_blocks_are_used():
    data = read_comparison_data(None, None, 100_000, 0)
    assert (data.source, data.target) == ("the page blocks", "kind")
    assert len(data.X) > 5000


def test_a_file_needs_a_target(tmp_path):
    with pytest.raises(WrongCall, match="--target"):
        read_comparison_data(tmp_path / "big.parquet", None, 500, 0)
