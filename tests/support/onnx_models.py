"""ONNX graphs run by onnxruntime beside the models that they were made from."""

import numpy as np
import pytest

from immax.onnx.graph import Graph, Output


def run(graph, inputs):
    """Return the outputs of an ONNX model by name."""
    runtime = pytest.importorskip("onnxruntime", reason="needs onnxruntime")
    session = runtime.InferenceSession(graph.SerializeToString())
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, inputs), strict=True))


def evaluate(values, build):
    """Return what ``build(graph, tensor)`` computes: a tensor of doubles, or an Output."""
    pytest.importorskip("onnx", reason="needs the extra onnx")
    graph = Graph()
    result = build(graph, graph.input("X", values.shape[1]))
    output = result if isinstance(result, Output) else Output(result, "double", "c")
    return run(graph.model({"result": output}, {}), {"X": np.asarray(values, float)})["result"]


def assert_same(model, graph, X, inputs=None):
    """Assert that a graph has the labels and the probabilities of a model."""
    found = run(graph, {"X": np.asarray(X, float)} if inputs is None else inputs)
    np.testing.assert_array_equal(found["label"], model.predict(X))
    if "probabilities" in found:
        np.testing.assert_allclose(found["probabilities"], model.predict_proba(X), atol=1e-5)
    return found
