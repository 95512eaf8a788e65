"""Whole table pipelines in ONNX."""

import numpy as np
import pytest
from onnx_models import assert_same, evaluate, run
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from immax import IMMAXClassifier, IMMAXClassifierCV
from immax.onnx import to_onnx
from immax.onnx.graph import Graph
from immax.onnx.tables import add_columns, add_transformer
from immax.tabular import describe_columns, prepare

pd = pytest.importorskip("pandas", reason="needs pandas")


def frame():
    rng = np.random.default_rng(0)
    city = rng.choice(["Aix", "Bonn", "Cork", "Delft"], 200, p=[0.5, 0.35, 0.13, 0.02])
    table = pd.DataFrame(
        {
            "age": rng.normal(40, 10, 200).round(1),
            "since": pd.to_datetime("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, 200), "D"),
            "city": city,
            "member": rng.random(200) < 0.5,
        }
    )
    table.loc[::17, "age"] = np.nan
    table.loc[::23, "city"] = None
    return table, np.where((city == "Bonn") & (rng.random(200) < 0.7), "yes", "no")


def typed_inputs(pipeline, table):
    """Return the inputs of the graph: what the first step of the preprocessing gives."""
    typed = pipeline[0]["types"].transform(table)
    return {
        name: typed[[name]].to_numpy(object if typed[name].dtype == object else float)
        for name in typed
    }


@pytest.mark.parametrize("model", [IMMAXClassifier(), IMMAXClassifierCV(aim="f1", cv=3)])
def test_a_table_pipeline(model):
    table, y = frame()
    pipeline = make_pipeline(prepare(describe_columns(table)), model).fit(table, y)
    graph = to_onnx(pipeline)
    names = {one.name for one in graph.graph.input}
    assert names == {"age", "since", "city", "member"}
    assert_same(pipeline, graph, table, typed_inputs(pipeline, table))
    strange = table.assign(city="Ulm")  # unknown categories are rare ones
    found = run(graph, typed_inputs(pipeline, strange))
    np.testing.assert_allclose(found["probabilities"], pipeline.predict_proba(strange), atol=1e-5)


def test_columns_are_inputs():
    table, _ = frame()
    fitted = prepare(describe_columns(table)).fit(table)
    columns = add_columns(Graph(), fitted["types"])
    assert list(columns) == ["age", "since", "city", "member"]


def test_scaling_and_imputation():
    X = np.array([[1.0, 5.0], [np.nan, 7.0], [3.0, np.nan]])
    steps = make_pipeline(SimpleImputer(strategy="median"), StandardScaler()).fit(X)
    found = evaluate(X, lambda graph, name: add_transformer(graph, steps, name))
    np.testing.assert_allclose(found, steps.transform(X))


def test_other_transformers_are_named():
    step = MinMaxScaler().fit(np.eye(2))
    with pytest.raises(TypeError, match="MinMaxScaler cannot be exported"):
        evaluate(np.eye(2), lambda graph, name: add_transformer(graph, step, name))
