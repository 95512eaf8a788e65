"""Predictions, metrics and importances of CatBoost's estimator by the link and the rule.

CatBoost's own methods take scores for log-odds. Here each of them returns the link's probabilities
and the rule's labels, or is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import accuracy_score

from immax.arrays import Array, Features
from immax.boosting.description import Description
from immax.boosting.estimator import BoostingLossMixin
from immax.boosting.eval_metrics import EvalMetric, EvaluatedSample, find_metrics
from immax.decisions.decided_model import check_decides
from immax.validation import check_choice

try:
    from catboost import CatBoostClassifier, Pool
except ModuleNotFoundError as error:
    raise ImportError('immax.boosting needs CatBoost: pip install "immax[boosting]"') from error

__all__ = ["REFUSED", "CatBoostPredictions", "History", "named_metrics"]

History = dict[str, dict[str, list[float]]]
"""Values of metrics by evaluation set and metric."""
KINDS = ("Class", "Probability", "LogProbability", "RawFormulaVal")
REFUSED = {
    "calc_feature_statistics": "draw sklearn.inspection.PartialDependenceDisplay",
    "compare": "compare the values of eval_metrics",
    "create_metric_calcer": "use eval_metrics",
    "get_object_importance": "CatBoost computes it for its own losses only",
    "get_probability_threshold": "the threshold is that of the attribute rule_",
    "grid_search": "use sklearn.model_selection.GridSearchCV",
    "plot_partial_dependence": "draw sklearn.inspection.PartialDependenceDisplay",
    "randomized_search": "use sklearn.model_selection.RandomizedSearchCV",
    "select_features": "use sklearn.feature_selection.RFECV",
    "set_probability_threshold": "aim and costs determine the threshold",
    "virtual_ensembles_predict": "CatBoost's uncertainties are for its own losses only",
}
"""Methods of CatBoost that would take scores for log-odds, and what to use in their place."""


class CatBoostPredictions(CatBoostClassifier, BoostingLossMixin):
    """``CatBoostClassifier`` whose predictions are made by the link and the rule."""

    _custom_history: History

    def _histories(
        self,
        sets: Sequence[tuple[Features, Array]],
        columns: Mapping[str, Any],
        metrics: Sequence[EvalMetric],
        description: Description,
    ) -> History:
        """Return the values of further metrics after each round, by evaluation set."""
        histories: History = {}
        for number, (data, codes) in enumerate(sets if metrics else ()):
            name = "validation" if len(sets) == 1 else f"validation_{number}"
            pool = Pool(data, **columns)
            histories[name] = self._evaluate_stages(pool, codes, None, metrics, description, {})
        return histories

    def _evaluate_stages(
        self,
        data: Any,
        codes: Array,
        weight: Array | None,
        metrics: Sequence[EvalMetric],
        description: Description,
        options: Mapping[str, Any],
    ) -> dict[str, list[float]]:
        values: dict[str, list[float]] = {metric.name: [] for metric in metrics}
        for scores in super().staged_predict(data, prediction_type="RawFormulaVal", **options):
            sample = EvaluatedSample(description, np.asarray(scores), codes, weight)
            for metric in metrics:
                values[metric.name].append(metric.compute(sample))
        return values

    @property
    def classes_(self) -> Array:
        """The labels, sorted."""
        return self.loss_.classes if hasattr(self, "loss_") else super().classes_

    def decision_function(self, X: Features, **options: Any) -> Array:
        """Return the scores of samples.

        Parameters
        ----------
        X : array-like of shape (n, d) or catboost.Pool
            Features.
        **options
            Other arguments of ``CatBoostClassifier.predict``.

        Returns
        -------
        ndarray of shape (n,) or (n, n_classes)
            For two classes, the score of ``classes_[1]``.

        Raises
        ------
        NotFittedError
            If the model is not fitted.
        """
        self._fitted_loss()
        return np.asarray(super().predict(X, prediction_type="RawFormulaVal", **options))

    def predict(self, X: Features, prediction_type: str = "Class", **options: Any) -> Array:
        """Return labels by ``rule`` or ``aim``.

        Parameters
        ----------
        X : array-like of shape (n, d) or catboost.Pool
            Features.
        prediction_type : str, default="Class"
            What to return: labels ("Class"), probabilities by the link ("Probability"), their
            logarithms ("LogProbability"), or scores ("RawFormulaVal").
        **options
            Other arguments of ``CatBoostClassifier.predict``.

        Returns
        -------
        ndarray of shape (n,) or (n, n_classes)

        Raises
        ------
        ValueError
            If ``prediction_type`` is another one.
        """
        return self._turn(self.decision_function(X, **options), prediction_type)

    def predict_proba(self, X: Features, **options: Any) -> Array:
        """Return class probabilities by the link.

        Parameters
        ----------
        X : array-like of shape (n, d) or catboost.Pool
            Features.
        **options
            Other arguments of ``CatBoostClassifier.predict``.

        Returns
        -------
        ndarray of shape (n, n_classes)
        """
        return self.predict(X, "Probability", **options)

    def predict_log_proba(self, data: Features, **options: Any) -> Array:
        """Return the logarithms of the class probabilities.

        Parameters
        ----------
        data : array-like of shape (n, d) or catboost.Pool
            Features.
        **options
            Other arguments of ``CatBoostClassifier.predict``.

        Returns
        -------
        ndarray of shape (n, n_classes)
        """
        return self.predict(data, "LogProbability", **options)

    def staged_predict(
        self, data: Features, prediction_type: str = "Class", **options: Any
    ) -> Iterator[Array]:
        """Return what ``predict`` returns, stage by stage of the ensemble.

        Parameters
        ----------
        data : array-like of shape (n, d) or catboost.Pool
            Features.
        prediction_type : str, default="Class"
            As in ``predict``.
        **options
            Other arguments of ``CatBoostClassifier.staged_predict``.

        Returns
        -------
        iterator of ndarray
            Predictions after each tree, or after every ``eval_period`` of them.

        Raises
        ------
        ValueError
            If ``prediction_type`` is another one.
        """
        check_choice("prediction_type", prediction_type, KINDS)
        self._fitted_loss()
        stages = super().staged_predict(data, prediction_type="RawFormulaVal", **options)
        return (self._turn(np.asarray(scores), prediction_type) for scores in stages)

    def staged_predict_proba(self, data: Features, **options: Any) -> Iterator[Array]:
        """Return class probabilities, stage by stage of the ensemble.

        Parameters
        ----------
        data : array-like of shape (n, d) or catboost.Pool
            Features.
        **options
            Other arguments of ``CatBoostClassifier.staged_predict``.

        Returns
        -------
        iterator of ndarray of shape (n, n_classes)
        """
        return self.staged_predict(data, "Probability", **options)

    def staged_predict_log_proba(self, data: Features, **options: Any) -> Iterator[Array]:
        """Return the logarithms of the class probabilities, stage by stage of the ensemble.

        Parameters
        ----------
        data : array-like of shape (n, d) or catboost.Pool
            Features.
        **options
            Other arguments of ``CatBoostClassifier.staged_predict``.

        Returns
        -------
        iterator of ndarray of shape (n, n_classes)
        """
        return self.staged_predict(data, "LogProbability", **options)

    def _turn(self, scores: Array, kind: str) -> Array:
        """Return labels, probabilities or scores; those of one sample if the scores are."""
        check_choice("prediction_type", kind, KINDS)
        if kind == "RawFormulaVal":
            return scores
        description = self._description()
        if scores.ndim == (0 if description.loss.binary else 1):
            return self._turn(scores[None], kind)[0]
        if kind == "Class":
            return description.predict(scores)
        proba = description.loss.proba(scores)
        if kind == "Probability":
            return proba
        return np.asarray(np.log(np.maximum(proba, np.finfo(proba.dtype).tiny)))

    def score(
        self, X: Features, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return the accuracy of the labels.

        Parameters
        ----------
        X : array-like of shape (n, d) or catboost.Pool
            Features.
        y : array-like of shape (n,), optional
            Labels; by default those of the ``Pool``.
        sample_weight : array-like of shape (n,), optional
            Sample weights.

        Returns
        -------
        float

        Raises
        ------
        ValueError
            If there are no labels, or the rule may leave samples undecided.
        """
        labels = X.get_label() if isinstance(X, Pool) and y is None else y
        if labels is None:
            raise ValueError("score requires y to be passed, but the target y is None")
        check_decides(self)
        return float(
            accuracy_score(np.asarray(labels), self.predict(X), sample_weight=sample_weight)
        )

    def eval_metrics(
        self, data: Pool, metrics: str | Sequence[str], *, plot: bool = False, **options: Any
    ) -> dict[str, list[float]]:
        """Return metrics of the link's probabilities and the rule's labels, after each tree.

        Parameters
        ----------
        data : Pool
            With labels.
        metrics : str or sequence of str
            Names as for ``custom_metric``.
        plot : bool, default=False
            Not available.
        **options
            ``ntree_start``, ``ntree_end``, ``eval_period`` and ``thread_count``.

        Returns
        -------
        dict of str to list of float
        """
        if plot:
            raise ValueError("eval_metrics does not plot; draw the values that it returns")
        loss = self._fitted_loss()
        codes = loss.encode(np.asarray(data.get_label()), "data")
        weight = np.asarray(data.get_weight(), dtype=float)
        rows = named_metrics(metrics, len(loss.classes))
        return self._evaluate_stages(data, codes, weight, rows, self._description(), options)

    def get_evals_result(self) -> History:
        """Return the metrics after each round.

        Returns
        -------
        dict of dict
            Lists of values, by evaluation set and metric.
        """
        history: History = {name: dict(own) for name, own in super().get_evals_result().items()}
        for name, own in getattr(self, "_custom_history", {}).items():
            history.setdefault(name, {}).update(own)
        return history

    @property
    def evals_result_(self) -> History:
        """The metrics after each round, by evaluation set and metric."""
        return self.get_evals_result()

    def get_best_score(self) -> dict[str, dict[str, float]]:
        """Return the best value of each metric.

        Returns
        -------
        dict of dict
            Values, by evaluation set and metric.
        """
        best = {name: dict(own) for name, own in (super().get_best_score() or {}).items()}
        c = len(self._fitted_loss().classes)
        for name, own in getattr(self, "_custom_history", {}).items():
            for metric, values in own.items():
                row = named_metrics(metric, c)[0]
                best.setdefault(name, {})[metric] = (max if row.higher_is_better else min)(values)
        return best

    @property
    def best_score_(self) -> dict[str, dict[str, float]]:
        """The best value of each metric, by evaluation set and metric."""
        return self.get_best_score()

    def get_feature_importance(
        self,
        data: Any = None,
        type: Any = "FeatureImportance",  # noqa: A002
        **options: Any,
    ) -> Array:
        """Return importances of features, or their contributions to the scores.

        Parameters
        ----------
        data : catboost.Pool, optional
            Samples, for types that need them.
        type : str or catboost.EFstrType, default="FeatureImportance"
            As in CatBoost; the contributions of "ShapValues" add up to the scores.
        **options
            Other arguments of ``CatBoostClassifier.get_feature_importance``.

        Returns
        -------
        ndarray

        Raises
        ------
        ValueError
            If the type needs a loss of CatBoost's own, or ``model_output`` is not "Raw".
        """
        kind = str(getattr(type, "name", options.get("fstr_type") or type))
        if kind in ("LossFunctionChange", "SageValues"):
            raise ValueError(
                f"type={kind!r} needs a loss of CatBoost's own; use "
                "sklearn.inspection.permutation_importance"
            )
        if options.get("model_output", "Raw") != "Raw":
            raise ValueError(
                f"model_output must be 'Raw', which explains the scores; got "
                f"{options['model_output']!r}, which would not be the link's"
            )
        return np.asarray(super().get_feature_importance(data, type=type, **options))


def _refusal(name: str, instead: str) -> Callable[..., NoReturn]:
    def refuse(*_: object, **__: object) -> NoReturn:
        raise NotImplementedError(
            f"{name} would take scores for log-odds, which they are for equal margins only; "
            f"{instead}"
        )

    refuse.__name__ = name
    refuse.__doc__ = f"Raise NotImplementedError: {instead}."
    return refuse


for _name, _instead in REFUSED.items():
    setattr(CatBoostPredictions, _name, _refusal(_name, _instead))


def named_metrics(given: Any, n_classes: int) -> list[EvalMetric]:
    """Return metrics that are given by name.

    Parameters
    ----------
    given : str, sequence of str, or None
    n_classes : int
        The number of classes.

    Returns
    -------
    list of EvalMetric

    Raises
    ------
    ValueError
        If something is not the name of a metric.
    """
    known = [] if given is None else find_metrics(given, "catboost", n_classes)
    named = [metric for metric in known if isinstance(metric, EvalMetric)]
    if len(named) < len(known):
        raise ValueError("custom_metric takes names; pass an object as eval_metric")
    return named
