"""Boosted trees of XGBoost as ONNX nodes."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from immax.onnx.graph import Graph
from immax.onnx.trees import TreeRows

__all__ = ["add_xgboost_scores"]


def add_xgboost_scores(graph: Graph, X: str, model: Any) -> str:
    """Add the scores of a fitted ``IMMAXXGBClassifier``.

    XGBoost compares in single precision, and so do these nodes.

    Parameters
    ----------
    graph : Graph
    X : str
        Of shape (n, d); NaN is missing.
    model : IMMAXXGBClassifier

    Returns
    -------
    str
        The name of the scores: of shape (n, 1) for two classes, else (n, c).

    Raises
    ------
    NotImplementedError
        For splits of categories, and for boosters other than gbtree.
    """
    booster = model.get_booster()
    if model.early_stopping_rounds:
        booster = booster[: model.best_iteration + 1]
    saved = json.loads(booster.save_raw("json"))["learner"]
    if saved["gradient_booster"]["name"] != "gbtree":
        raise NotImplementedError("boosters other than gbtree cannot be exported to ONNX")
    trees = saved["gradient_booster"]["model"]
    n_scores = 1 if len(model.classes_) == 2 else len(model.classes_)
    rows = TreeRows("BRANCH_LT")
    for number, (tree, output) in enumerate(zip(trees["trees"], trees["tree_info"], strict=True)):
        if any(tree["split_type"]):
            raise NotImplementedError("splits of categories cannot be exported to ONNX")
        for node, left in enumerate(tree["left_children"]):
            value = tree["split_conditions"][node]
            if left == -1:
                rows.add_leaf(number, node, output, value)
                continue
            children = (left, tree["right_children"][node])
            feature, missing = tree["split_indices"][node], bool(tree["default_left"][node])
            rows.add_branch(number, node, feature, value, children, missing)
    base = json.loads(saved["learner_model_param"]["base_score"])
    start = np.broadcast_to(np.atleast_1d(np.asarray(base, np.float64)), n_scores)
    return graph.add("Add", rows.add_scores(graph, X, n_scores, True), graph.constant(start))
