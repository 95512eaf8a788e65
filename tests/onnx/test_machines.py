"""Linear scores and kernel machines in ONNX."""

import numpy as np
import pytest
from onnx_models import evaluate
from scipy import sparse
from sklearn.datasets import load_iris

from immax import IMMAXSVC
from immax.onnx.machines import add_kernel_scores, add_linear_scores

X, Y = load_iris(return_X_y=True)


def test_linear_scores():
    coef, intercept = np.arange(8.0).reshape(2, 4), np.array([1.0, -1.0])
    found = evaluate(X, lambda graph, h: add_linear_scores(graph, h, coef, intercept))
    np.testing.assert_allclose(found, X @ coef.T + intercept)


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "sigmoid"])
@pytest.mark.parametrize("classes", [2, 3])
def test_kernel_scores(kernel, classes):
    rows = classes > Y
    model = IMMAXSVC(kernel, gamma=0.1, coef0=1.0).fit(X[rows], Y[rows])
    found = evaluate(X, lambda graph, h: add_kernel_scores(graph, h, model))
    expected = model.decision_function(X)
    np.testing.assert_allclose(found, expected.reshape(len(X), -1), atol=1e-6)


def test_sparse_support_vectors():
    model = IMMAXSVC().fit(sparse.csr_matrix(X), Y)
    found = evaluate(X, lambda graph, h: add_kernel_scores(graph, h, model))
    np.testing.assert_allclose(found, model.decision_function(X), atol=1e-6)


def test_what_cannot_be_exported_is_named():
    pairs = IMMAXSVC(multiclass="ovo").fit(X, Y)
    own = IMMAXSVC(lambda a, b: a @ b.T).fit(X, Y)
    for model, message in ((pairs, "multiclass='max'"), (own, "kernel='linear'")):
        with pytest.raises(NotImplementedError, match=message):
            evaluate(X, lambda graph, h, model=model: add_kernel_scores(graph, h, model))
