"""The one registry of metrics.

A metric is a row: its name, which direction is better, whether it is a share, what it needs, and
the scikit-learn scorer with which hyper-parameters are selected for it. Metrics of labels are the
values of aims of ``immax.decisions``; those of probabilities are functions of this module.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import average_precision_score

from immax.arrays import Array, Features
from immax.decisions.aims import AIMS, Aim, Costs, LogLoss
from immax.decisions.fitting import value_of
from immax.decisions.rules import rarer_class

__all__ = [
    "METRICS",
    "Metric",
    "expected_calibration_error",
    "measure",
    "measure_by_shares",
    "own_log_probability",
]


Compute: TypeAlias = Callable[..., float]
MakeAim: TypeAlias = Callable[[Array], Aim]


ACRONYMS = {"ece": "ECE", "f1": "F1", "gmean": "G-mean", "macro_f1": "macro F1", "mcc": "MCC"}


@dataclass(frozen=True)
class Metric:
    """A row of the registry.

    Attributes
    ----------
    name : str
    compute : callable
        ``compute(y, labels, proba, n_classes) -> float``, where ``y`` and ``labels`` are class
        codes and ``proba`` has shape (n, n_classes).
    higher_is_better : bool
    is_share : bool
        Whether tables show the metric in per cent.
    needs_proba : bool
        Whether the metric is undefined for classifiers without probabilities.
    scorer : str
        The scikit-learn scorer with which hyper-parameters are selected; empty if scikit-learn has
        none that serves two classes and many, whatever their labels are. ``score`` serves all.
    make_aim : callable, optional
        From the class counts to the aim whose decisions the metric judges.
    takes_counts : bool, default=False
        Whether the metric depends on which classes are rare, so that ``compute`` takes the class
        counts of the training data as ``counts=``; by default those of the evaluated samples.
    """

    name: str
    compute: Compute
    higher_is_better: bool
    is_share: bool
    needs_proba: bool
    scorer: str
    make_aim: MakeAim | None = None
    takes_counts: bool = False

    @property
    def title(self) -> str:
        """Return the name in words."""
        return ACRONYMS.get(self.name, self.name.replace("_", " "))

    @property
    def sign(self) -> float:
        """Return 1 if higher is better, and -1 if lower is better."""
        return 1.0 if self.higher_is_better else -1.0

    @property
    def factor(self) -> float:
        """Return the factor by which tables multiply values."""
        return 100.0 if self.is_share else 1.0

    @property
    def digits(self) -> int:
        """Return the number of decimals that tables show."""
        return 2 if self.is_share else 4

    def for_counts(self, counts: Array | None) -> Compute:
        """Return ``compute`` for models of data with these class counts.

        The class that is rare in training stays the rare one on every test set.

        Parameters
        ----------
        counts : ndarray of shape (c,), optional
            The number of training samples of each class; by default that of the evaluated ones.

        Returns
        -------
        callable
        """
        if counts is None or not self.takes_counts:
            return self.compute
        return partial(self.compute, counts=counts)

    def score_labels(self, y: Array, labels: Array) -> float:
        """Return the metric of predicted codes, higher is better; for metrics of labels alone.

        Parameters
        ----------
        y, labels : ndarray of shape (n,)
            Codes of the true and of the predicted classes.

        Returns
        -------
        float
        """
        n_classes = int(max(np.max(y), np.max(labels), 1)) + 1
        return self.sign * self.compute(y, labels, np.empty((len(y), 0)), n_classes)

    def score(
        self, estimator: object, X: Features, y: ArrayLike, counts: Array | None = None
    ) -> float:
        """Return the metric of a fitted classifier, higher is better: a scorer for scikit-learn.

        Parameters
        ----------
        estimator : classifier
            With ``classes_``, ``predict`` and, if the metric needs it, ``predict_proba``.
        X : {array-like, sparse matrix, data frame} of shape (n, d)
        y : array-like of shape (n,)
            True labels.
        counts : ndarray of shape (c,), optional
            As in ``for_counts``.

        Returns
        -------
        float
        """
        classes = np.asarray(estimator.classes_)  # type: ignore[attr-defined]
        codes: Array = np.searchsorted(classes, np.asarray(y))
        predicted = np.asarray(estimator.predict(X))  # type: ignore[attr-defined]
        labels: Array = np.searchsorted(classes, predicted)
        proba = np.empty((len(codes), 0))
        if self.needs_proba:
            proba = np.asarray(estimator.predict_proba(X))  # type: ignore[attr-defined]
        return self.sign * self.for_counts(counts)(codes, labels, proba, len(classes))


_METRICS: dict[str, Metric] = {}
METRICS: Mapping[str, Metric] = MappingProxyType(_METRICS)
"""All metrics by name, in the order in which tables show them."""


def _metric(
    scorer: str,
    *,
    higher_is_better: bool = True,
    is_share: bool = True,
    make_aim: MakeAim | None = None,
    takes_counts: bool = False,
) -> Callable[[Compute], Compute]:
    """Register a function of probabilities under its own name."""

    def register(compute: Compute) -> Compute:
        name = compute.__name__
        _METRICS[name] = Metric(
            name, compute, higher_is_better, is_share, True, scorer, make_aim, takes_counts
        )
        return compute

    return register


def _value_of_labels(
    make_aim: MakeAim,
    sign: float,
    y: Array,
    labels: Array,
    proba: Array,
    n_classes: int,
    counts: Array | None = None,
) -> float:
    """Return the value of an aim, with the sign of the metric."""
    del proba  # labels are enough
    own = np.bincount(y, minlength=n_classes) if counts is None else counts
    return sign * value_of(make_aim(own), y, labels, n_classes, None, rarer_class(own))


def _label_metric(
    name: str,
    make_aim: MakeAim,
    scorer: str = "",
    *,
    higher_is_better: bool = True,
    is_share: bool = True,
) -> None:
    """Register the value of an aim."""
    compute = partial(_value_of_labels, make_aim, 1.0 if higher_is_better else -1.0)
    _METRICS[name] = Metric(
        name, compute, higher_is_better, is_share, False, scorer, make_aim, takes_counts=True
    )


def _aim(name: str, several: str = "") -> MakeAim:
    """Return what makes the aim of this name, or for three classes or more another one."""

    def make(counts: Array) -> Aim:
        return AIMS[several if several and counts.size > 2 else name]()

    return make


def _rare_costs(counts: Array) -> Aim:
    """Return costs of ten for errors on classes that are rarer than the average, else of one."""
    return Costs(tuple(np.where(counts < counts.mean(), 10.0, 1.0).tolist()))


_label_metric("accuracy", _aim("accuracy"), "accuracy")
_label_metric("balanced_accuracy", _aim("balanced_accuracy"), "balanced_accuracy")
_label_metric("macro_f1", _aim("macro_f1"), "f1_macro")
_label_metric("f1", _aim("f1", "macro_f1"))  # of the rarer of two classes, or the mean over more
_label_metric("mcc", _aim("mcc"), "matthews_corrcoef")
_label_metric("gmean", _aim("gmean"))
_label_metric("kappa", _aim("kappa"))
_label_metric("jaccard", _aim("jaccard", "jaccard_macro"))
_label_metric("cost_10_to_1", _rare_costs, higher_is_better=False, is_share=False)


@_metric("neg_log_loss", higher_is_better=False, is_share=False, make_aim=lambda _: LogLoss())
def log_loss(y: Array, labels: Array, proba: Array, n_classes: int) -> float:  # noqa: ARG001
    """Return minus the mean log-probability of each sample's own class."""
    return float(-own_log_probability(proba, y).mean())


