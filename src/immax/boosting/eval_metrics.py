"""Metrics for early stopping: functions of a loss, scores, class indices and weights."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Protocol

import numpy as np

from immax.arrays import Array
from immax.boosting.loss import BoostingLoss
from immax.evaluation.metrics import own_log_probability
from immax.links import by_score

__all__ = ["EVAL_METRICS", "EvalMetric", "error", "log_loss", "margin_loss"]


class EvalMetric(Protocol):
    """A metric of scores; lower is better."""

    def __call__(
        self, loss: BoostingLoss, scores: Array, y: Array, weight: Array | None = None
    ) -> float: ...


def margin_loss(loss: BoostingLoss, scores: Array, y: Array, weight: Array | None = None) -> float:
    """Return the mean of the loss that is boosted.

    Parameters
    ----------
    loss : BoostingLoss
        The loss.
    scores : ndarray of shape (n, c), or (n,) for two classes
        The model's scores.
    y : ndarray of int, shape (n,)
        Class indices.
    weight : ndarray of shape (n,), optional
        Sample weights.

    Returns
    -------
    float
    """
    return float(np.average(loss.losses(scores.astype(np.float64), y), weights=weight))


def log_loss(loss: BoostingLoss, scores: Array, y: Array, weight: Array | None = None) -> float:
    """Return the log-loss of the link's probabilities.

    Parameters
    ----------
    loss, scores, y, weight
        As in ``margin_loss``.

    Returns
    -------
    float
    """
    return float(np.average(-own_log_probability(loss.proba(scores), y), weights=weight))


def error(loss: BoostingLoss, scores: Array, y: Array, weight: Array | None = None) -> float:  # noqa: ARG001
    """Return the share of samples whose label by score is wrong.

    Parameters
    ----------
    loss, scores, y, weight
        As in ``margin_loss``.

    Returns
    -------
    float
    """
    return float(np.average(by_score(scores) != y, weights=weight))


EVAL_METRICS: Mapping[str, EvalMetric] = MappingProxyType(
    {"margin_loss": margin_loss, "log_loss": log_loss, "error": error}
)
"""The metrics by name."""
