"""Recipes of docs/integrations.md with the real libraries, where they are installed."""

import warnings

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from scipy import sparse
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import get_scorer
from sklearn.model_selection import GroupKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale

from immax import IMMAXClassifier, IMMAXClassifierCV

X, Y = load_breast_cancer(return_X_y=True)
X = scale(X)[::4, :6]
Y = Y[::4]


def test_shap_of_a_linear_model():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shap = pytest.importorskip("shap", reason="shap is not installed")
    model = IMMAXClassifier(lam=1e-2).fit(X, Y)
    values = shap.LinearExplainer((model.coef_[0], model.intercept_[0]), X)(X)
    total = values.values.sum(axis=1) + values.base_values
    np.testing.assert_allclose(total, model.decision_function(X), atol=1e-8)


def test_shap_of_boosted_trees():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shap = pytest.importorskip("shap", reason="shap is not installed")
    pytest.importorskip("xgboost", reason="xgboost is not installed")
    from immax.boosting import IMMAXXGBClassifier

    model = IMMAXXGBClassifier(n_estimators=10, max_depth=2, n_jobs=1).fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        values = shap.TreeExplainer(model.get_booster()).shap_values(X)
    contributions = model.get_booster().predict(_matrix(X), pred_contribs=True)
    np.testing.assert_allclose(values, contributions[:, :-1], atol=1e-4)
    scores = contributions.sum(axis=1)
    np.testing.assert_allclose(scores, model.decision_function(X), atol=1e-4)


def _matrix(features):
    from xgboost import DMatrix

    return DMatrix(features)


def test_mlflow_through_skops(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mlflow = pytest.importorskip("mlflow", reason="mlflow is not installed")
    from immax.io import load_model, save_model

    pipeline = make_pipeline(StandardScaler(), IMMAXClassifier()).fit(X, Y)
    save_model(pipeline, tmp_path / "model.skops", metric="balanced_accuracy")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mlflow.set_tracking_uri(f"sqlite:///{tmp_path / 'mlflow.db'}")
        experiment = mlflow.create_experiment("immax", (tmp_path / "artifacts").as_uri())
        with mlflow.start_run(experiment_id=experiment) as run:
            mlflow.log_artifact(str(tmp_path / "model.skops"))
            mlflow.log_params(pipeline[-1].get_params())
        path = mlflow.artifacts.download_artifacts(
            run_id=run.info.run_id, artifact_path="model.skops", dst_path=str(tmp_path / "found")
        )
        logged = mlflow.get_run(run.info.run_id).data.params
    assert logged["lam"] == "0.001"
    found = load_model(path)
    assert found.metric == "balanced_accuracy"
    np.testing.assert_array_equal(found.model.predict_proba(X), pipeline.predict_proba(X))


def test_mlflow_s_own_format_through_skops(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mlflow = pytest.importorskip("mlflow", reason="mlflow is not installed")
        sklearn_flavor = pytest.importorskip("mlflow.sklearn")
    from immax.io import TRUSTED

    search = IMMAXClassifierCV(n_margins=2, lams=[0.01], aim="balanced_accuracy")
    pipeline = make_pipeline(StandardScaler(), search).fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mlflow.set_tracking_uri(f"sqlite:///{tmp_path / 'mlflow.db'}")
        experiment = mlflow.create_experiment("immax", (tmp_path / "artifacts").as_uri())
        with mlflow.start_run(experiment_id=experiment):
            logged = sklearn_flavor.log_model(
                pipeline,
                name="model",
                serialization_format="skops",
                skops_trusted_types=sorted(TRUSTED),
                pip_requirements=["immax"],
            )
        found = sklearn_flavor.load_model(logged.model_uri)
    assert list((tmp_path / "artifacts").rglob("*.skops"))
    assert not list((tmp_path / "artifacts").rglob("*.pkl"))
    np.testing.assert_array_equal(found.predict_proba(X), pipeline.predict_proba(X))


def frames():
    columns = {f"f{k}": X[:, k] for k in range(X.shape[1])}
    return {"polars": pl.DataFrame(columns), "pyarrow": pa.table(columns)}


@pytest.mark.parametrize("kind", ["polars", "pyarrow"])
def test_data_frames(kind):
    frame = frames()[kind]
    expected = IMMAXClassifier().fit(X, Y).predict_proba(X)
    model = IMMAXClassifier().fit(frame, Y)
    np.testing.assert_allclose(model.predict_proba(frame), expected)


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_array, sparse.coo_array])
def test_sparse_arrays(make):
    expected = IMMAXClassifier().fit(X, Y).predict_proba(X)
    found = IMMAXClassifier().fit(make(X), Y).predict_proba(make(X))
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_set_output_passes_through_a_pipeline():
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pd.DataFrame(X, columns=[f"f{k}" for k in range(X.shape[1])])
    pipeline = make_pipeline(StandardScaler(), IMMAXClassifier()).set_output(transform="pandas")
    pipeline.fit(frame, Y)
    assert pipeline[-1].feature_names_in_.tolist() == frame.columns.tolist()


def test_weights_and_groups_are_routed_to_the_search():
    groups = np.arange(len(Y)) % 5
    weight = np.where(Y == 1, 2.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = get_scorer("accuracy").set_score_request(sample_weight=True)
        search = IMMAXClassifierCV(cv=GroupKFold(2), n_margins=2, lams=[0.01], scoring=scorer)
        search.set_fit_request(sample_weight=True, groups=True)
        search.set_score_request(sample_weight=True)
        found = cross_validate(
            search,
            X,
            Y,
            cv=GroupKFold(3),
            params={"sample_weight": weight, "groups": groups},
        )
    assert len(found["test_score"]) == 3
