"""The scores and the norm of a fitted model, and the norms of the data."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted, validate_data

from immax.arrays import Array, Features
from immax.kernels.gram import Kernel
from immax.linear_base import LinearClassifier
from immax.penalties import GroupNorm
from immax.penalties.registry import group_numbers
from immax.theory.decision_shifts import decision_shift
from immax.theory.rademacher import row_norms

__all__ = ["Chosen", "Hypothesis", "hypothesis", "inner_name", "unwrap_search"]


class Hypothesis(NamedTuple):
    """Scores ``w · phi(x)`` of a sample. A bias is the weight of a further feature that is one.

    The highest score is the class that the model predicts.
    """

    scores: Array  # (m,) or (m, c)
    norm: float  # of w
    squares: Array  # (m,), of the squared norms of phi(x), in the dual norm
    n_blocks: int | None = None  # of a norm that sums over blocks of weights; None if Euclidean


class Chosen(NamedTuple):
    """A classifier, and the rule that takes the place of its own."""

    model: Any
    rule: Any = None  # a Rule
    calibration: Any = None  # from scores to the probabilities that the rule takes


def unwrap_search(model: Any) -> Chosen:
    """Return the classifier that a model predicts by, and its rule if that is not its own.

    Parameters
    ----------
    model : fitted classifier
        A search has ``best_estimator_``, and a classifier with a rule of its own has
        ``rule_`` and ``estimator_`` or ``model``; other models are returned as they are.

    Returns
    -------
    Chosen
    """
    chosen = Chosen(model)
    while name := inner_name(chosen.model):
        outer = chosen.model
        chosen = chosen._replace(model=getattr(outer, name))
        rule = getattr(outer, "best_rule_", getattr(outer, "rule_", None))
        if chosen.rule is None and hasattr(rule, "gains"):
            calibration = getattr(outer, "best_calibration_", None)
            chosen = Chosen(chosen.model, rule, calibration)
    return chosen


def inner_name(model: Any) -> str | None:
    """Return the attribute that holds the classifier of a search, or of a model with a rule.

    Parameters
    ----------
    model : fitted classifier

    Returns
    -------
    str or None
        None if the model predicts by itself.
    """
    if hasattr(model, "best_estimator_"):
        return "best_estimator_"
    names = ("estimator_", "model") if hasattr(model, "rule_") else ()
    return next((name for name in names if hasattr(model, name)), None)


def hypothesis(model: Any, X: Features) -> Hypothesis:
    """Return the hypothesis of a linear classifier or of a kernel machine.

    Linear is what has ``coef_``; a kernel machine has ``dual_coef_`` and the parameters of
    scikit-learn's SVC. Of a search it is that of the classifier that was chosen.

    Parameters
    ----------
    model : fitted classifier
        A linear classifier or a kernel machine, or a search for one.
    X : array-like or sparse matrix of shape (m, d)
        The sample.

    Returns
    -------
    Hypothesis
    """
    check_is_fitted(model)
    if not hasattr(model, "classes_"):
        raise TypeError(f"a fitted classifier is needed; got {type(model).__name__}")
    chosen = unwrap_search(model)
    model = chosen.model
    if hasattr(model, "dual_coef_") and hasattr(model, "kernel"):
        fitted = _kernel(chosen, X)
    elif hasattr(model, "coef_"):
        fitted = _linear(chosen, X)
    else:
        raise TypeError(
            f"a linear classifier or a kernel machine is needed; got {type(model).__name__}. For "
            "other models use immax.theory.margin_bound with a complexity of your own"
        )
    if fitted.norm == 0:
        raise ValueError("all weights and biases are zero: such a model has no margins")
    return fitted


def _linear(chosen: Chosen, X: Features) -> Hypothesis:
    model = chosen.model
    if isinstance(model, LinearClassifier):
        X = model.features(X, np.float64)
    else:
        X = validate_data(model, X, reset=False, accept_sparse="csr", dtype=np.float64)
    coef = model.coef_.toarray() if sparse.issparse(model.coef_) else model.coef_
    W = np.atleast_2d(np.asarray(coef, dtype=np.float64))
    b = np.broadcast_to(np.asarray(model.intercept_, dtype=np.float64), (W.shape[0],))
    scores = np.asarray(X @ W.T) + b
    scores = scores[:, 0] if W.shape[0] == 1 else scores
    shift = decision_shift(model, scores, chosen.rule, chosen.calibration)
    if isinstance(model, LinearClassifier) and model.penalty_has_kinks:
        return _in_blocks(model, scores + shift, W, b + shift, X)
    norm = float(np.sqrt(np.sum(W**2) + np.sum((b + shift) ** 2)))
    return Hypothesis(scores + shift, norm, row_norms(X) ** 2 + 1)


def _in_blocks(
    model: LinearClassifier[Any], scores: Array, W: Array, b: Array, X: Features
) -> Hypothesis:
    """Return the hypothesis in the l1 norm, or in the norm of groups of features.

    The biases are a further group, or further coefficients, of a feature that is one.
    """
    labels = np.arange(X.shape[1])
    if model.penalty != "group":
        norm = float(np.abs(W).sum() + np.abs(b).sum())
        return Hypothesis(scores, norm, _dual_squares(X, labels), W.size + b.size)
    if model.groups is not None:
        names = getattr(model, "feature_names_in_", None)
        labels = np.asarray(group_numbers(model.groups, X.shape[1], names))
    norm = GroupNorm(labels).value(W) + float(np.linalg.norm(b))
    return Hypothesis(scores, norm, _dual_squares(X, labels), int(labels.max()) + 2)


def _dual_squares(X: Features, labels: Array) -> Array:
    """Return the largest ``||x_g||_2^2 / (columns in g)`` of every row, at least the one's."""
    sizes = np.bincount(labels)
    member = sparse.csr_array(
        (1 / sizes[labels], (np.arange(labels.size), labels)), shape=(labels.size, sizes.size)
    )
    shares = (X.multiply(X) if sparse.issparse(X) else X**2) @ member
    largest = shares.max(axis=1)
    largest = largest.toarray() if sparse.issparse(largest) else np.asarray(largest)
    return np.maximum(np.asarray(largest, dtype=np.float64).ravel(), 1)


