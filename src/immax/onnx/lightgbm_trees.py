"""Boosted trees of LightGBM as ONNX nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from immax.onnx.graph import Graph
from immax.onnx.trees import TreeRows

__all__ = ["add_lightgbm_scores"]


def add_lightgbm_scores(graph: Graph, X: str, model: Any) -> str:
    """Add the scores of a fitted ``IMMAXLGBMClassifier``.

    Parameters
    ----------
    graph : Graph
    X : str
        Of shape (n, d); NaN is missing.
    model : IMMAXLGBMClassifier

    Returns
    -------
    str
        The name of the scores: of shape (n, 1) for two classes, else (n, c).

    Raises
    ------
    NotImplementedError
        For splits of categories, linear functions in leaves, and where zero is missing.
    """
    best = model.booster_.best_iteration
    dumped = model.booster_.dump_model(num_iteration=best if best > 0 else None)
    n_scores = dumped["num_tree_per_iteration"]
    rows = TreeRows("BRANCH_LEQ")
    for number, tree in enumerate(dumped["tree_info"]):
        _add_node(rows, tree["tree_structure"], number, 0, number % n_scores)
    return rows.add_scores(graph, X, n_scores, False)


def _add_node(rows: TreeRows, node: Mapping[str, Any], tree: int, place: int, output: int) -> int:
    """Add a node and what is below it, and return the next free number."""
    if "left_child" not in node:
        if "leaf_const" in node:
            raise NotImplementedError("linear_tree=True cannot be exported to ONNX")
        rows.add_leaf(tree, place, output, node["leaf_value"])
        return place + 1
    if node["decision_type"] != "<=":
        raise NotImplementedError("splits of categories cannot be exported to ONNX")
    if node["missing_type"] == "Zero":
        raise NotImplementedError("zero_as_missing=True cannot be exported to ONNX")
    # Where no training sample lacked the feature, LightGBM takes NaN for zero.
    missing = node["default_left"] if node["missing_type"] == "NaN" else node["threshold"] >= 0
    right = _add_node(rows, node["left_child"], tree, place + 1, output)
    after = _add_node(rows, node["right_child"], tree, right, output)
    children = (place + 1, right)
    rows.add_branch(tree, place, node["split_feature"], node["threshold"], children, missing)
    return after
