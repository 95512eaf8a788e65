"""The two estimators on Dask beside those in memory."""

import pickle

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from dask_cases import LABELS, place, sample
from sklearn.base import clone
from sklearn.metrics import log_loss

from immax.boosting import IMMAXLGBMClassifier, IMMAXXGBClassifier
from immax.decisions import Budget
from immax.distributed import DaskIMMAXLGBMClassifier, DaskIMMAXXGBClassifier

pytestmark = pytest.mark.filterwarnings("ignore")  # of Dask, XGBoost and LightGBM
LOCAL = {
    DaskIMMAXXGBClassifier: IMMAXXGBClassifier,
    DaskIMMAXLGBMClassifier: IMMAXLGBMClassifier,
}
PARAMS = {
    DaskIMMAXXGBClassifier: {"n_estimators": 4, "n_jobs": 1},
    DaskIMMAXLGBMClassifier: {"n_estimators": 4, "n_jobs": 1, "verbose": -1},
}
KINDS = list(LOCAL)


@pytest.mark.parametrize("c", [2, 3])
@pytest.mark.parametrize("kind", KINDS)
def test_the_loss_is_that_of_all_rows(kind, c, client):
    X, y = sample(c)
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
    data, labels, weights = (place(one, client) for one in (X, y, weight))
    model = kind(power=0.8, **PARAMS[kind]).fit(data, labels, sample_weight=weights)
    local = LOCAL[kind](power=0.8, **PARAMS[kind]).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(model.margins_, local.margins_)
    np.testing.assert_allclose(model.loss_.constants, local.loss_.constants, atol=1e-9)
    assert model.classes_.tolist() == LABELS[:c].tolist()
    found = model.predict_proba(data)
    assert isinstance(found, da.Array)
    assert found.chunks[0] == data.chunks[0]
    found = found.compute()
    # Histograms of workers have other bins, but the models are nearly the same.
    own, other = (log_loss(y, one) for one in (found, local.predict_proba(X)))
    assert own == pytest.approx(other, rel=0.1)
    assert (model.predict(data).compute() == local.predict(X)).mean() > 0.85
    assert model.score(data, labels) == np.mean(model.predict(data).compute() == y)
    scores = model.decision_function(data)
    assert scores.shape == ((len(y),) if c == 2 else (len(y), c))
    again = model.to_local()
    assert type(again) is LOCAL[kind]
    np.testing.assert_array_equal(again.predict_proba(X), found)
    np.testing.assert_array_equal(again.decision_function(X), scores.compute())
    assert again.predict(X).tolist() == model.predict(data).compute().tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_one_worker_is_the_local_fit(kind, client):
    X, y = sample(3)
    first = next(iter(client.scheduler_info()["workers"]))
    data, labels = (
        da.from_delayed(
            client.scatter(one, workers=[first], hash=False), one.shape, dtype=one.dtype
        )
        for one in (X, y)
    )
    model = kind(power=0.8, **PARAMS[kind]).fit(data, labels)
    local = LOCAL[kind](power=0.8, **PARAMS[kind]).fit(X, y)
    found = model.predict_proba(data).compute()
    np.testing.assert_allclose(found, local.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_data_frames_keep_their_divisions(kind, client):
    X, y = sample(2)
    frame = pd.DataFrame(X, columns=list("uvwxyz"))
    order = np.random.default_rng(0).permutation(len(y))
    frame = frame.iloc[order].reset_index(drop=True)
    data = dd.from_pandas(frame, npartitions=3)
    labels = dd.from_pandas(pd.Series(y[order]), npartitions=3)
    model = kind(client=client, aim="balanced_accuracy", **PARAMS[kind]).fit(data, labels)
    found = model.predict_proba(data)
    assert isinstance(found, dd.DataFrame)
    assert found.divisions == data.divisions
    assert list(found.columns) == ["a", "b"]
    local = model.to_local()
    np.testing.assert_array_equal(found.compute(), local.predict_proba(frame))
    decided = model.predict(data)
    assert isinstance(decided, dd.Series)
    assert decided.compute().tolist() == local.predict(frame).tolist()
    assert local.rule_.aim == "balanced_accuracy"
    assert model.score(data, labels) == local.score(frame, y[order])


@pytest.mark.parametrize("kind", KINDS)
def test_clients_are_not_pickled_and_models_are_saved(kind, client, tmp_path):
    X, y = sample(2, 200)
    data, labels = da.from_array(X, chunks=(100, -1)), da.from_array(y, chunks=100)
    model = kind(client=client, rule="bayes", **PARAMS[kind])
    assert clone(model).get_params()["rule"] == "bayes"
    assert clone(model).client is client
    model.fit(data, labels)
    again = pickle.loads(pickle.dumps(model))
    assert again.client is None
    assert model.client is client
    expected = model.predict_proba(data).compute()
    np.testing.assert_array_equal(again.predict_proba(data).compute(), expected)
    model.to_local().save_model(tmp_path / "model.json")
    local = LOCAL[kind]()
    local.load_model(tmp_path / "model.json")
    np.testing.assert_allclose(local.predict_proba(X), expected, atol=1e-7)
    assert local.rule_.aim == "accuracy"


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_refused(kind, client):
    X, y = sample(2, 200)
    data, labels = da.from_array(X, chunks=(100, -1)), da.from_array(y, chunks=100)
    with pytest.raises(ValueError, match=r"the aim 'f1' has to be fitted.*to_local\(\), aim"):
        kind(aim="f1", **PARAMS[kind]).fit(data, labels)
    with pytest.raises(ValueError, match="scale_pos_weight is not supported"):
        kind(scale_pos_weight=2, **PARAMS[kind]).fit(data, labels)
    with pytest.raises(TypeError, match="X must be a Dask array"):
        kind(**PARAMS[kind]).fit(X, y)
    with pytest.raises(ValueError, match="at least two classes"):
        kind(**PARAMS[kind]).fit(data, da.zeros(200, chunks=100))
    model = kind(aim=Budget(count=3), **PARAMS[kind]).fit(data, labels)
    with pytest.raises(ValueError, match="which partitions do not know"):
        model.predict(data)
    with pytest.raises(ValueError, match="not fitted yet"):
        kind().predict(data)
