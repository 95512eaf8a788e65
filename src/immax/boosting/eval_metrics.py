"""What early stopping looks at: functions of a loss, scores, codes of classes and weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from immax.arrays import Array
from immax.boosting.loss import BoostingLoss
from immax.links import by_score

__all__ = ["METRICS"]


def margin_loss(loss: BoostingLoss, scores: Array, y: Array, weight: Array | None = None) -> float:
    """The loss that is boosted."""
    return float(np.average(loss.losses(scores.astype(np.float64), y), weights=weight))


def log_loss(loss: BoostingLoss, scores: Array, y: Array, weight: Array | None = None) -> float:
    """Of the link's probabilities."""
    proba = loss.proba(scores)
    own = proba[np.arange(len(y)), y].astype(np.float64)
    return float(np.average(-np.log(np.maximum(own, 1e-15)), weights=weight))


def error(loss: BoostingLoss, scores: Array, y: Array, weight: Array | None = None) -> float:  # noqa: ARG001
    """Of the labels by score."""
    return float(np.average(by_score(scores) != y, weights=weight))


METRICS: Mapping[str, Callable[..., float]] = MappingProxyType(
    {"margin_loss": margin_loss, "log_loss": log_loss, "error": error}
)
