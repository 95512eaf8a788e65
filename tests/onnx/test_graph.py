"""Graphs node by node."""

import subprocess
import sys

import numpy as np
from onnx_models import evaluate, run

from immax.onnx.graph import Graph, Output


def test_nodes_constants_slices_and_casts():
    values = np.arange(6.0).reshape(2, 3)

    def build(graph, X):
        middle = graph.slice(X, 1, 1, 3)
        single = graph.cast(graph.cast(middle, "float"), "double")
        return graph.add("Add", single, graph.constant([10.0, 20.0]))

    np.testing.assert_allclose(evaluate(values, build), values[:, 1:] + [10, 20])


def test_inputs_of_strings_and_notes():
    graph = Graph()
    name = graph.input("city", 1, text=True)
    model = graph.model({"same": Output(name, "string", 1)}, {"immax": "1"})
    assert {one.key: one.value for one in model.metadata_props} == {"immax": "1"}
    cities = np.array([["Aix"], ["Bonn"]], dtype=object)
    assert run(model, {"city": cities})["same"].tolist() == cities.tolist()


def test_a_missing_library_is_named():
    script = (
        "import sys; sys.modules['onnx'] = None\n"
        "import immax.onnx, immax\n"
        "from sklearn.datasets import load_iris\n"
        "model = immax.IMMAXClassifier().fit(*load_iris(return_X_y=True))\n"
        "try:\n    immax.onnx.to_onnx(model)\nexcept ImportError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert 'pip install "immax[onnx]"' in done.stdout, done.stderr
