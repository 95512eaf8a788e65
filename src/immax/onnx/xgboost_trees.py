"""Boosted trees of XGBoost as ONNX nodes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from immax.arrays import Array
from immax.onnx.graph import Graph
from immax.onnx.trees import TreeRows

__all__ = ["add_xgboost_scores"]


def add_xgboost_scores(graph: Graph, X: str, model: Any) -> str:
    """Add the scores of a fitted ``IMMAXXGBClassifier`` or ``XGBClassifier``.

    XGBoost compares in single precision, and so do these nodes. The trees are those that
    ``predict`` uses: up to the best iteration, if training was stopped early.

    Parameters
    ----------
    graph : Graph
    X : str
        Of shape (n, d); NaN is missing, and so is the model's ``missing``.
    model : IMMAXXGBClassifier or XGBClassifier

    Returns
    -------
    str
        The name of the scores: of shape (n, 1) for two classes, else (n, c).

    Raises
    ------
    NotImplementedError
        For splits of categories, trees of several scores, boosters without trees, and objectives
        whose scores are not log-odds or those of a softmax.
    """
    booster = model.get_booster()
    best = booster.attr("best_iteration")
    if best is not None:
        booster = booster[: int(best) + 1]
    saved = json.loads(booster.save_raw("json"))["learner"]
    trees, weights = _weighted_trees(saved["gradient_booster"])
    n_scores = 1 if len(model.classes_) == 2 else len(model.classes_)
    rows = TreeRows("BRANCH_LT")
    for number, (tree, output) in enumerate(zip(trees["trees"], trees["tree_info"], strict=True)):
        _add_tree(rows, number, tree, output, 1.0 if weights is None else weights[number])
    own = hasattr(model, "loss_")  # whose boosters leave scores as they are
    start = np.broadcast_to(_base_scores(saved, n_scores, own), n_scores)
    features = _without_missing(graph, X, model.missing)
    return graph.add("Add", rows.add_scores(graph, features, n_scores, True), graph.constant(start))


def _base_scores(saved: Mapping[str, Any], n_scores: int, own: bool) -> Array:
    """Return the scores that boosting began with, which are probabilities in some files."""
    objective, params = saved["objective"]["name"], saved["learner_model_param"]
    base = np.atleast_1d(np.asarray(json.loads(params["base_score"]), np.float64))
    if own:
        return base
    expected = "binary:logistic" if n_scores == 1 else "multi:softprob"
    if objective != expected or int(params["num_target"]) > 1:
        raise NotImplementedError(
            f"XGBClassifier can be exported to ONNX with objective={expected!r} and one target; "
            f"got {objective!r} and {params['num_target']}"
        )
    return np.log(base / (1 - base)) if n_scores == 1 else base


def _weighted_trees(saved: Mapping[str, Any]) -> tuple[Mapping[str, Any], list[float] | None]:
    """Return the trees of a booster, and their weights if they have any."""
    if saved["name"] == "dart":
        return saved["gbtree"]["model"], saved["weight_drop"]
    if saved["name"] != "gbtree":
        raise NotImplementedError(
            f"booster={saved['name']!r} cannot be exported to ONNX; 'gbtree' and 'dart' can"
        )
    return saved["model"], None


def _add_tree(
    rows: TreeRows, number: int, tree: Mapping[str, Any], output: int, weight: float
) -> None:
    if int(tree["tree_param"]["size_leaf_vector"]) > 1:
        raise NotImplementedError(
            "multi_strategy='multi_output_tree' cannot be exported to ONNX; "
            "'one_output_per_tree' can"
        )
    if any(tree["split_type"]):
        raise NotImplementedError("splits of categories cannot be exported to ONNX")
    for node, left in enumerate(tree["left_children"]):
        value = tree["split_conditions"][node]
        if left == -1:
            rows.add_leaf(number, node, output, weight * value)
            continue
        children = (left, tree["right_children"][node])
        feature, missing = tree["split_indices"][node], bool(tree["default_left"][node])
        rows.add_branch(number, node, feature, value, children, missing)


def _without_missing(graph: Graph, X: str, missing: float) -> str:
    """Add NaN in place of the number that stands for missing values, in single precision."""
    if np.isnan(missing):
        return X
    single = graph.cast(X, "float")
    is_missing = graph.add("Equal", single, graph.constant(missing, np.float32))
    return graph.add("Where", is_missing, graph.constant(np.nan, np.float32), single)
