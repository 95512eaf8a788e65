"""Decision rules as ONNX nodes."""

from __future__ import annotations

import numpy as np

from immax.arrays import Array
from immax.decisions import Rule
from immax.onnx.graph import Graph, Output
from immax.plain_rules import check_costs

__all__ = ["add_labels", "add_rule", "by_cost", "by_highest", "by_sign", "by_threshold"]


def by_highest(graph: Graph, values: str) -> str:
    """Add the index of each row's largest entry, the highest one on a tie.

    Parameters
    ----------
    graph : Graph
    values : str
        Of shape (n, c).

    Returns
    -------
    str
        The name of the indices, of shape (n,).
    """
    return graph.add("ArgMax", values, axis=1, keepdims=0, select_last_index=1)


def by_sign(graph: Graph, score: str) -> str:
    """Add 1 where the score of class 1 is not negative, else 0.

    Parameters
    ----------
    graph : Graph
    score : str
        Of shape (n, 1).

    Returns
    -------
    str
        The name of the indices, of shape (n,).
    """
    positive = graph.add("GreaterOrEqual", score, graph.constant(0.0))
    return graph.add("Squeeze", graph.cast(positive, "int64"), graph.integers([1]))


def by_threshold(graph: Graph, values: str, threshold: float, positive: int) -> str:
    """Add the positive class where its value is at least the threshold, else the other of two.

    Parameters
    ----------
    graph : Graph
    values : str
        Probabilities or scores of the positive class, of shape (n, 1).
    threshold : float
    positive : {0, 1}

    Returns
    -------
    str
        The name of the indices, of shape (n,).
    """
    reached = graph.add("GreaterOrEqual", values, graph.constant(threshold))
    own, other = graph.integers(positive), graph.integers(1 - positive)
    chosen = graph.add("Where", reached, own, other)
    return graph.add("Squeeze", chosen, graph.integers([1]))


def by_cost(graph: Graph, proba: str, costs: Array | None, n_classes: int) -> str:
    """Add the most probable class or, with costs, that of least expected cost.

    Parameters
    ----------
    graph : Graph
    proba : str
        Of shape (n, c).
    costs : array-like of shape (c,) or (c, c), or None
    n_classes : int

    Returns
    -------
    str
        The name of the indices, of shape (n,).
    """
    if costs is None:
        return by_highest(graph, proba)
    gains = graph.constant(-check_costs(costs, n_classes))
    return by_highest(graph, graph.add("MatMul", proba, gains))


def add_rule(graph: Graph, proba: str, rule: Rule) -> str:
    """Add the decisions of a rule.

    Parameters
    ----------
    graph : Graph
    proba : str
        Of shape (n, c).
    rule : Rule

    Returns
    -------
    str
        The name of the indices, of shape (n,).

    Raises
    ------
    NotImplementedError
        If the rule counts rows or abstains.
    """
    if rule.count is not None:
        raise NotImplementedError(
            "a rule that predicts a class for a number of rows depends on the other rows, and "
            "cannot be exported to ONNX; export the probabilities, or an aim with a threshold"
        )
    if rule.abstains:
        raise NotImplementedError("a rule that abstains cannot be exported to ONNX")
    return by_highest(graph, graph.add("MatMul", proba, graph.constant(rule.gains)))


def add_labels(graph: Graph, indices: str, classes: Array) -> Output:
    """Add the labels of class indices.

    Parameters
    ----------
    graph : Graph
    indices : str
        Of shape (n,).
    classes : ndarray of shape (c,)

    Returns
    -------
    Output
    """
    if classes.dtype.kind in "iub":
        return Output(graph.add("Gather", graph.constant(classes, np.int64), indices), "int64")
    if classes.dtype.kind == "f":
        return Output(graph.add("Gather", graph.constant(classes), indices), "double")
    text = np.array([str(label) for label in classes], dtype=object)
    return Output(graph.add("Gather", graph.constant(text, object), indices), "string")
