"""Ensembles of trees in ONNX against the same trees by hand."""

import numpy as np
import pytest
from onnx_models import evaluate

from immax.onnx.trees import TreeRows

X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, np.nan], [np.nan, 5.0]])


@pytest.mark.parametrize(("mode", "at_threshold"), [("BRANCH_LT", 20.0), ("BRANCH_LEQ", 10.0)])
@pytest.mark.parametrize("single", [False, True])
def test_two_trees_of_two_scores(mode, at_threshold, single):
    rows = TreeRows(mode)
    rows.add_branch(0, 0, 0, 1.0, (1, 2), missing_is_true=True)
    rows.add_leaf(0, 1, 0, 10.0)
    rows.add_leaf(0, 2, 0, 20.0)
    rows.add_branch(1, 0, 1, 0.5, (1, 2), missing_is_true=False)
    rows.add_leaf(1, 1, 1, -1.0)
    rows.add_leaf(1, 2, 1, 1.0)
    found = evaluate(X, lambda graph, h: rows.add_scores(graph, h, 2, single))
    np.testing.assert_allclose(found, [[10, 1], [at_threshold, -1], [20, 1], [10, 1]])
