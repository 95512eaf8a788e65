"""Models in onnxruntime have the labels and probabilities that they have in Python."""

import numpy as np
import pytest
from onnx_models import assert_same, run
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from immax import IMMAXSVC, IMMAXSVCCV, BaselineClassifier, IMMAXClassifier, IMMAXClassifierCV
from immax.decisions import Costs, DecisionClassifierCV
from immax.onnx import save_onnx, to_onnx

pytest.importorskip("onnx", reason="needs the extra onnx")
X, Y = load_iris(return_X_y=True)
KEEP = np.r_[0:50, 50:80, 100:112]
X, Y = X[KEEP] + np.random.default_rng(0).normal(scale=0.6, size=(len(KEEP), 4)), Y[KEEP]
NAMES = np.array(["a", "b", "c"])
MODELS = {
    "logistic": IMMAXClassifier(lam=1e-2),
    "exponential": IMMAXClassifier("exponential", lam=1e-2),
    "hinge": IMMAXClassifier("hinge", lam=1e-2),
    "weights": IMMAXClassifier(lam=1e-2, weights="balanced", rule="bayes"),
    "costs": IMMAXClassifier(lam=1e-2, rule="bayes", costs=[1, 2, 5]),
    "focal": BaselineClassifier("focal", lam=1e-2),
    "ldam": BaselineClassifier("ldam", lam=1e-2),
    "search": IMMAXClassifierCV(cv=3, n_margins=3, random_state=0),
    "aim": IMMAXClassifierCV(cv=3, aim="balanced_accuracy", random_state=0),
    "machine": IMMAXSVC(gamma=0.2),
    "machines": IMMAXSVCCV(cv=3, aim="f1_macro", Cs=[1.0], n_margins=2, random_state=0),
    "sklearn": LogisticRegression(),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("classes", [2, 3])
def test_models(name, classes):
    rows = classes > Y
    model = MODELS[name]
    if name == "costs" and classes == 2:
        model = IMMAXClassifier(lam=1e-2, rule="bayes", costs=[1, 5])
    if name == "machines" and classes == 2:
        model = IMMAXSVCCV(cv=3, aim="f1", Cs=[1.0], n_margins=2, random_state=0)
    pipeline = make_pipeline(StandardScaler(), model).fit(X[rows], NAMES[Y[rows]])
    found = assert_same(pipeline, to_onnx(pipeline), X[rows])
    assert ("scores" in found) == (name in ("hinge", "machine"))


def test_decisions_of_any_probabilities():
    model = DecisionClassifierCV(
        make_pipeline(StandardScaler(), LogisticRegression()), aim=Costs([1, 1, 10])
    )
    model.fit(X, Y)
    assert_same(model, to_onnx(model), X)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(
    "search",
    [
        IMMAXClassifierCV("hinge", cv=3, n_margins=2, random_state=0),
        IMMAXSVCCV(cv=3, Cs=[1.0], n_margins=2, random_state=0),
    ],
)
def test_searches_without_probabilities_have_scores(search, classes):
    rows = classes > Y
    model = search.fit(X[rows], Y[rows])
    assert not hasattr(model, "predict_proba")
    found = assert_same(model, to_onnx(model), X[rows])
    assert list(found) == ["label", "scores"]
    expected = model.decision_function(X[rows]).reshape(rows.sum(), -1)
    np.testing.assert_allclose(found["scores"], expected, atol=1e-5)


def test_a_search_without_a_final_fit_is_refused():
    model = IMMAXClassifierCV(cv=3, n_margins=2, refit=False, random_state=0).fit(X, Y)
    with pytest.raises(AttributeError, match="refit=False"):
        to_onnx(model)


def test_a_file(tmp_path):
    model = IMMAXClassifier().fit(X, Y)
    save_onnx(model, tmp_path / "folder" / "model.onnx")
    import onnx

    loaded = onnx.load(tmp_path / "folder" / "model.onnx")
    assert run(loaded, {"X": X})["label"].tolist() == model.predict(X).tolist()
    assert any(one.key == "immax" for one in loaded.metadata_props)


def test_other_models_are_named():
    with pytest.raises(TypeError, match="GaussianNB cannot be exported to ONNX"):
        to_onnx(GaussianNB().fit(X, Y))
    calibrated = IMMAXSVC(calibrated=True, random_state=0).fit(X, Y)
    with pytest.raises(NotImplementedError, match="calibrated=True"):
        to_onnx(calibrated)


def test_classes_against_the_rest_are_refused():
    model = LogisticRegression().fit(X, Y)
    model.solver = "liblinear"  # which later versions of scikit-learn no longer fit
    with pytest.raises(NotImplementedError, match="with a softmax; got solver='liblinear'"):
        to_onnx(model)
