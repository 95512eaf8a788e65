"""Objectives and metrics for those who call ``xgb.train`` and ``lgb.train`` themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from immax.arrays import Array
from immax.boosting.eval_metrics import METRICS
from immax.boosting.loss import BoostingLoss
from immax.boosting.pairs import gradient_hessian
from immax.losses.spec import LossSpec
from immax.validation import check_choice

__all__ = ["metric", "objective"]


def objective(spec: LossSpec, library: str = "xgboost") -> Callable[..., tuple[Array, Array]]:
    """A loss as an objective of a library's own ``train``.

    Labels are 0 … c-1. With two classes the one score h stands for scores (-h/2, h/2).

    Parameters
    ----------
    spec : LossSpec
        From ``immax.losses.catalog``, such as ``catalog.immax(counts)``.
    library : {"xgboost", "lightgbm"}
        ``xgb.train(params, data, obj=...)`` or ``params["objective"]`` of ``lgb.train``.

    Examples
    --------
    >>> from immax.losses import catalog
    >>> f = objective(catalog.immax([900, 100]), "xgboost")
    """
    check_choice("library", library, ("xgboost", "lightgbm"))
    c = spec.n_classes
    many = {"xgboost": 2.0, "lightgbm": c / (c - 1)}[library]

    def evaluate(scores: Array, data: Any) -> tuple[Array, Array]:
        y = np.asarray(data.get_label()).astype(np.intp)
        weight = data.get_weight()
        weight = None if weight is None or not len(weight) else np.asarray(weight)
        drop = spec.draw(len(y), 0)
        return gradient_hessian(
            spec, _shaped(scores, len(y), c), y, weight, drop, 1.0 if c == 2 else many
        )

    return evaluate


def metric(spec: LossSpec, name: str = "log_loss", library: str = "xgboost") -> Callable[..., Any]:
    """A measure of early stopping for a library's own ``train``.

    Parameters
    ----------
    spec : LossSpec
    name : {"log_loss", "margin_loss", "error"}
        Of the link's probabilities, of the loss itself, of the labels by score.
    library : {"xgboost", "lightgbm"}
        For ``custom_metric`` of ``xgb.train`` or ``feval`` of ``lgb.train``.
    """
    check_choice("name", name, tuple(METRICS))
    check_choice("library", library, ("xgboost", "lightgbm"))
    loss = BoostingLoss(spec, np.arange(spec.n_classes), np.zeros(1))

    def evaluate(scores: Array, data: Any) -> Any:
        y = np.asarray(data.get_label()).astype(np.intp)
        weight = data.get_weight()
        weight = None if weight is None or not len(weight) else np.asarray(weight)
        value = METRICS[name](loss, _shaped(scores, len(y), spec.n_classes), y, weight)
        return (name, value) if library == "xgboost" else (name, value, False)

    return evaluate


def _shaped(scores: Array, n: int, c: int) -> Array:
    """(n,) for two classes, else (n, c); LightGBM's flat scores are by class."""
    if c == 2:
        return np.asarray(scores).reshape(n)
    return np.asarray(scores) if np.ndim(scores) == 2 else np.reshape(scores, (n, c), order="F")
