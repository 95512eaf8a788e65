"""What is measured on a test set."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import f1_score

__all__ = ["METRICS", "expected_calibration_error", "measure"]

Array = NDArray[Any]

METRICS = {
    "accuracy": True,
    "balanced_accuracy": True,
    "macro_f1": True,
    "log_loss": False,
    "ece": False,
}
"""Names of all measures, and whether higher is better."""


def expected_calibration_error(proba: ArrayLike, y: ArrayLike, bins: int = 15) -> float:
    """How far the highest probability is from the share of right answers, on average.

    Samples are put into bins of equal width by their highest probability.

    Examples
    --------
    >>> expected_calibration_error([[0.2, 0.8], [0.2, 0.8]], [1, 0])
    0.3
    """
    p = np.asarray(proba, dtype=np.float64)
    confidence, right = p.max(axis=1), p.argmax(axis=1) == np.asarray(y)
    which = np.minimum((confidence * bins).astype(int), bins - 1)
    gaps = np.bincount(which, weights=right - confidence, minlength=bins)
    return round(float(np.abs(gaps).sum() / len(p)), 12)


def measure(y: Array, labels: Array, proba: Array | None, n_classes: int) -> dict[str, float]:
    """All measures that can be had, of codes of classes."""
    recalls = [np.mean(labels[y == k] == k) for k in range(n_classes) if (y == k).any()]
    found = {
        "accuracy": float(np.mean(labels == y)),
        "balanced_accuracy": float(np.mean(recalls)),
        "macro_f1": float(f1_score(y, labels, average="macro", zero_division=0)),
    }
    if proba is not None:
        own = proba[np.arange(len(y)), y].astype(np.float64)
        found["log_loss"] = float(-np.log(np.maximum(own, np.finfo(np.float64).eps)).mean())
        found["ece"] = expected_calibration_error(proba, y)
    return found
