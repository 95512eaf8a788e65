"""Boosted trees of XGBoost as ONNX nodes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from immax.onnx.graph import ML, Graph

__all__ = ["add_tree_scores"]


def add_tree_scores(graph: Graph, X: str, model: Any) -> str:
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
        For categorical splits, linear boosters and random dropping of trees.
    """
    booster = model.get_booster()
    rounds = getattr(model, "best_iteration", None) if model.early_stopping_rounds else None
    if rounds is not None:
        booster = booster[: rounds + 1]
    saved = json.loads(booster.save_raw("json"))["learner"]
    if saved["gradient_booster"]["name"] != "gbtree":
        raise NotImplementedError("boosters other than gbtree cannot be exported to ONNX")
    trees = saved["gradient_booster"]["model"]["trees"]
    outputs = saved["gradient_booster"]["model"]["tree_info"]
    n_scores = 1 if len(model.classes_) == 2 else len(model.classes_)
    base = np.broadcast_to(
        np.atleast_1d(json.loads(saved["learner_model_param"]["base_score"])), n_scores
    )
    nodes: dict[str, list[Any]] = {name: [] for name in NODE_COLUMNS}
    leaves: dict[str, list[Any]] = {name: [] for name in LEAF_COLUMNS}
    for number, (tree, output) in enumerate(zip(trees, outputs, strict=True)):
        _append_tree(nodes, leaves, tree, number, output)
    scores = graph.add(
        "TreeEnsembleRegressor",
        graph.cast(X, "float"),
        domain=ML,
        n_targets=n_scores,
        post_transform="NONE",
        aggregate_function="SUM",
        **{f"nodes_{name}": values for name, values in nodes.items()},
        **{f"target_{name}": values for name, values in leaves.items()},
    )
    return graph.add("Add", graph.cast(scores, "double"), graph.constant(base.astype(np.float64)))


NODE_COLUMNS = (
    "treeids",
    "nodeids",
    "featureids",
    "modes",
    "values",
    "truenodeids",
    "falsenodeids",
    "missing_value_tracks_true",
)
LEAF_COLUMNS = ("treeids", "nodeids", "ids", "weights")


def _append_tree(
    nodes: dict[str, list[Any]],
    leaves: dict[str, list[Any]],
    tree: Mapping[str, Any],
    number: int,
    output: int,
) -> None:
    """Append the nodes of a tree: branches go left where the feature is below the threshold."""
    if any(tree["split_type"]):
        raise NotImplementedError("splits of categories cannot be exported to ONNX")
    for node, left in enumerate(tree["left_children"]):
        is_leaf = left == -1
        row = (
            number,
            node,
            0 if is_leaf else tree["split_indices"][node],
            "LEAF" if is_leaf else "BRANCH_LT",
            0.0 if is_leaf else tree["split_conditions"][node],
            0 if is_leaf else left,
            0 if is_leaf else tree["right_children"][node],
            0 if is_leaf else int(tree["default_left"][node]),
        )
        for name, value in zip(NODE_COLUMNS, row, strict=True):
            nodes[name].append(value)
        if is_leaf:
            weight = tree["split_conditions"][node]
            for name, value in zip(LEAF_COLUMNS, (number, node, output, weight), strict=True):
                leaves[name].append(value)
