"""Scores of linear models and kernel machines as ONNX nodes."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from immax.arrays import Array
from immax.onnx.graph import Graph

__all__ = ["add_kernel_scores", "add_linear_scores"]


def add_linear_scores(graph: Graph, X: str, coef: Array, intercept: Array) -> str:
    """Add ``X coef' + intercept``.

    Parameters
    ----------
    graph : Graph
    X : str
        Of shape (n, d).
    coef : ndarray of shape (k, d)
    intercept : ndarray of shape (k,)

    Returns
    -------
    str
        The name of the scores, of shape (n, k).
    """
    products = graph.add("MatMul", X, graph.constant(np.atleast_2d(coef).T))
    return graph.add("Add", products, graph.constant(np.ravel(intercept)))


def add_kernel_scores(graph: Graph, X: str, machine: Any) -> str:
    """Add the scores of a kernel machine.

    Parameters
    ----------
    graph : Graph
    X : str
        Of shape (n, d).
    machine : IMMAXSVC
        Fitted.

    Returns
    -------
    str
        The name of the scores: of shape (n, 1) for two classes, else (n, c).

    Raises
    ------
    NotImplementedError
        For a callable or precomputed kernel, and for pairwise machines of many classes.
    """
    if callable(machine.kernel) or machine.kernel == "precomputed":
        raise NotImplementedError(
            "a kernel machine can be exported to ONNX with kernel='linear', 'poly', 'rbf' or "
            f"'sigmoid'; got {machine.kernel!r}"
        )
    if machine.multiclass == "ovo" and len(machine.classes_) > 2:
        raise NotImplementedError(
            "the votes of pairs cannot be exported to ONNX; use multiclass='max'"
        )
    vectors = machine.support_vectors_
    points = np.asarray(vectors.toarray() if sparse.issparse(vectors) else vectors, np.float64)
    values = _kernel_values(graph, X, points, machine)
    return add_linear_scores(graph, values, machine.dual_coef_, machine.intercept_)


def _kernel_values(graph: Graph, X: str, points: Array, machine: Any) -> str:
    if machine.kernel == "rbf":
        centre = points.mean(axis=0) if len(points) else np.zeros(points.shape[1])
        X, points = graph.add("Sub", X, graph.constant(centre)), points - centre
    products = graph.add("MatMul", X, graph.constant(points.T))
    if machine.kernel == "linear":
        return products
    gamma = graph.constant(machine.gamma_)
    if machine.kernel == "rbf":
        squares = graph.add("ReduceSum", graph.add("Mul", X, X), graph.integers([1]))
        twice = graph.add("Mul", products, graph.constant(-2.0))
        apart = graph.add(
            "Add", graph.add("Add", twice, squares), graph.constant((points**2).sum(1))
        )
        apart = graph.add("Max", apart, graph.constant(0.0))
        return graph.add("Exp", graph.add("Neg", graph.add("Mul", apart, gamma)))
    inner = graph.add("Add", graph.add("Mul", products, gamma), graph.constant(machine.coef0))
    if machine.kernel == "sigmoid":
        return graph.add("Tanh", inner)
    return graph.add("Pow", inner, graph.constant(float(machine.degree)))
