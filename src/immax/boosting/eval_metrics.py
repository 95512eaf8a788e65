"""Metrics of held-out samples during training, from the link's probabilities and the rule's labels.

The libraries' own metrics of these names take scores for log-odds, which they are for equal margins
only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from sklearn.metrics import (
    average_precision_score,
    balanced_accuracy_score,
    cohen_kappa_score,
    f1_score,
    matthews_corrcoef,
    precision_score,
    recall_score,
    roc_auc_score,
)

from immax.arrays import Array
from immax.boosting.description import Description
from immax.evaluation.metrics import own_log_probability

__all__ = [
    "EVAL_METRICS",
    "METRIC_NAMES",
    "EvalMetric",
    "EvaluatedSample",
    "Metric",
    "find_metrics",
]


@dataclass(frozen=True)
class EvaluatedSample:
    """A sample's scores and labels, and what follows from them.

    Parameters
    ----------
    description : Description
        The loss and the rule.
    scores : ndarray of shape (n, c), or (n,) for two classes
        The model's scores.
    y : ndarray of int, shape (n,)
        Class indices.
    weight : ndarray of shape (n,), optional
        Sample weights.
    """

    description: Description
    scores: Array
    y: Array
    weight: Array | None = None

    @cached_property
    def proba(self) -> Array:
        """The link's probabilities, shape (n, c)."""
        return self.description.loss.proba(self.scores)

    @cached_property
    def decisions(self) -> Array:
        """The class indices that the rule decides for, or c where it abstains."""
        return self.description.decide(self.scores, self.proba)

    @property
    def library_proba(self) -> Array:
        """Probabilities as the libraries pass them to metrics: for two classes those of class 1."""
        return self.proba[:, 1] if self.description.loss.binary else self.proba


@dataclass(frozen=True)
class EvalMetric:
    """A metric by name.

    Parameters
    ----------
    name : str
        The name that histories show.
    compute : callable
        ``compute(sample: EvaluatedSample) -> float``.
    higher_is_better : bool, default=False
    two_classes : bool, default=False
        Whether it is for two classes only, of which class 1 is the positive one.
    is_mean : bool, default=False
        Whether it is a mean over samples, so that it follows from those of parts of them.
    """

    name: str
    compute: Callable[[EvaluatedSample], float]
    higher_is_better: bool = False
    two_classes: bool = False
    is_mean: bool = False


Metric = EvalMetric | Callable[..., Any]
"""A metric of ours, or one that the user passed."""


def _margin_loss(sample: EvaluatedSample) -> float:
    losses = sample.description.loss.losses(sample.scores.astype(np.float64), sample.y)
    return float(np.average(losses, weights=sample.weight))


def _log_loss(sample: EvaluatedSample) -> float:
    return float(np.average(-own_log_probability(sample.proba, sample.y), weights=sample.weight))


def _error(sample: EvaluatedSample) -> float:
    return float(np.average(sample.decisions != sample.y, weights=sample.weight))


def _accuracy(sample: EvaluatedSample) -> float:
    return 1 - _error(sample)


def _auc(sample: EvaluatedSample) -> float:
    """Return the area under the ROC curve: of class 1, or the mean over classes by their shares."""
    return _mean_over_classes(sample, roc_auc_score)


def _average_precision(sample: EvaluatedSample) -> float:
    return _mean_over_classes(sample, average_precision_score)


def _mean_over_classes(sample: EvaluatedSample, score: Callable[..., float]) -> float:
    """Return a score of each class against the others; not a number where there are no others."""
    c = sample.proba.shape[1]
    shares = np.bincount(sample.y, sample.weight, c)
    candidates = (1,) if c == 2 else range(c)
    present = [k for k in candidates if 0 < shares[k] < shares.sum()]
    if not present:
        return float("nan")
    each = [score(sample.y == k, sample.proba[:, k], sample_weight=sample.weight) for k in present]
    return float(np.average(each, weights=shares[present]))


def _of_labels(
    score: Callable[..., float], **options: object
) -> Callable[[EvaluatedSample], float]:
    def compute(sample: EvaluatedSample) -> float:
        return float(score(sample.y, sample.decisions, sample_weight=sample.weight, **options))

    return compute


