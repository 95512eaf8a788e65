"""Objectives and metrics for direct calls of ``xgb.train`` and ``lgb.train``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from immax.arrays import Array
from immax.boosting.description import Description
from immax.boosting.eval_metrics import EVAL_METRICS, EvaluatedSample
from immax.boosting.loss import BoostingLoss
from immax.boosting.pairs import gradient_hessian, hessian_factor
from immax.losses.spec import LossSpec
from immax.validation import check_choice

__all__ = ["metric", "objective"]

LIBRARIES = ("xgboost", "lightgbm")


class _LabelledData(Protocol):
    """What ``xgb.DMatrix`` and ``lgb.Dataset`` have in common."""

    def get_label(self) -> ArrayLike: ...
    def get_weight(self) -> Array | None: ...


def objective(
    spec: LossSpec, library: str = "xgboost"
) -> Callable[[Array, _LabelledData], tuple[Array, Array]]:
    """Return a loss as an objective for a library's own ``train``.

    Labels are 0 … c-1. With two classes the one score h stands for scores (-h/2, h/2).

    Parameters
    ----------
    spec : LossSpec
        From ``immax.losses.catalog``, such as ``catalog.immax(counts)``; margins of mean one are
        on the scale of the library's own objectives.
    library : {"xgboost", "lightgbm"}, default="xgboost"
        The objective is ``obj`` of ``xgb.train``, or ``params["objective"]`` of ``lgb.train``.

    Returns
    -------
    callable
        ``objective(scores, data) -> (gradient, hessian)``.

    Examples
    --------
    >>> from immax.losses import catalog
    >>> f = objective(catalog.immax([900, 100]), "xgboost")
    """
    check_choice("library", library, LIBRARIES)
    c = spec.n_classes
    factor = hessian_factor(library, c)

    def evaluate(scores: Array, data: _LabelledData) -> tuple[Array, Array]:
        y, weight = _labels_and_weights(data)
        drop = spec.draw(len(y), 0)
        return gradient_hessian(spec, _as_matrix(scores, len(y), c), y, weight, drop, factor)

    return evaluate


def metric(
    spec: LossSpec, name: str = "log_loss", library: str = "xgboost"
) -> Callable[[Array, _LabelledData], tuple[str, float] | tuple[str, float, bool]]:
    """Return a metric for early stopping in a library's own ``train``.

    Parameters
    ----------
    spec : LossSpec
        The method that is boosted.
    name : str, default="log_loss"
        "log_loss" of the link's probabilities, "margin_loss", the mean of the loss itself, "error"
        of the labels by score, or another key of ``immax.boosting.eval_metrics.EVAL_METRICS``.
        XGBoost has to be told by ``maximize=True`` where higher is better.
    library : {"xgboost", "lightgbm"}, default="xgboost"
        The metric is ``custom_metric`` of ``xgb.train``, or ``feval`` of ``lgb.train``.

    Returns
    -------
    callable
        ``metric(scores, data) -> (name, value)``; for LightGBM also whether higher is better.
    """
    check_choice("name", name, tuple(EVAL_METRICS))
    check_choice("library", library, LIBRARIES)
    row = EVAL_METRICS[name]
    if row.two_classes and spec.n_classes > 2:
        raise ValueError(f"the metric {name!r} is for two classes; there are {spec.n_classes}")
    loss = BoostingLoss(spec, np.arange(spec.n_classes), np.zeros(1))

    def evaluate(scores: Array, data: _LabelledData) -> tuple[str, float] | tuple[str, float, bool]:
        y, weight = _labels_and_weights(data)
        matrix = _as_matrix(scores, len(y), spec.n_classes)
        value = row.compute(EvaluatedSample(Description(loss), matrix, y, weight))
        return (name, value) if library == "xgboost" else (name, value, row.higher_is_better)

    return evaluate


def _labels_and_weights(data: _LabelledData) -> tuple[Array, Array | None]:
    weight = data.get_weight()
    labels = np.asarray(data.get_label()).astype(np.intp)
    return labels, None if weight is None or not len(weight) else np.asarray(weight)


def _as_matrix(scores: Array, n: int, c: int) -> Array:
    """Return scores of shape (n,) for two classes, else (n, c); LightGBM's are flat, by class."""
    if c == 2:
        return np.asarray(scores).reshape(n)
    return np.asarray(scores) if np.ndim(scores) == 2 else np.reshape(scores, (n, c), order="F")