# Calibration alone is not worth selecting for: constant probabilities are calibrated too.
@_metric("neg_log_loss", higher_is_better=False)
def ece(y: Array, labels: Array, proba: Array, n_classes: int) -> float:  # noqa: ARG001
    """Return the expected calibration error of the highest probability."""
    return expected_calibration_error(proba, y)


@_metric("neg_log_loss", is_share=False, takes_counts=True)
def average_precision(
    y: Array,
    labels: Array,  # noqa: ARG001
    proba: Array,
    n_classes: int,
    counts: Array | None = None,
) -> float:
    """Return the average precision of the rarer of two classes, or the mean over more classes."""
    classes = np.unique(y)
    if n_classes == 2:
        classes = np.array([rarer_class(np.bincount(y, minlength=2) if counts is None else counts)])
    return float(np.mean([average_precision_score(y == k, proba[:, k]) for k in classes]))


def own_log_probability(proba: Array, y: Array) -> Array:
    """Return the log-probability of each sample's own class, bounded from below.

    Parameters
    ----------
    proba : ndarray of shape (n, c)
    y : ndarray of shape (n,)
        Codes of the true classes.

    Returns
    -------
    ndarray of shape (n,)
        At least the logarithm of the machine epsilon of double precision.

    Examples
    --------
    >>> own_log_probability(np.array([[0.5, 0.5], [1.0, 0.0]]), np.array([0, 0])).round(3)
    array([-0.693,  0.   ])
    """
    own = proba[np.arange(len(y)), y].astype(np.float64)
    return np.asarray(np.log(np.maximum(own, np.finfo(np.float64).eps)))


