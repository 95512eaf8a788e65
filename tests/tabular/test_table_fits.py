"""Fits to Parquet files, against fits to the same rows, prepared in memory."""

import pickle
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from immax import BaselineClassifier, IMMAXClassifier, IMMAXClassifierCV
from immax.decisions import DecisionClassifierCV
from immax.io import load_model, save_model
from immax.onnx import to_onnx
from immax.tabular import SchemaError, describe_columns, prepare, streamed_table
from immax.theory import certificate

SEARCH = {"n_margins": 2, "lams": [1e-3, 1e-1], "cv": 3}
pytestmark = pytest.mark.filterwarnings("ignore:columns are left out")


@pytest.fixture
def table(tmp_path, monkeypatch):
    """Write three files with missing values, dates and categories; read them in small batches."""
    monkeypatch.setattr(streamed_table, "BATCH_CELLS", 1)
    rng = np.random.default_rng(0)
    n = 4500
    age = rng.normal(40, 10, n)
    city = np.array(["Aix", "Bonn", "Cork", None], dtype=object)[rng.integers(0, 4, n)]
    label = (age / 10 + 2 * (city == "Bonn") + rng.normal(size=n)).round().clip(3, 5).astype(int)
    age[rng.random(n) < 0.1] = np.nan
    day = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 900, n), "D")
    frame = pd.DataFrame({"age": age, "city": city, "day": day, "paid": rng.random(n) < 0.3})
    frame["id"] = [f"row {i}" for i in range(n)]
    folder = tmp_path / "table"
    folder.mkdir()
    y = np.array(["a", "b", "c"], dtype=object)[label - 3]
    weight = rng.integers(0, 3, n).astype(float)
    whole = frame.assign(y=y, w=weight)
    for number, own in enumerate(np.array_split(np.arange(n), 3)):
        whole.iloc[own].to_parquet(folder / f"part{number}.parquet")
    preparation = prepare(describe_columns(frame)).fit(frame)
    return SimpleNamespace(
        folder=folder, X=frame, y=y, weight=weight, Z=preparation.transform(frame)
    )


@pytest.mark.parametrize("convert", [str, lambda path: path], ids=["str", "Path"])
def test_a_table_is_prepared_and_fitted_to_all_rows(table, convert):
    path = convert(table.folder)
    with pytest.warns(UserWarning, match="columns are left out: 'id': a different value"):
        model = IMMAXClassifier(tol=1e-12, use_radii=True).fit(path, "y", "w")
    local = IMMAXClassifier(tol=1e-12, use_radii=True).fit(table.Z, table.y, table.weight)
    np.testing.assert_allclose(model.coef_, local.coef_, atol=1e-6)
    np.testing.assert_allclose(model.margins_, local.margins_)
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert model.feature_names_in_.tolist() == ["age", "city", "day", "paid"]
    assert model.n_features_in_ == 4
    assert model.preparation_.get_feature_names_out()[0] == "numbers__age"
    assert not hasattr(model, "n_rounds_")
    expected = local.predict_proba(table.Z)
    np.testing.assert_allclose(model.predict_proba(table.X), expected, atol=1e-6)
    np.testing.assert_array_equal(model.predict_proba(path), model.predict_proba(table.X))
    assert (model.predict(path) == local.predict(table.Z)).all()
    assert model.score(table.X, table.y) == local.score(table.Z, table.y)


def test_a_search_on_a_table(table):
    search = IMMAXClassifierCV(aim="balanced_accuracy", **SEARCH).fit(table.folder, "y", "w")
    best = search.best_estimator_
    local = clone(best).set_params(tol=1e-12).fit(table.Z, table.y, table.weight)
    np.testing.assert_allclose(search.coef_, local.coef_, atol=1e-4)
    assert search.preparation_ is best.preparation_
    assert (search.predict(table.folder) == search.predict(table.X)).all()
    assert search.feature_names_in_.tolist() == best.feature_names_in_.tolist()
    unfitted = IMMAXClassifierCV(refit=False, **SEARCH).fit(table.folder, "y")
    assert not hasattr(unfitted, "preparation_")
    refitted = IMMAXClassifierCV(**SEARCH).fit(table.folder, "y")
    assert set(vars(refitted.set_params(refit=False).fit(table.folder, "y"))) == set(vars(unfitted))
    assert search.fit(table.Z, table.y).n_features_in_ == table.Z.shape[1]
    assert not hasattr(search, "preparation_")
    assert set(vars(unfitted)) == set(
        vars(IMMAXClassifierCV(refit=False, **SEARCH).fit(table.X[["age"]].fillna(0), table.y))
    )


