"""``immax fit`` and ``immax predict`` on folders of Parquet files, as processes."""

import json

import numpy as np
import pandas as pd
import pytest
from commands import immax, immax_here

from immax.cli import streamed_fit
from immax.cli.streamed_fit import must_stream
from immax.io import load_model


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    rng = np.random.default_rng(0)
    n = 3000
    X = rng.normal(size=(n, 3))
    scores = X[:, 0] + rng.logistic(size=n) - 1.5
    frame = (
        pd.DataFrame(X)
        .add_prefix("x")
        .assign(
            city=np.array(list("abc"), dtype=object)[rng.integers(0, 3, n)],
            y=np.where(scores > 0, "yes", "no"),
        )
    )
    frame.loc[::9, "x1"] = np.nan
    path = tmp_path_factory.mktemp("data") / "table"
    for year, rows in zip((2024, 2025), np.array_split(np.arange(n), 2), strict=True):
        (path / f"year={year}").mkdir(parents=True)
        frame.iloc[rows].to_parquet(path / f"year={year}" / "rows.parquet")
    return path


def test_a_folder_is_fitted_and_predicted(folder, tmp_path):
    streamed, whole = tmp_path / "streamed.skops", tmp_path / "whole.skops"
    arguments = ["fit", folder, "--target", "y", "--metric", "log_loss", "--folds", 3, "--json"]
    streaming = ["-o", streamed, "--stream", "--search-rows", 10_000]
    found = immax(*arguments, *streaming, cwd=tmp_path, check=0)
    expected = immax_here(*arguments, "-o", whole, "--no-stream", cwd=tmp_path, check=0)
    # With all rows in the sample, search and fit are those of the table in memory.
    found, expected = json.loads(found.stdout), json.loads(expected.stdout)
    assert found["score"] == pytest.approx(expected["score"], abs=1e-6)
    assert found["lam"] == expected["lam"]
    ours, theirs = (load_model(path).model[-1] for path in (streamed, whole))
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)
    assert ours.gap_ <= 1e-6 * ours.objective_
    out = tmp_path / "predictions"
    immax_here("predict", streamed, folder, "--proba", "-o", out, cwd=tmp_path, check=0)
    files = sorted(path.relative_to(out) for path in out.rglob("*.parquet"))
    assert [str(path) for path in files] == ["year=2024/rows.parquet", "year=2025/rows.parquet"]
    parts = [pd.read_parquet(out / path, partitioning=None) for path in files]
    assert [len(part) for part in parts] == [1500, 1500]
    one = tmp_path / "one.parquet"
    immax_here("predict", streamed, folder, "--proba", "-o", one, cwd=tmp_path, check=0)
    pd.testing.assert_frame_equal(pd.concat(parts, ignore_index=True), pd.read_parquet(one))
    again = immax_here("predict", streamed, folder, "-o", out, cwd=tmp_path)
    assert again.returncode != 0
    assert "exists and is not an empty folder" in again.stderr
    assert not list(tmp_path.glob("*.part"))


def test_what_is_refused(folder, tmp_path):
    arguments = ["fit", folder, "-t", "y", "--stream", "--loss", "hinge"]
    refused = immax_here(*arguments, cwd=tmp_path)
    assert refused.returncode != 0
    assert "--no-stream fits in memory" in refused.stderr


def test_large_tables_are_streamed(folder, tmp_path, monkeypatch):
    assert not must_stream(folder)
    assert not must_stream(tmp_path / "nothing.parquet")
    monkeypatch.setattr(streamed_fit, "available_memory", lambda: 1000)
    assert must_stream(folder)
    assert not must_stream(tmp_path / "table.csv")
