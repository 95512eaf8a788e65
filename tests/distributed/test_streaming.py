"""Fits to Parquet files, against fits to the same rows in memory."""

import pickle

import numpy as np
import pandas as pd
import pytest
from callback_cases import Recorder, needs_callbacks
from parted_cases import cut, rows
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from immax import IMMAXClassifier, IMMAXClassifierCV
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


@pytest.mark.parametrize("as_text", [False, True], ids=["Path", "str"])
def test_local_classifiers_take_paths(table, as_text):
    folder, frame = table
    X = frame.drop(columns=["y", "w"])
    path = str(folder) if as_text else folder
    model = IMMAXClassifier(tol=1e-10).fit(path, "y", "w")
    streamed = StreamIMMAXClassifier(tol=1e-10).fit(folder, "y", "w")
    np.testing.assert_array_equal(model.coef_, streamed.coef_)
    assert model.feature_names_in_.tolist() == list(X.columns)
    assert not hasattr(model, "n_rounds_")
    assert (model.predict(X) == streamed.predict(X)).all()
    given = {"n_margins": 2, "lams": [1e-3, 1e-1], "cv": 3}
    search = IMMAXClassifierCV(**given).fit(path, "y", "w")
    assert search.best_score_ == StreamIMMAXClassifierCV(**given).fit(folder, "y", "w").best_score_
    assert len(search.predict(X)) == len(X)


def test_a_warm_start_on_files_continues(table):
    folder, _ = table
    model = IMMAXClassifier(tol=1e-12, warm_start=True).fit(folder, "y")
    first = model.n_iter_
    assert model.fit(folder, "y").n_iter_ < first


def test_files_are_refused_by_name(table):
    folder, frame = table
    labels = frame["y"]
    with pytest.raises(TypeError, match="y must be the name of a column"):
        IMMAXClassifier().fit(folder, labels)
    with pytest.raises(TypeError, match="sample_weight must be the name of a column"):
        IMMAXClassifier().fit(folder, "y", frame["w"])
    with pytest.raises(TypeError, match="no groups"):
        IMMAXClassifierCV().fit(folder, "y", groups=labels)
    with pytest.raises(ValueError, match="hinge"):
        IMMAXClassifier("hinge").fit(folder, "y")
    with pytest.raises(ValueError, match="has no column 'z'"):
        IMMAXClassifier().fit(folder, "z")
    with pytest.raises(ValueError, match="must be different columns; got 'y' for both"):
        IMMAXClassifier().fit(folder, "y", "y")
    with pytest.raises(ValueError, match="'X' parameter of cross_val_score must be an array"):
        cross_val_score(IMMAXClassifier(), folder, "y")


class Subclass(IMMAXClassifier):
    """A classifier with other parameters."""

    def __init__(self, lam=1e-2, *, note=""):
        super().__init__(lam=lam)
        self.note = note


def test_a_fit_to_files_is_like_any_other(table):
    folder, frame = table
    X, y, w = frame.drop(columns=["y", "w"]), frame["y"], frame["w"]
    model, local = IMMAXClassifier(use_radii=True), IMMAXClassifier(use_radii=True)
    model.fit(folder, "y", "w")
    local.fit(X, y, w)
    assert set(vars(model)) == set(vars(local))
    assert repr(clone(model)) == repr(clone(local))
    assert (pickle.loads(pickle.dumps(model)).predict(X) == local.predict(X)).all()
    alone = make_pipeline(IMMAXClassifier()).fit(folder, "y", immaxclassifier__sample_weight="w")
    assert (alone.predict(X) == IMMAXClassifier().fit(X, y, w).predict(X)).all()
    before = dict(vars(local))
    with pytest.raises(ValueError, match="has no column"):
        local.fit(folder, "z")
    assert vars(local) == before
    model.fit(X.to_numpy(), y)
    assert not hasattr(model, "feature_names_in_")
    smaller = Subclass(note="kept").fit(folder, "y", "w")
    np.testing.assert_array_equal(
        smaller.coef_, IMMAXClassifier(lam=1e-2).fit(folder, "y", "w").coef_
    )
    assert smaller.note == "kept"


def test_a_search_of_files_has_the_attributes_of_others(table):
    folder, frame = table
    given = {"n_margins": 2, "lams": [1e-3, 1e-1], "cv": 3}
    search = IMMAXClassifierCV(**given).fit(folder, "y", "w")
    local = IMMAXClassifierCV(**given).fit(frame.drop(columns=["y", "w"]), frame["y"], frame["w"])
    assert set(vars(search)) == set(vars(local))


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
    with pytest.raises(ValueError, match=r"'y' .*holds .*string, not numbers: immax fit"):
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
