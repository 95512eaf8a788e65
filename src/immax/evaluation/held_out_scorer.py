"""Measures of held-out predictions: a metric of the registry, or the value of an aim."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from immax.arrays import Array
from immax.decisions.aims import Aim, Budget, Costs, PrecisionAt, RecallAt
from immax.decisions.confusion import confusion_matrix, precisions, recalls
from immax.decisions.rules import rarer_class
from immax.decisions.scorers import ScorerAim
from immax.errors import WrongCall
from immax.evaluation.metrics import Metric

__all__ = ["HeldOutScorer", "score_by_aim", "score_by_metric"]


@dataclass(frozen=True)
class HeldOutScorer:
    """A measure of held-out predictions, and the aim of the decisions that it is for.

    Attributes
    ----------
    name, title : str
    higher_is_better : bool
    needs_proba : bool
        Whether the measure is undefined for methods without probabilities.
    compute : callable
        ``compute(y, labels, proba, n_classes) -> float`` as in ``immax.evaluation.metrics``.
    selector : str
        The scikit-learn scorer of searches that choose hyper-parameters but no decisions.
    aim : Aim or None
        What decisions are fitted to; None if methods decide by themselves.
    """

    name: str
    title: str
    higher_is_better: bool
    needs_proba: bool
    compute: Callable[[Array, Array, Array, int], float]
    selector: str
    aim: Aim | None

    @property
    def sign(self) -> float:
        """Return 1 if higher is better, and -1 if lower is better."""
        return 1.0 if self.higher_is_better else -1.0

    def measure(self, y: Array, labels: Array, proba: Array | None, n_classes: int) -> float:
        """Return the measure of predictions.

        Parameters
        ----------
        y, labels : ndarray of shape (n,)
            Codes of the true and of the predicted classes.
        proba : ndarray of shape (n, n_classes) or None
        n_classes : int

        Returns
        -------
        float
        """
        given = np.empty((len(y), 0)) if proba is None else proba
        return float(self.compute(y, labels, given, n_classes))

    def score_labels(self, y: Array, labels: Array) -> float:
        """Return the measure of labels, higher is better, for ``sklearn.metrics.make_scorer``.

        Parameters
        ----------
        y, labels : ndarray of shape (n,)
            True and predicted labels; ``y`` holds every class.

        Returns
        -------
        float
        """
        classes = np.unique(y)
        codes, predicted = np.searchsorted(classes, y), np.searchsorted(classes, labels)
        return self.sign * self.measure(codes, predicted, None, len(classes))


def score_by_metric(metric: Metric, counts: Array) -> HeldOutScorer:
    """Return the scorer of a metric on data with these class counts.

    Parameters
    ----------
    metric : Metric
    counts : ndarray of shape (c,)
        The number of training samples of each class, which tell which of them are rare.

    Returns
    -------
    HeldOutScorer
        Its aim is that of the metric, if the metric is one of decisions.
    """
    return HeldOutScorer(
        metric.name,
        metric.title,
        metric.higher_is_better,
        metric.needs_proba,
        metric.for_counts(counts),
        metric.scorer or "balanced_accuracy",
        None if metric.make_aim is None else metric.make_aim(counts),
    )


def score_by_aim(aim: Aim, classes: Array, counts: Array) -> HeldOutScorer:
    """Return the scorer of an aim on data with these classes.

    Parameters
    ----------
    aim : Aim
    classes : ndarray of shape (c,)
    counts : ndarray of shape (c,)
        The number of samples of each class.

    Returns
    -------
    HeldOutScorer

    Raises
    ------
    WrongCall
        If the aim does not suit the classes.
    """
    if aim.two_classes and len(classes) > 2:
        raise WrongCall(
            f"the aim {aim.name!r} is for two classes, and the target has {len(classes)}; "
            "for F-scores and the Jaccard index, name the average: f1_macro, jaccard_macro"
        )
    if isinstance(aim, Costs) and aim.abstain is not None:
        raise WrongCall(
            "comparisons decide on every row: leave abstain out of the costs, and fit the method "
            "that is recommended with it afterwards"
        )
    if isinstance(aim, Costs):
        try:
            aim = aim.for_classes(classes)
        except ValueError as error:
            raise WrongCall(str(error)) from error
    return HeldOutScorer(
        aim.name,
        "cost per row" if isinstance(aim, Costs) else aim.name.replace("_", " "),
        not isinstance(aim, Costs),
        needs_proba=False,
        compute=_measure_of(aim, rarer_class(counts)),
        selector="balanced_accuracy",
        aim=aim,
    )


def _measure_of(aim: Aim, positive: int) -> Callable[[Array, Array, Array, int], float]:
    """Return the value of an aim as a function of predictions."""

    def compute(y: Array, labels: Array, proba: Array, n_classes: int) -> float:
        del proba  # labels are enough
        if isinstance(aim, ScorerAim):
            return aim.value_of_labels(y, labels)
        if isinstance(aim, Budget) and aim.count is not None:
            return float(np.mean(labels[y == positive] == positive))  # each call keeps the count
        table = confusion_matrix(y, labels, n_classes, n_classes)
        if isinstance(aim, Costs):
            return float(-aim.value(table))
        if aim.constrained:
            return _less_shortfall(aim, table, positive)
        return float(aim.value(table, positive))

    return compute


def _less_shortfall(aim: Aim, table: Array, positive: int) -> float:
    """Return what an aim maximises, minus the shortfall of its constraint.

    The value of the aim itself drops to below zero where a constraint is missed by one sample,
    which on the few rows of a fold is a matter of chance.
    """
    recall = float(np.nan_to_num(recalls(table)[positive]))
    precision = float(precisions(table)[positive])
    if isinstance(aim, RecallAt):
        return recall - max(0.0, aim.precision - precision)
    if isinstance(aim, PrecisionAt):
        return precision - max(0.0, aim.recall - recall)
    if isinstance(aim, Budget) and aim.share is not None:
        return recall - max(0.0, float(table[:, positive].sum() / table.sum()) - aim.share)
    return float(aim.value(table, positive))
