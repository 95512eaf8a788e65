"""Fits to Parquet files, against fits to the same rows in memory."""

import numpy as np
import pandas as pd
import pytest
from callback_cases import Recorder, needs_callbacks
from parted_cases import cut, rows

from immax import IMMAXClassifier
from immax.distributed import StreamIMMAXClassifier, StreamIMMAXClassifierCV, parquet_batches
from immax.distributed.parted_search import PartedIMMAXCV
from immax.io import load_model, save_model


@pytest.fixture
def table(tmp_path, monkeypatch):
    """Write three files, and read them in many small batches."""
    monkeypatch.setattr(parquet_batches, "BATCH_BYTES", 8 * 8 * 300)
    X, y = rows(3)
    labels = np.array(["a", "b", "c"])[y]
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    frame = pd.DataFrame(X).add_prefix("x").assign(y=labels, w=weight)
    folder = tmp_path / "table"
    folder.mkdir()
    for number, own in enumerate(np.array_split(np.arange(len(y)), 3)):
        frame.iloc[own].to_parquet(folder / f"part{number}.parquet")
    return folder, frame


def test_the_optimum_of_all_rows(table, tmp_path):
    folder, frame = table
    X, y, weight = frame.drop(columns=["y", "w"]), frame["y"], frame["w"]
    model = StreamIMMAXClassifier(tol=1e-12, lam=1e-2).fit(folder, "y", "w")
    local = IMMAXClassifier(tol=1e-12, lam=1e-2).fit(X, y, weight)
    np.testing.assert_allclose(model.coef_, local.coef_, atol=1e-6)
    assert model.objective_ == pytest.approx(local.objective_, rel=1e-9)
    assert model.n_rounds_ < 15
    assert model.feature_names_in_.tolist() == list(X.columns)
    np.testing.assert_allclose(model.predict_proba(X), local.predict_proba(X), atol=1e-6)
    save_model(model.to_local(), tmp_path / "model.skops")
    again = load_model(tmp_path / "model.skops").model
    assert (again.predict(X) == model.predict(X)).all()


def test_a_search(table):
    folder, frame = table
    given = {"n_margins": 3, "lams": [1e-3, 1e-1], "cv": 3}
    model = StreamIMMAXClassifierCV(**given).fit(folder / "part1.parquet", "y", "w")
    own = frame.iloc[1000:2000]
    here = PartedIMMAXCV(**given)
    here._fit_parts(cut(own.iloc[:, :8].to_numpy(), own["y"].to_numpy(), own["w"].to_numpy()))
    assert model.best_score_ == pytest.approx(here.best_score_)
    np.testing.assert_allclose(model.coef_, here.coef_, atol=1e-5)
    assert type(model.to_local()).__name__ == "IMMAXClassifierCV"


@needs_callbacks
def test_a_fit_is_one_task(table):
    search = StreamIMMAXClassifierCV(n_margins=1, lams=[0.1], cv=2)
    for model in (StreamIMMAXClassifier(), search):
        recorder = Recorder()
        model.set_callbacks(recorder).fit(table[0] / "part1.parquet", "y", "w")
        assert recorder.begun == recorder.ended == [("fit",)]
        assert recorder.n_setups == recorder.n_teardowns == 1


def test_errors_name_the_file(table):
    folder, frame = table
    with pytest.raises(ValueError, match="has no column 'z'"):
        StreamIMMAXClassifier().fit(folder, "z")
    with pytest.raises(ValueError, match=r"'y' .*holds .*string, not numbers: IMMAXClassifier"):
        StreamIMMAXClassifier().fit(folder, "x0")
    with pytest.raises(FileNotFoundError, match="no file or folder"):
        StreamIMMAXClassifier().fit(folder / "nothing", "y")
    frame.assign(x1=np.nan).to_parquet(folder / "part1.parquet")
    with pytest.raises(ValueError, match=r"part1\.parquet: .*'x1' has missing values"):
        StreamIMMAXClassifier().fit(folder, "y", "w")
    content = bytearray((folder / "part2.parquet").read_bytes())
    content[4:4000] = bytes(3996)
    (folder / "part1.parquet").write_bytes(bytes(content))
    with pytest.raises(ValueError, match=r"part1\.parquet cannot be read as Parquet"):
        StreamIMMAXClassifier().fit(folder, "y", "w")
