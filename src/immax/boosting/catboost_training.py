"""Objectives and metrics as CatBoost calls them, and the learning rate that it would choose."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from immax.arrays import Array
from immax.boosting.derivatives import SampleDerivatives, TwoClassDerivatives
from immax.boosting.description import Description
from immax.boosting.eval_metrics import EvalMetric, EvaluatedSample, Metric
from immax.boosting.loss import BoostingLoss

try:
    from catboost import CatBoostClassifier
except ModuleNotFoundError as error:
    raise ImportError('immax.boosting needs CatBoost: pip install "immax[boosting]"') from error

__all__ = ["RATES", "ROUNDS", "catboost_metric", "catboost_objective", "choose_learning_rate"]

ROUNDS = ("iterations", "n_estimators", "num_boost_round", "num_trees")
"""CatBoost's names of the number of boosting rounds."""
RATES = ("learning_rate", "eta")
"""CatBoost's names of the learning rate."""
RATE_DEPENDS_ON = (
    *ROUNDS,
    "leaf_estimation_method",
    "leaf_estimation_iterations",
    "l2_leaf_reg",
    "reg_lambda",
    "use_best_model",
)


def choose_learning_rate(
    params: Mapping[str, Any], n: int, n_classes: int, has_eval_set: bool
) -> float | None:
    """Return the learning rate that CatBoost chooses for an objective of its own.

    It depends on the number of samples and of rounds and on the kind of problem, but not on the
    data, and CatBoost does not choose one for objectives in Python. So CatBoost itself is asked, by
    a fit of one round to a single feature.

    Parameters
    ----------
    params : mapping
        The parameters that were given to CatBoost.
    n : int
        The number of samples.
    n_classes : int
        The number of classes.
    has_eval_set : bool
        Whether there is an evaluation set.

    Returns
    -------
    float or None
        None if the parameters contain a learning rate.
    """
    if any(params.get(name) is not None for name in RATES):
        return None
    relevant = {name: params[name] for name in RATE_DEPENDS_ON if params.get(name) is not None}
    quick = {"depth": 1, "border_count": 1, "bootstrap_type": "No", "thread_count": 1}
    model = CatBoostClassifier(
        **relevant, **quick, logging_level="Silent", allow_writing_files=False
    )
    kinds = min(n_classes, 3)  # two classes, or many
    rows = np.arange(max(n, 2 * kinds))
    X, y = rows[:, None].astype(np.float32), rows % kinds
    held_out = (X[: 2 * kinds], y[: 2 * kinds]) if has_eval_set else None
    model.fit(X, y, eval_set=held_out, callbacks=[_StopAfterOneRound()])
    return float(model.learning_rate_)


class _StopAfterOneRound:
    def after_iteration(self, _: object) -> bool:
        return False


def catboost_objective(loss: BoostingLoss) -> object:
    """Return a loss as an objective for CatBoost.

    Parameters
    ----------
    loss : BoostingLoss

    Returns
    -------
    object
        With the methods that CatBoost calls.
    """
    return _TwoClassObjective(loss) if loss.binary else _Objective(loss)


class _TwoClassObjective:
    """The objective for two classes, which CatBoost evaluates for ranges of samples."""

    def __init__(self, loss: BoostingLoss) -> None:
        self._derivatives = TwoClassDerivatives(loss.spec)

    def calc_ders_range(
        self, approxes: ArrayLike, targets: ArrayLike, weights: ArrayLike | None
    ) -> Array:
        weight = None if weights is None else np.asarray(weights)
        return self._derivatives(np.asarray(approxes), np.asarray(targets), weight)


class _Objective:
    """The objective for three classes or more, which CatBoost evaluates for single samples.

    CatBoost does not say whether it will use a Hessian, but uses those of all samples in turn or
    of none, so that the sample before tells.
    """

    def __init__(self, loss: BoostingLoss) -> None:
        self._derivatives = SampleDerivatives(loss.spec)
        self._uses_hessians = False

    def calc_ders_multi(
        self, approxes: ArrayLike, target: float, weight: float
    ) -> tuple[list[float], Iterator[list[float]]]:
        sample = np.asarray(approxes), int(target), weight
        if not self._uses_hessians:
            return self._derivatives.gradient(*sample), self._hessian(sample)
        self._uses_hessians = False  # until this one is used
        gradient, rows = self._derivatives.gradient_hessian(*sample)
        return gradient, self._hessian(sample, rows)

    def _hessian(
        self, sample: tuple[Array, int, float], rows: list[list[float]] | None = None
    ) -> Iterator[list[float]]:
        """Yield the rows of the Hessian; nothing here runs before the first is asked for."""
        self._uses_hessians = True
        yield from self._derivatives.gradient_hessian(*sample)[1] if rows is None else rows


def catboost_metric(metric: Metric, description: Description) -> object:
    """Return a metric as an object for CatBoost, with the metric's name.

    Parameters
    ----------
    metric : EvalMetric, or an object as CatBoost takes them
        The latter sees, in place of scores, log-odds (two classes) or log-probabilities of the
        link, so that the logistic function or the softmax of them are its probabilities.
    description : Description
        The loss and the rule.

    Returns
    -------
    object
        With the methods that CatBoost calls.
    """
    if isinstance(metric, EvalMetric):  # CatBoost shows the name of the class
        return type(metric.name, (_LinkMetric,), {})(metric, description)
    return type(type(metric).__name__, (_UserMetric,), {})(metric, description)


class _LinkMetric:
    """A metric of the link's probabilities and the rule's labels."""

    def __init__(self, metric: Any, description: Description) -> None:
        self._metric = metric
        self._description = description

    def is_max_optimal(self) -> bool:
        return bool(self._metric.higher_is_better)

    def get_final_error(self, error: float, weight: float) -> float:
        return error / (weight + 1e-38)

    def evaluate(
        self, approxes: Sequence[ArrayLike], target: ArrayLike, weight: ArrayLike | None
    ) -> tuple[float, float]:
        sample = _sample(self._description, approxes, target, weight)
        total = float(len(sample.y) if sample.weight is None else sample.weight.sum())
        return self._metric.compute(sample) * total, total


class _UserMetric(_LinkMetric):
    """A metric of the user's."""

    def is_max_optimal(self) -> bool:
        return bool(self._metric.is_max_optimal())

    def get_final_error(self, error: float, weight: float) -> float:
        return float(self._metric.get_final_error(error, weight))

    def evaluate(
        self, approxes: Sequence[ArrayLike], target: ArrayLike, weight: ArrayLike | None
    ) -> tuple[float, float]:
        sample = _sample(self._description, approxes, target, weight)
        logs = np.log(np.maximum(sample.proba, np.finfo(np.float64).tiny))
        seen = [logs[:, 1] - logs[:, 0]] if len(approxes) == 1 else list(logs.T)
        error, total = self._metric.evaluate(seen, target, weight)
        return float(error), float(total)


def _sample(
    description: Description,
    approxes: Sequence[ArrayLike],
    target: ArrayLike,
    weight: ArrayLike | None,
) -> EvaluatedSample:
    scores = np.stack([np.asarray(part) for part in approxes], axis=1)
    scores = scores[:, 0] if description.loss.binary else scores
    weights = None if weight is None else np.asarray(weight)
    weights = None if weights is None or not weights.size else weights
    return EvaluatedSample(description, scores, np.asarray(target).astype(np.intp), weights)
