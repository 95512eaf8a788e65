"""A fitted model as the theory sees it: scores, a norm, and the norms of the data."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils.validation import check_is_fitted, validate_data

from immax.theory.rademacher import row_norms

__all__ = ["Hypothesis", "hypothesis"]

Array = NDArray[Any]


class Hypothesis(NamedTuple):
    """Scores ``w . phi(x)`` of a sample. A bias is the weight of a further feature that is one."""

    scores: Array  # (m,) or (m, c)
    norm: float  # of w
    squares: Array  # (m,), of the squared norms of phi(x)


def hypothesis(model: Any, X: Any) -> Hypothesis:
    """Of a linear classifier, or of a kernel machine for two classes.

    Linear is what has ``coef_``; a kernel machine has ``dual_coef_`` and the parameters of
    scikit-learn's SVC.
    """
    check_is_fitted(model)
    if not hasattr(model, "classes_"):
        raise TypeError(f"a fitted classifier is needed; got {type(model).__name__}")
    if hasattr(model, "dual_coef_") and hasattr(model, "kernel"):
        found = _kernel(model, X)
    elif hasattr(model, "coef_"):
        found = _linear(model, X)
    else:
        raise TypeError(
            f"a linear classifier or a kernel machine is needed; got {type(model).__name__}. For "
            "other models use margin_bound with a complexity of your own"
        )
    if found.norm == 0:
        raise ValueError("all weights and biases are zero: such a model has no margins")
    return found


def _linear(model: Any, X: Any) -> Hypothesis:
    X = validate_data(model, X, reset=False, accept_sparse="csr", dtype=np.float64)
    coef = model.coef_.toarray() if sparse.issparse(model.coef_) else model.coef_
    W = np.atleast_2d(np.asarray(coef, dtype=np.float64))
    b = np.broadcast_to(np.asarray(model.intercept_, dtype=np.float64), (W.shape[0],))
    scores = np.asarray(X @ W.T) + b
    norm = float(np.sqrt(np.sum(W**2) + np.sum(b**2)))
    scores = scores[:, 0] if W.shape[0] == 1 else scores
    return Hypothesis(scores, norm, row_norms(X) ** 2 + 1)


def _kernel(model: Any, X: Any) -> Hypothesis:
    dual = model.dual_coef_.toarray() if sparse.issparse(model.dual_coef_) else model.dual_coef_
    dual = np.asarray(dual, dtype=np.float64)
    if dual.shape[0] != 1 or len(model.classes_) != 2:
        raise ValueError(
            "kernel machines with three classes or more vote among pairs, which no bound of the "
            "paper is for; take the machine of a pair"
        )
    scores = np.asarray(model.decision_function(X), dtype=np.float64)
    bias = float(np.ravel(model.intercept_)[0])
    if model.kernel == "precomputed":
        K = np.asarray(X, dtype=np.float64)
        if K.ndim != 2 or K.shape[0] != K.shape[1]:
            raise ValueError(
                "a precomputed kernel's certificate needs the square kernel matrix of the "
                f"training data; got shape {K.shape}"
            )
        diagonal, among = np.diag(K), K[np.ix_(model.support_, model.support_)]
    else:
        options: dict[str, Any] = {"metric": model.kernel}
        if not callable(model.kernel):
            gamma = getattr(model, "_gamma", model.gamma)
            given = {"gamma": gamma, "degree": model.degree, "coef0": model.coef0}
            options |= {"filter_params": True, **given}
        rows = X if sparse.issparse(X) else np.asarray(X)
        # With a callable kernel scikit-learn keeps no vectors; X is the training data.
        vectors = rows[model.support_] if callable(model.kernel) else model.support_vectors_
        among = np.asarray(pairwise_kernels(vectors, **options), dtype=np.float64)
        diagonal = _diagonal(rows, options)
    norm = float(np.sqrt(max(float(dual[0] @ among @ dual[0]), 0.0) + bias**2))
    if (diagonal < 0).any():
        raise ValueError("the kernel is not positive definite: it has no norms")
    return Hypothesis(scores, norm, diagonal + 1)


def _diagonal(X: Any, options: dict[str, Any]) -> Array:
    """``K(x, x)`` of every row."""
    if options["metric"] == "rbf":
        return np.ones(X.shape[0])
    if options["metric"] == "linear":
        return row_norms(X) ** 2
    if options["metric"] == "poly":
        return (options["gamma"] * row_norms(X) ** 2 + options["coef0"]) ** options["degree"]
    rows = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
    return np.array([pairwise_kernels(row[None], **options)[0, 0] for row in rows])