@pytest.mark.parametrize(
    "estimator", [IMMAXClassifier(), IMMAXClassifierCV(**SEARCH)], ids=["classifier", "search"]
)
def test_models_of_tables_are_saved_exported_and_certified(table, estimator, tmp_path):
    model = clone(estimator).fit(table.folder, "y")
    save_model(model, tmp_path / "model.skops")
    again = load_model(tmp_path / "model.skops").model
    expected = model.predict_proba(table.X.assign(w=table.weight))
    np.testing.assert_array_equal(again.predict_proba(table.folder), expected)
    copied = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copied.predict_proba(table.folder), expected)
    inputs = [entry.name for entry in to_onnx(model).graph.input]
    assert inputs == ["age", "w", "day", "city", "paid"]
    frame = table.X.assign(w=table.weight)
    features = model.preparation_.transform(frame)
    plain = IMMAXClassifier(tol=1e-12, margins=model.margins_, lam=_lam(model))
    plain.fit(features, table.y)
    ours, other = certificate(model, frame, table.y), certificate(plain, features, table.y)
    assert ours.best.complexity == pytest.approx(other.best.complexity, rel=1e-3)
    decided = DecisionClassifierCV(model, "balanced_accuracy", cv="prefit").fit(frame, table.y)
    assert len(decided.predict(table.folder)) == len(table.y)


def _lam(model):
    return getattr(model, "best_lam_", None) or model.lam


def test_another_fit_forgets_the_table(table):
    model = IMMAXClassifier(tol=1e-12, warm_start=True).fit(table.folder, "y", "w")
    first = model.n_iter_
    assert model.fit(table.folder, "y", "w").n_iter_ < first
    before = dict(vars(model))
    with pytest.raises(ValueError, match="has no column"):
        model.fit(table.folder, "z")
    assert vars(model) == before
    model.fit(table.Z, table.y)
    assert not hasattr(model, "preparation_")
    assert not hasattr(model, "feature_names_in_")
    assert set(vars(model)) == set(vars(IMMAXClassifier().fit(table.Z, table.y)))
    with pytest.raises(TypeError, match="got the path"):
        model.predict(table.folder)


class Subclass(IMMAXClassifier):
    """A classifier with other parameters."""

    def __init__(self, lam=1e-2, *, note=""):
        super().__init__(lam=lam)
        self.note = note


def test_subclasses_and_pipelines(table):
    expected = IMMAXClassifier(lam=1e-2).fit(table.folder, "y", "w")
    smaller = Subclass(note="kept").fit(table.folder, "y", "w")
    np.testing.assert_array_equal(smaller.coef_, expected.coef_)
    assert smaller.note == "kept"
    alone = make_pipeline(IMMAXClassifier(lam=1e-2))
    alone.fit(table.folder, "y", immaxclassifier__sample_weight="w")
    assert (alone.predict(table.folder) == expected.predict(table.X)).all()


def test_what_is_refused(table, tmp_path):
    folder, fitted = table.folder, IMMAXClassifier().fit(table.folder, "y", "w")
    with pytest.raises(TypeError, match="y must be the name of a column"):
        IMMAXClassifier().fit(folder, table.y)
    with pytest.raises(TypeError, match="sample_weight must be the name of a column"):
        IMMAXClassifier().fit(folder, "y", table.weight)
    with pytest.raises(TypeError, match="no groups"):
        IMMAXClassifierCV().fit(folder, "y", groups=table.y)
    with pytest.raises(ValueError, match="hinge"):
        IMMAXClassifier("hinge").fit(folder, "y")
    for names in (["z"], ["y", "z"]):
        with pytest.raises(ValueError, match="has no column 'z'"):
            IMMAXClassifier().fit(folder, *names)
    with pytest.raises(ValueError, match="must be different columns; got 'y' for both"):
        IMMAXClassifier().fit(folder, "y", "y")
    with pytest.raises(ValueError, match="'X' parameter of cross_val_score must be an array"):
        cross_val_score(IMMAXClassifier(), folder, "y")
    with pytest.raises(TypeError, match="IMMAXClassifier and IMMAXClassifierCV can be fitted"):
        BaselineClassifier().fit(folder, "y")
    with pytest.raises(SchemaError, match="columns are missing: 'city'"):
        fitted.predict(table.X.drop(columns="city"))
    with pytest.raises(ValueError, match=r"data frame of pandas or polars.*got numpy\.ndarray"):
        fitted.predict(table.Z)
    table.X[:0].to_parquet(tmp_path / "empty.parquet")
    with pytest.raises(ValueError, match="has no rows"):
        fitted.predict(tmp_path / "empty.parquet")
    table.X.assign(y=[None, *table.y[1:]]).to_parquet(tmp_path / "gap.parquet")
    with pytest.raises(ValueError, match="the column 'y' has 1 missing labels"):
        IMMAXClassifier().fit(tmp_path / "gap.parquet", "y")