def expected_calibration_error(proba: ArrayLike, y: ArrayLike, bins: int = 15) -> float:
    """Return the mean gap between the highest probability and the share of correct predictions.

    Samples are put into bins of equal width by their highest probability.

    Parameters
    ----------
    proba : array-like of shape (n, c)
    y : array-like of shape (n,)
        Codes of the true classes.
    bins : int, default=15
        The number of bins.

    Returns
    -------
    float

    Examples
    --------
    >>> expected_calibration_error([[0.2, 0.8], [0.2, 0.8]], [1, 0])
    0.3
    """
    p = np.asarray(proba, dtype=np.float64)
    confidence, correct = p.max(axis=1), p.argmax(axis=1) == np.asarray(y)
    which = np.minimum((confidence * bins).astype(int), bins - 1)
    gaps = np.bincount(which, weights=correct - confidence, minlength=bins)
    return round(float(np.abs(gaps).sum() / len(p)), 12)


def measure(
    y: Array, labels: Array, proba: Array | None, n_classes: int, counts: Array | None = None
) -> dict[str, float]:
    """Compute every metric of the registry that the predictions determine.

    Parameters
    ----------
    y, labels : ndarray of shape (n,)
        Codes of the true and of the predicted classes.
    proba : ndarray of shape (n, n_classes), optional
        Without probabilities, the metrics that need them are missing.
    n_classes : int
    counts : ndarray of shape (n_classes,), optional
        The class counts of the training data, which tell which classes are rare; by default those
        of ``y``.

    Returns
    -------
    dict of str to float
        The values by the names of the metrics.
    """
    given = np.empty((len(y), 0)) if proba is None else proba  # not used where it is empty
    return {
        metric.name: metric.for_counts(counts)(y, labels, given, n_classes)
        for metric in METRICS.values()
        if proba is not None or not metric.needs_proba
    }


def measure_by_shares(
    y: Array, labels: Array, proba: Array | None, shares: Array
) -> dict[str, float]:
    """Compute the accuracy and the log-loss for other class shares than those of the samples.

    All samples of a class have the same weight, such that the classes have the given shares. So a
    balanced test set says, with all its samples, what an imbalanced one would.

    Parameters
    ----------
    y, labels : ndarray of shape (n,)
        Codes of the true and of the predicted classes.
    proba : ndarray of shape (n, c), optional
        Without probabilities, the log-loss is missing.
    shares : ndarray of shape (c,)
        Of sum one. Every class has samples.

    Returns
    -------
    dict of str to float

    Examples
    --------
    >>> y, labels = np.array([0, 0, 1, 1]), np.array([0, 0, 0, 1])
    >>> measure_by_shares(y, labels, None, np.array([0.9, 0.1]))
    {'accuracy': 0.95}
    """
    weight = (shares / np.bincount(y, minlength=len(shares)))[y]
    values = {"accuracy": round(float(weight @ (labels == y)), 12)}
    if proba is not None:
        values["log_loss"] = float(-(weight @ own_log_probability(proba, y)))
    return values
