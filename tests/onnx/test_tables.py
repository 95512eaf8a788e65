"""Whole table pipelines in ONNX."""

import numpy as np
import pytest
from onnx_models import assert_same, evaluate, run
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    OneHotEncoder,
    StandardScaler,
)

from immax import IMMAXClassifier, IMMAXClassifierCV
from immax.onnx import to_onnx
from immax.onnx.graph import Graph
from immax.onnx.tables import add_columns, add_transformer
from immax.tabular import describe_columns, prepare
from immax.tabular.pipeline import TypedColumns

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
    typed = pipeline[0][0].transform(table)
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


def words_of_members(words, spellings, missing):
    """Return a table of booleans as words, its labels and a pipeline, and the same spelt anew."""
    table, y = frame()
    known = table["member"].map({True: words[0], False: words[1]}).astype(object)
    table = table.assign(member=known.where(np.arange(len(table)) % 11 != 0))
    schema = describe_columns(table)
    assert next(one for one in schema.columns if one.name == "member").kind == "boolean"
    pipeline = make_pipeline(prepare(schema), IMMAXClassifier()).fit(table, y)
    again = known.map(dict(zip(words, spellings, strict=True)))
    return pipeline, table.assign(member=again.where(np.arange(len(table)) % 7 != 0, missing))


@pytest.mark.parametrize(
    ("words", "spellings", "missing"),
    [
        (("true", "false"), ("True", "FALSE"), "missing"),
        (("true", "false"), ("1", "0"), ""),
        (("TRUE", "FALSE"), ("true", "False"), "NA"),
        (("t", "f"), ("T", "f"), "NA"),
        (("t", "f"), ("True", "False"), "nan"),
    ],
)
def test_words_of_booleans(words, spellings, missing):
    pipeline, table = words_of_members(words, spellings, missing)
    inputs = typed_inputs(pipeline, table.assign(member=None))
    inputs["member"] = table[["member"]].to_numpy(object)
    found = run(to_onnx(pipeline), inputs)
    same = {spellings[0]: True, spellings[1]: False, missing: None}
    read = table.assign(member=table["member"].map(same).astype(object))
    np.testing.assert_allclose(found["probabilities"], pipeline.predict_proba(read), atol=1e-5)


def test_empty_strings_and_huge_numbers_are_missing():
    table, y = frame()
    pipeline = make_pipeline(prepare(describe_columns(table)), IMMAXClassifier()).fit(table, y)
    inputs = typed_inputs(pipeline, table)
    table.loc[::3, "city"], table.loc[1::3, "age"], table.loc[2::9, "age"] = "", np.inf, -1e200
    inputs["city"] = table[["city"]].fillna("").to_numpy(object)
    inputs["age"] = table[["age"]].to_numpy(float)
    found = run(to_onnx(pipeline), inputs)
    np.testing.assert_allclose(found["probabilities"], pipeline.predict_proba(table), atol=1e-5)


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


NUMBERS = np.random.default_rng(1).normal(size=(20, 5)) * [1, 2, 3, 4, 5]
NAMED = pd.DataFrame(NUMBERS, columns=list("abcde"))
BOOLEANS = [True, False, False, True, False]


def transform_in_both(transformer, table):
    """Return what a fitted transformer gives in ONNX, and in Python."""
    found = evaluate(NUMBERS, lambda graph, name: add_transformer(graph, transformer, name))
    return found, np.asarray(transformer.transform(table))


@pytest.mark.parametrize(
    "columns",
    [
        [0, 3],
        [3, 0],
        [-1, 1],
        slice(1, 3),
        slice(0, 4, 2),
        BOOLEANS,
        np.array(BOOLEANS),
        pd.Series(BOOLEANS),
        make_column_selector("[ad]"),
        lambda table: [0, table.shape[1] - 1],
        ["d", "a"],
        pd.Index(["d", "a"]),
        slice("b", "d"),
        [],
    ],
)
@pytest.mark.parametrize("remainder", ["drop", "passthrough", StandardScaler(with_mean=False)])
def test_columns_of_every_kind(columns, remainder):
    parts = [("first", StandardScaler(), columns), ("second", "passthrough", [1])]
    transformer = ColumnTransformer(parts, remainder=remainder).fit(NAMED)
    np.testing.assert_allclose(*transform_in_both(transformer, NAMED))


def test_weights_of_transformers():
    inner = ColumnTransformer([("one", StandardScaler(), [1])], remainder="passthrough")
    transformer = ColumnTransformer(
        [("a", StandardScaler(), [0]), ("b", inner, [4, 1]), ("c", "drop", [2])],
        remainder="passthrough",
        transformer_weights={"a": 3.0, "b": 0.5, "remainder": -2.0},
    ).fit(NUMBERS)
    np.testing.assert_allclose(*transform_in_both(transformer, NUMBERS))


def test_a_column_transformer_before_a_classifier():
    y = np.arange(20) % 3
    columns = ColumnTransformer([("s", StandardScaler(), ["e", "b"])], remainder="passthrough")
    model = make_pipeline(columns, IMMAXClassifier(lam=1e-2)).fit(NAMED, y)
    found = run(to_onnx(model), {"X": NUMBERS})
    np.testing.assert_allclose(found["probabilities"], model.predict_proba(NAMED), atol=1e-5)


@pytest.mark.parametrize("unknown", ["ignore", "infrequent_if_exist"])
def test_columns_of_a_table_by_place_and_unknown_categories(unknown):
    table, y = frame()
    described = describe_columns(table)
    typed = prepare(described)[0]
    encoder = OneHotEncoder(handle_unknown=unknown, min_frequency=20, sparse_output=False)
    imputer = SimpleImputer(keep_empty_features=True)
    columns = ColumnTransformer([("c", encoder, [-1, 2]), ("n", imputer, slice(0, 2))])
    model = make_pipeline(make_pipeline(typed, columns), IMMAXClassifier()).fit(table, y)
    strange = table.assign(city=table["city"].where(np.arange(200) % 4 != 0, "Ulm"))
    assert_same(model, to_onnx(model), strange, typed_inputs(model, strange))


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (MinMaxScaler(), "MinMaxScaler cannot be exported"),
        (FunctionTransformer(np.abs), "FunctionTransformer cannot be exported"),
        (ColumnTransformer([("a", MinMaxScaler(), [0])]), "MinMaxScaler cannot be exported"),
        (OneHotEncoder(), "OneHotEncoder can be exported to ONNX for the string columns"),
    ],
)
def test_other_transformers_are_named(step, message):
    step.fit(np.eye(2))
    with pytest.raises(TypeError, match=message):
        evaluate(np.eye(2), lambda graph, name: add_transformer(graph, step, name))


def test_imputed_strings_are_refused():
    table, _ = frame()
    typed = TypedColumns(["age"], [], ["city"]).fit(table)
    step = SimpleImputer(strategy="most_frequent", keep_empty_features=True)
    columns = ColumnTransformer([("a", step, ["city"])]).fit(typed.transform(table))
    graph = Graph()
    with pytest.raises(TypeError, match="SimpleImputer can be exported to ONNX for numbers"):
        add_transformer(graph, columns, add_columns(graph, typed))