def _kernel(chosen: Chosen, X: Features) -> Hypothesis:
    model = chosen.model
    dual = model.dual_coef_.toarray() if sparse.issparse(model.dual_coef_) else model.dual_coef_
    dual = np.asarray(dual, dtype=np.float64)
    if len(model.classes_) > 2 and getattr(model, "multiclass", "ovo") != "max":
        raise ValueError(
            "kernel machines with three classes or more vote among pairs, which no bound of the "
            "paper is for; use the machine of a pair, or IMMAXSVC(multiclass='max')"
        )
    scores = np.asarray(model.decision_function(X), dtype=np.float64)
    if model.kernel == "precomputed":
        K = np.asarray(X, dtype=np.float64)
        if K.ndim != 2 or K.shape[0] != K.shape[1]:
            raise ValueError(
                "a precomputed kernel's certificate needs the square kernel matrix of the "
                f"training data; got shape {K.shape}"
            )
        diagonal, products = np.diag(K), K[np.ix_(model.support_, model.support_)] @ dual.T
    else:
        rows = X if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
        # With a callable kernel scikit-learn keeps no vectors; X is the training data.
        vectors = rows[model.support_] if callable(model.kernel) else model.support_vectors_
        gamma = model.gamma_ if hasattr(model, "gamma_") else model._gamma  # of scikit-learn's SVC
        given = {"gamma": gamma, "degree": model.degree, "coef0": model.coef0}
        diagonal = Kernel(model.kernel, rows, **given).diagonal()
        products = Kernel(model.kernel, vectors, **given).combine(vectors, dual)
    square = max(float(np.sum(dual * products.T)), 0.0)
    if (diagonal < 0).any():
        raise ValueError("the kernel is not positive definite: it has no norms")
    shift = decision_shift(model, scores, chosen.rule, chosen.calibration)
    norm = float(np.sqrt(square + np.sum((np.asarray(model.intercept_) + shift) ** 2)))
    return Hypothesis(scores + shift, norm, diagonal + 1)
