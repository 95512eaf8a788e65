"""Linear classifiers on Dask collections, against those of data in memory."""

import pickle

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from parted_cases import rows
from scipy import sparse
from sklearn.base import clone

from immax import BaselineClassifier, IMMAXClassifier, IMMAXClassifierCV
from immax.distributed import (
    DaskBaselineClassifier,
    DaskIMMAXClassifier,
    DaskIMMAXClassifierCV,
)
from immax.io import load_model, save_model

pytestmark = pytest.mark.filterwarnings("ignore:Dask currently has limited support")
NAMES = np.array(["low", "mid", "high", *"abcdefg"])


def collections(kind, X, y, weight):
    """Return features, labels and weights as collections; one partition is empty."""
    sizes = ((1000, 0, 1500, len(y) - 2500),)
    if kind == "frame":
        frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
        columns = pd.DataFrame({"y": y, "w": weight})
        whole = dd.from_pandas(pd.concat([frame, columns], axis=1), npartitions=3)
        return whole[list(frame.columns)], whole["y"], whole["w"]
    labels, weights = da.from_array(y, chunks=sizes), da.from_array(weight, chunks=sizes)
    if kind == "sparse":
        dense = da.from_array(X.toarray(), chunks=(*sizes, (X.shape[1],)))
        return dense.map_blocks(sparse.csr_matrix, dtype=X.dtype), labels, weights
    features = da.from_array(X, chunks=(*sizes, (3, X.shape[1] - 3)))
    if kind == "unknown":
        kept = labels != "nothing"  # all rows, but Dask does not know
        return features[kept], labels[kept], weights[kept]
    return features, labels, weights


@pytest.mark.parametrize(
    ("kind", "c"), [("array", 2), ("sparse", 10), ("frame", 10), ("unknown", 2)]
)
def test_the_fit_is_that_of_all_rows(kind, c, client):
    X, y = rows(c, sparse_rows=kind == "sparse")
    y = NAMES[y]
    weight = np.random.default_rng(0).integers(0, 4, len(y)) / 2
    data, labels, weights = collections(kind, X, y, weight)
    params = {"tol": 1e-12, "lam": 1e-2, "rule": "bayes"}
    model = DaskIMMAXClassifier(**params).fit(data, labels, weights)
    table = pd.DataFrame(X, columns=[f"x{j}" for j in range(8)]) if kind == "frame" else X
    local = IMMAXClassifier(**params).fit(table, y, weight)
    assert model.classes_.tolist() == local.classes_.tolist()
    assert model.objective_ == pytest.approx(local.objective_, rel=1e-9)
    np.testing.assert_allclose(model.coef_, local.coef_, atol=1e-6)
    np.testing.assert_allclose(model.margins_, local.margins_)
    assert model.n_rounds_ < 20
    proba, scores, decided = (
        getattr(model, name)(data) for name in ("predict_proba", "decision_function", "predict")
    )
    if kind == "frame":
        assert isinstance(proba, dd.DataFrame)
        assert isinstance(decided, dd.Series)
        assert proba.divisions == data.divisions
        assert list(proba.columns) == model.classes_.tolist()
        assert model.feature_names_in_.tolist() == table.columns.tolist()
    else:
        assert isinstance(proba, da.Array)
        assert np.array_equal(proba.chunks[0], data.chunks[0], equal_nan=True)
        assert decided.dtype == local.classes_.dtype
    np.testing.assert_allclose(proba.compute(), local.predict_proba(table), atol=1e-6)
    np.testing.assert_allclose(scores.compute(), local.decision_function(table), atol=1e-5)
    assert (np.asarray(decided.compute()) == local.predict(table)).all()
    assert model.score(data, labels, weights) == pytest.approx(local.score(table, y, weight))
    assert type(model.to_local()) is IMMAXClassifier
    np.testing.assert_array_equal(model.to_local().predict_proba(table), proba.compute())


def test_methods_of_the_catalogue(client):
    X, y = rows(3)
    data, labels = da.from_array(X, chunks=(800, -1)), da.from_array(y, chunks=800)
    params = {"method": "ldam", "method_params": {"C": 0.7}, "tol": 1e-12}
    model = DaskBaselineClassifier(client=client, **params).fit(data, labels)
    local = BaselineClassifier(**params).fit(X, y)
    np.testing.assert_allclose(model.coef_, local.coef_, atol=1e-6)
    assert model.to_local().spec_ == local.spec_
    np.testing.assert_allclose(
        model.predict_log_proba(data).compute(), local.predict_log_proba(X), atol=1e-4
    )


def test_clients_are_not_pickled_and_models_are_saved(client, tmp_path):
    X, y = rows(2, 500)
    data, labels = da.from_array(X, chunks=(200, -1)), da.from_array(y, chunks=200)
    model = DaskIMMAXClassifier(client=client, lam=0.1)
    assert clone(model).client is client
    assert clone(model).lam == 0.1
    model.fit(data, labels)
    again = pickle.loads(pickle.dumps(model))
    assert again.client is None
    assert model.client is client
    expected = model.predict_proba(data).compute()
    np.testing.assert_array_equal(again.predict_proba(data).compute(), expected)
    save_model(model.to_local(), tmp_path / "model.skops")
    np.testing.assert_array_equal(
        load_model(tmp_path / "model.skops").model.predict_proba(X), expected
    )


def test_what_is_refused(client):
    X, y = rows(2, 200)
    data, labels = da.from_array(X, chunks=(100, -1)), da.from_array(y, chunks=100)
    for params, message in [
        ({"loss": "hinge"}, "IMMAXClassifier fits loss='hinge' to data in memory"),
        ({"penalty": "l1"}, "need penalty='l2'"),
        ({"lam": -1}, "lam must be"),
    ]:
        with pytest.raises(ValueError, match=message):
            DaskIMMAXClassifier(**params).fit(data, labels)
    with pytest.raises(TypeError, match="X must be a Dask array"):
        DaskIMMAXClassifier().fit(X, y)
    with pytest.raises(ValueError, match="at least two classes"):
        DaskIMMAXClassifier().fit(data, da.zeros(200, chunks=100, dtype=int))
    with pytest.raises(ValueError, match="partition 1: Input X contains NaN"):
        DaskIMMAXClassifier().fit(
            da.where(da.arange(200, chunks=100)[:, None] == 150, np.nan, data), labels
        )
    with pytest.raises(ValueError, match="not fitted yet"):
        DaskIMMAXClassifier().predict(data)
    model = DaskIMMAXClassifier().fit(data, labels)
    with pytest.raises(ValueError, match="X has 3 features; the model has 8"):
        model.predict(data[:, :3])


def test_labels_may_be_in_other_chunks(client):
    X, y = rows(2, 400)
    data = da.from_array(X, chunks=(100, -1))
    model = DaskIMMAXClassifier().fit(data, da.from_array(y, chunks=133))
    expected = DaskIMMAXClassifier().fit(data, da.from_array(y, chunks=100))
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    assert model.score(data, da.from_array(y, chunks=133)) == (model.to_local().score(X, y))


@pytest.mark.parametrize(
    ("dask", "local"),
    [
        (DaskIMMAXClassifier, IMMAXClassifier),
        (DaskBaselineClassifier, BaselineClassifier),
        (DaskIMMAXClassifierCV, IMMAXClassifierCV),
    ],
)
def test_parameters_are_those_of_the_local_estimators(dask, local):
    assert dask().get_params() == {**local().get_params(), "client": None}
