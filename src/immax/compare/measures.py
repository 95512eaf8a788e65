"""What methods are ranked by."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score

from immax.bench.metrics import METRICS, measure

__all__ = ["MEASURES", "OF_PROBABILITIES", "SCORERS", "measures"]

Array = NDArray[Any]

MEASURES = {**METRICS, "average_precision": True}
"""Names of all measures, and whether higher is better."""

OF_PROBABILITIES = ("log_loss", "ece", "average_precision")
"""Those that a method without probabilities does not have."""

SCORERS = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced_accuracy",
    "macro_f1": "f1_macro",
    "log_loss": "neg_log_loss",
    "ece": "neg_log_loss",  # calibration is no aim by itself: constant probabilities have it
    "average_precision": "neg_log_loss",
}
"""By what of scikit-learn's hyper-parameters are chosen."""


def measures(y: Array, labels: Array, proba: Array | None, n_classes: int) -> dict[str, float]:
    """All measures that can be had.

    Average precision is that of the rarer of two classes, and the mean of more.
    """
    found = measure(y, labels, proba, n_classes)
    if proba is not None:
        present = np.unique(y)
        if n_classes == 2:
            present = np.bincount(y, minlength=2).argsort(kind="stable")[:1]
        each = [average_precision_score(y == k, proba[:, k]) for k in present]
        found["average_precision"] = float(np.mean(each))
    return found
