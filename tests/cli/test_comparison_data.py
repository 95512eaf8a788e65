"""Reading, sampling and describing the table of a comparison."""

import json

import numpy as np
import pandas as pd
import pytest
from commands import immax, immax_here
from mixed_table import mixed_table

from immax.cli import comparison_data
from immax.cli.comparison_data import (
    open_comparison_data,
    read_comparison_data,
    streams_by_itself,
)
from immax.compare.protocol import Protocol, Split
from immax.compare.streamed_folds import hashed_splits
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


def _with_training_rows(protocol, codes):
    """The folds of a streamed table, for one in memory."""
    rows = np.arange(len(codes))
    tests = [split.test for split in hashed_splits(len(codes), protocol)]
    return tuple(Split(np.setdiff1d(rows, test), test.astype(np.intp)) for test in tests)


def _without_scores(chosen):
    return {
        name: [{key: value for key, value in own.items() if key != "score"} for own in folds]
        for name, folds in chosen.items()
    }


@pytest.mark.parametrize(
    ("classes", "metric", "methods"),
    [(2, "balanced_accuracy", "weights,threshold,immax"), (3, "log_loss", "weights")],
)
def test_a_streamed_comparison_is_that_of_the_table_in_memory(
    classes, metric, methods, tmp_path, monkeypatch
):
    X, y = mixed_table(1500, classes, seed=3)
    (tmp_path / "table").mkdir()
    frame = X.assign(y=y)
    frame[:700].to_parquet(tmp_path / "table" / "a.parquet")
    frame[700:].to_parquet(tmp_path / "table" / "b.parquet")
    arguments = ["compare", "table", "-t", "y", "--methods", methods, "--metric", metric]
    arguments += ["--folds", "2", "--jobs", "1", "--prefer", "best", "--json"]
    run = immax if classes == 2 else immax_here
    found = run(*arguments, "--stream", "-o", "streamed", cwd=tmp_path, check=0)
    assert "1,500 rows are streamed" in found.stderr
    monkeypatch.setattr(Protocol, "splits", _with_training_rows)
    known = immax_here(*arguments, "--no-stream", "-o", "whole", cwd=tmp_path, check=0)
    found, known = json.loads(found.stdout), json.loads(known.stdout)
    assert found["recommended"] == known["recommended"]
    assert found["data"]["rows"] == 1500
    assert found["data"]["classes"] == known["data"]["classes"]
    # The sample of the searches is all rows.
    assert _without_scores(found["chosen"]) == _without_scores(known["chosen"])
    for ours, theirs in zip(found["rows"], known["rows"], strict=True):
        assert ours["name"] == theirs["name"]
        for key in ("gain", "low", "high"):
            # A row that is on a threshold may be on either side of it.
            assert ours[key] == pytest.approx(theirs[key], abs=3e-3)
    for name, folds in found["folds"].items():
        for ours, theirs in zip(folds, known["folds"][name], strict=True):
            # scikit-learn stops at a gradient of 1e-4, and ours at a gap of 1e-6.
            assert ours["log_loss"] == pytest.approx(theirs["log_loss"], abs=2e-4)
            assert ours["accuracy"] == pytest.approx(theirs["accuracy"], abs=2.1e-3)  # one row
    pages = [(tmp_path / name / "report.html").read_text() for name in ("streamed", "whole")]
    assert pages[0].count("<svg") == pages[1].count("<svg")
    answers = []
    for name in ("streamed", "whole"):
        out = tmp_path / f"{name}.csv"
        model = tmp_path / name / "model.skops"
        immax_here("predict", model, "table", "--proba", "-o", out, cwd=tmp_path, check=0)
        answers.append(pd.read_csv(out).select_dtypes("number").to_numpy())
    np.testing.assert_allclose(*answers, atol=5e-3)


def test_which_tables_are_streamed(tmp_path, monkeypatch):
    large(tmp_path)
    path = tmp_path / "big.parquet"
    assert not streams_by_itself(path, None)
    monkeypatch.setattr(comparison_data, "MOST_ROWS", 2000)
    assert streams_by_itself(path, None)
    assert streams_by_itself(tmp_path, ["immax", "xgb"])
    assert not streams_by_itself(path, ["xgb"])
    assert not streams_by_itself(tmp_path / "big.csv", None)
    assert not streams_by_itself(tmp_path / "nothing.parquet", None)
    assert not streams_by_itself(None, None)


def test_a_streamed_table_is_described_after_a_pass(tmp_path):
    large(tmp_path)
    data = open_comparison_data(tmp_path / "big.parquet", "y", 4, 0)
    assert data.notices[0] == "left out 'firm': one value in all rows"
    assert data.notices[1].startswith("3,000 rows are streamed")
    assert data.classes.tolist() == [0, 1]
    with pytest.raises(WrongCall, match="name the column of the labels"):
        open_comparison_data(tmp_path / "big.parquet", None, 4, 0)
    with pytest.raises(WrongCall, match="--stream is for a Parquet file or folder"):
        open_comparison_data(None, None, 4, 0)
    refused = immax_here(
        "compare", "big.parquet", "-t", "y", "--stream", "--rows", 500, cwd=tmp_path
    )
    assert "--stream uses all rows" in refused.stderr