_METRICS = (
    EvalMetric("margin_loss", _margin_loss, is_mean=True),
    EvalMetric("log_loss", _log_loss, is_mean=True),
    EvalMetric("error", _error, is_mean=True),
    EvalMetric("accuracy", _accuracy, higher_is_better=True, is_mean=True),
    EvalMetric("balanced_accuracy", _of_labels(balanced_accuracy_score), higher_is_better=True),
    EvalMetric("auc", _auc, higher_is_better=True),
    EvalMetric("average_precision", _average_precision, higher_is_better=True),
    EvalMetric("f1", _of_labels(f1_score, zero_division=0), True, two_classes=True),
    EvalMetric(
        "f1_weighted",
        _of_labels(f1_score, average="weighted", zero_division=0),
        higher_is_better=True,
    ),
    EvalMetric("precision", _of_labels(precision_score, zero_division=0), True, two_classes=True),
    EvalMetric("recall", _of_labels(recall_score, zero_division=0), True, two_classes=True),
    EvalMetric("mcc", _of_labels(matthews_corrcoef), higher_is_better=True),
    EvalMetric("kappa", _of_labels(cohen_kappa_score), higher_is_better=True),
)
EVAL_METRICS: Mapping[str, EvalMetric] = MappingProxyType({row.name: row for row in _METRICS})
"""The metrics by name."""

METRIC_NAMES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "xgboost": {
            "logloss": "log_loss",
            "mlogloss": "log_loss",
            "error": "error",
            "merror": "error",
            "auc": "auc",
            "aucpr": "average_precision",
            "margin_loss": "margin_loss",
        },
        "lightgbm": {
            **dict.fromkeys(("logloss", "binary_logloss", "binary", "multi_logloss"), "log_loss"),
            **dict.fromkeys(("multiclass", "softmax", "cross_entropy", "xentropy"), "log_loss"),
            **dict.fromkeys(("error", "binary_error", "multi_error"), "error"),
            "auc": "auc",
            "average_precision": "average_precision",
            **{
                name: name
                for name in ("accuracy", "balanced_accuracy", "f1", "margin_loss", "mcc", "kappa")
            },
        },
        "catboost": {
            **dict.fromkeys(("Logloss", "CrossEntropy", "MultiClass"), "log_loss"),
            "ZeroOneLoss": "error",
            "Accuracy": "accuracy",
            "BalancedAccuracy": "balanced_accuracy",
            "AUC": "auc",
            "PRAUC": "average_precision",
            "F1": "f1",
            "TotalF1": "f1_weighted",
            "Precision": "precision",
            "Recall": "recall",
            "MCC": "mcc",
            "Kappa": "kappa",
        },
    }
)
"""For each library, the names that its users type, and the metrics that they stand for.

XGBoost goes by the name to know whether higher is better, so that it has no others.
"""


def find_metrics(given: object, library: str, n_classes: int) -> list[Metric]:
    """Return metrics as an estimator's user gave them: callables as they are, names looked up.

    Parameters
    ----------
    given : str, callable, sequence of them, or None
        None is the log-loss.
    library : {"xgboost", "lightgbm", "catboost"}
        Whose names are understood.
    n_classes : int
        The number of classes.

    Returns
    -------
    list of EvalMetric and callables
        An ``EvalMetric`` has the name that was given.

    Raises
    ------
    ValueError
        If there is no such metric, or it is for two classes and there are more.
    TypeError
        If something is neither a name nor a callable.
    """
    if given is None:
        default = "MultiClass" if n_classes > 2 else "Logloss"
        given = default if library == "catboost" else "logloss"
    if isinstance(given, Sequence) and not isinstance(given, str):
        return [_find(one, library, n_classes) for one in given]
    return [_find(given, library, n_classes)]


def _find(given: Any, library: str, n_classes: int) -> Metric:
    if callable(given) or hasattr(given, "evaluate"):
        return given  # CatBoost's metrics are objects with this method
    if not isinstance(given, str):
        raise TypeError(f"a metric must be a name or a callable; got {given!r}")
    if library == "xgboost" and given.startswith("error@"):
        return _error_above(given)
    names = METRIC_NAMES[library]
    if given not in names:
        raise ValueError(
            f"the metric {given!r} is not available for the link's probabilities; there are "
            f"{', '.join(names)}, and callables"
        )
    row = EVAL_METRICS[names[given]]
    if row.two_classes and n_classes > 2:
        raise ValueError(f"the metric {given!r} is for two classes; there are {n_classes}")
    return replace(row, name=given)


def _error_above(name: str) -> EvalMetric:
    """Return the error of predicting class 1 where its probability exceeds a threshold."""
    try:
        threshold = float(name.removeprefix("error@"))
    except ValueError:
        raise ValueError(f"the metric {name!r} needs a number after the '@'") from None

    def compute(sample: EvaluatedSample) -> float:
        wrong = (sample.proba[:, 1] > threshold) != sample.y
        return float(np.average(wrong, weights=sample.weight))

    return EvalMetric(name, compute, two_classes=True, is_mean=True)
