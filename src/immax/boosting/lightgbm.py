"""IMMAX and the methods of the catalogue for LightGBM."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from inspect import signature
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from immax.arrays import Array, Features
from immax.boosting.boosters import attach, find_description, has_description
from immax.boosting.description import Description, read_file_beside
from immax.boosting.estimator import LOSS_PARAMETERS, BoostingLossMixin, check_library_parameters
from immax.boosting.eval_metrics import EvalMetric, EvaluatedSample, Metric, find_metrics
from immax.boosting.lightgbm_text import add_constants
from immax.boosting.loss import BoostingLoss, Margins
from immax.boosting.pairs import hessian_factor
from immax.decisions.aims import Aim
from immax.decisions.decided_model import check_decides
from immax.documentation import DocumentationLink

try:
    from lightgbm import Booster, LGBMClassifier
except ModuleNotFoundError as error:
    raise ImportError('immax.boosting needs LightGBM: pip install "immax[boosting]"') from error

__all__ = ["IMMAXLGBMClassifier", "LGBMObjective"]


EvalSet = tuple[Features, ArrayLike]
Values = list[tuple[str, float, bool]]
RESERVED = ("objective", "objective_type", "app", "application", "loss", "num_class", "num_classes")
METRIC_ALIASES = ("metric", "metrics", "metric_types")
NO_METRICS = ("", "None", "na", "null", "custom")
ROUNDS = (
    "num_iterations",
    "num_iteration",
    "n_iter",
    "num_tree",
    "num_trees",
    "num_round",
    "num_rounds",
    "nrounds",
    "num_boost_round",
    "max_iter",
)
"""LightGBM's other names of ``n_estimators``."""
EARLY_STOPPING = (
    "early_stopping_round",
    "early_stopping_rounds",
    "early_stopping",
    "n_iter_no_change",
)

BOOSTING = ("boosting_type", "boosting", "boost")
"""LightGBM's names of the kind of boosting."""


class IMMAXLGBMClassifier(DocumentationLink, LGBMClassifier, BoostingLossMixin):
    """``LGBMClassifier`` with a margin for each class, or with any method of the catalogue.

    All other parameters, and the arguments of ``fit``, are LightGBM's. Boosting begins at the
    constant scores that minimise the loss, which are added to the leaves of the first trees, as
    LightGBM does with its own objectives.

    Parameters
    ----------
    method, margins, power, rule, aim, costs, cv, method_params
        As in IMMAXXGBClassifier.
    **kwargs
        Parameters of LGBMClassifier, except ``objective``, which the method determines, and
        ``class_weight``, ``scale_pos_weight``, ``is_unbalance``, ``pos_bagging_fraction`` and
        ``neg_bagging_fraction``, which the link would not undo.

    Attributes
    ----------
    margins_ : ndarray of shape (n_classes,), or None
        The margins of method "immax".
    loss_ : BoostingLoss
        The loss that was boosted.
    rule_ : Rule or None
        How probabilities become labels; None if the highest score decides.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = IMMAXLGBMClassifier(n_estimators=20, power=0.2, verbose=-1).fit(X, y)
    >>> bool(model.score(X, y) > 0.98)
    True
    """

    objective: LGBMObjective | None
    _objective: LGBMObjective | str
    _fold_options: ClassVar[tuple[str, ...]] = ("feature_name", "categorical_feature")
    _sample_options: ClassVar[tuple[str, ...]] = ("init_score", "init_model")

    def __init__(
        self,
        *,
        method: str = "immax",
        margins: Margins = "theory",
        power: float | None = None,
        rule: str = "score",
        aim: str | Aim | None = None,
        costs: ArrayLike | None = None,
        cv: Any = 5,
        method_params: dict[str, float] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._set_loss_parameters(method, margins, power, rule, aim, costs, cv, method_params)

    def _process_params(self, stage: str) -> dict[str, Any]:
        """Return LightGBM's own parameters, without those of the loss."""
        params = super()._process_params(stage)
        # With nothing left to split, a custom objective fails.
        params.setdefault("feature_pre_filter", False)
        ours = (*LOSS_PARAMETERS, *METRIC_ALIASES)
        params = {name: value for name, value in params.items() if name not in ours}
        return {**params, "metric": "None"}  # fit passes functions of the link's probabilities

    def fit(
        self,
        X: Features,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        init_score: ArrayLike | None = None,
        eval_set: EvalSet | Sequence[EvalSet] | None = None,
        *,
        eval_init_score: Sequence[ArrayLike] | None = None,
        eval_metric: Any = None,
        **options: Any,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Features.
        y : array-like of shape (n,)
            Labels of any type.
        sample_weight : array-like of shape (n,), optional
            Sample weights.
        init_score : array-like, optional
            The scores that boosting begins with; by default the best constants.
        eval_set : sequence of (X, y), optional
            Evaluation sets.
        eval_init_score : sequence of array-like, optional
            The scores of the evaluation sets that boosting begins with.
        eval_metric : str, callable or list of them, optional
            By default the log-loss. All are evaluated with the link's probabilities and the
            rule's labels.
        **options
            Other arguments of ``LGBMClassifier.fit``.

        Returns
        -------
        IMMAXLGBMClassifier
            The fitted estimator.
        """
        params = self.get_params()
        check_library_parameters({**params, **options}, RESERVED, "n_estimators")
        for name in BOOSTING:
            if params.get(name) in ("rf", "random_forest"):
                raise ValueError(
                    f"{name} must be 'gbdt' or 'dart': LightGBM grows random forests for its own "
                    f"objectives only; got {params[name]!r}"
                )
        early, codes = self._make_loss(X, y, sample_weight, self.random_state)
        options["init_score"] = init_score
        continued = options.get("init_model") is not None
        begins_elsewhere = continued or init_score is not None
        if begins_elsewhere:  # at scores of the user's, or at those of a model
            early = replace(early, loss=early.loss.without_constants())
        loss = early.loss
        sets = loss.encode_sets(_evaluation_sets(eval_set, options))
        if not begins_elsewhere:
            options["init_score"] = loss.starting_scores(len(codes))
            if sets and eval_init_score is None:
                eval_init_score = [loss.starting_scores(len(own)) for _, own in sets]
        self.objective = self._objective = LGBMObjective(loss)
        try:
            super().fit(
                X,
                codes,
                sample_weight=sample_weight,
                **_evaluation_arguments(sets),
                eval_init_score=eval_init_score,
                eval_metric=_evaluation(self._named_metrics(eval_metric), early),
                **options,
            )
        finally:
            self.objective = None
        self._classes = loss.classes
        options["init_score"] = init_score
        self._set_loss(loss, self._choose_rule(loss, X, codes, sample_weight, options))
        attach(self.booster_, self._description(), loss.constants)
        return self

    def _named_metrics(self, eval_metric: Any) -> Any:
        """Return the metrics of ``fit`` and of the parameters, or None if there are none."""
        named: list[Any] = []
        for given in (eval_metric, *(self.get_params().get(name) for name in METRIC_ALIASES)):
            several = given if isinstance(given, (list, tuple)) else [given]
            several = [part for one in several for part in _split_names(one)]
            named += [one for one in several if one is not None and one not in named]
        if not named:
            return None
        return [one for one in named if one not in NO_METRICS]

    def _fold_parameters(self) -> dict[str, Any]:
        given = self.get_params()
        none = {name: None for name in EARLY_STOPPING if name in given}
        rounds = next((name for name in ROUNDS if name in given), "n_estimators")
        best = self.booster_.best_iteration
        return {**none, **({rounds: best} if best > 0 else {})}

    def decision_function(self, X: Features, **options: Any) -> Array:
        """Return the scores of samples.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Features.
        **options
            Other arguments of ``LGBMClassifier.predict_proba``.

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
        return np.asarray(super().predict_proba(X, raw_score=True, **options))

    def predict(self, X: Features, raw_score: bool = False, **options: Any) -> Array:
        """Return labels by ``rule`` or ``aim``.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Features.
        raw_score : bool, default=False
            Whether to return scores.
        **options
            Other arguments of ``LGBMClassifier.predict``. With ``pred_leaf`` and ``pred_contrib``,
            leaves and contributions are returned as by LightGBM; the latter add up to the scores.

        Returns
        -------
        ndarray of shape (n,)
            For scores, of the shape that ``decision_function`` returns.
        """
        if options.get("pred_leaf") or options.get("pred_contrib"):
            return super().predict_proba(X, **options)
        scores = self.decision_function(X, **options)
        return scores if raw_score else self._description().predict(scores)

    def score(self, X: Features, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy of the labels.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Features.
        y : array-like of shape (n,)
            Labels.
        sample_weight : array-like of shape (n,), optional
            Sample weights.

        Returns
        -------
        float

        Raises
        ------
        ValueError
            If the rule may leave samples undecided.
        """
        check_decides(self)
        return float(super().score(X, y, sample_weight))

    def predict_proba(self, X: Features, raw_score: bool = False, **options: Any) -> Array:
        """Return class probabilities by the link.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Features.
        raw_score : bool, default=False
            Whether to return scores, as ``predict`` does.
        **options
            As in ``predict``.

        Returns
        -------
        ndarray of shape (n, n_classes)
        """
        if raw_score or options.get("pred_leaf") or options.get("pred_contrib"):
            return self.predict(X, raw_score, **options)
        return self._fitted_loss().proba(self.decision_function(X, **options))

    def save_model(self, path: str | Path) -> None:
        """Save the model in LightGBM's own format, with a description of its scores.

        Parameters
        ----------
        path : str or Path
            The file to write.
        """
        attach(self.booster_, self._description())
        self.booster_.save_model(path)

    def load_model(self, path: str | Path) -> None:
        """Read a file that ``save_model`` wrote.

        Parameters
        ----------
        path : str or Path
            The file.

        Raises
        ------
        ValueError
            If the model does not say what its scores mean.
        """
        booster = Booster(model_file=str(path))
        if has_description(booster):
            self._set_description(find_description(booster))
        else:
            self._set_loss(read_file_beside(path).loss, None)
            add_constants(booster, self.loss_.constants)
        self._Booster = booster
        self._n_features = self._n_features_in = booster.num_feature()
        self._best_iteration = booster.best_iteration
        self._classes, self._n_classes = self.loss_.classes, len(self.loss_.classes)
        self._objective = "None"
        self.fitted_ = True


def _evaluation_sets(
    eval_set: EvalSet | Sequence[EvalSet] | None, options: dict[str, Any]
) -> Sequence[EvalSet]:
    """Return pairs of features and labels, from either of LightGBM's ways to pass them."""
    X, y = options.pop("eval_X", None), options.pop("eval_y", None)
    if X is not None:
        return list(zip(X, y, strict=True)) if isinstance(X, tuple) else [(X, y)]
    return [eval_set] if isinstance(eval_set, tuple) else list(eval_set or ())


def _evaluation_arguments(sets: Sequence[EvalSet]) -> dict[str, object]:
    """Return the arguments of ``fit``; newer versions take features and labels separately."""
    if not sets:
        return {}
    if "eval_X" not in signature(LGBMClassifier.fit).parameters:
        return {"eval_set": sets}
    return {"eval_X": tuple(X for X, _ in sets), "eval_y": tuple(y for _, y in sets)}


@dataclass(frozen=True)
class LGBMObjective:
    """An object rather than a function, so that a fitted estimator can be pickled."""

    loss: BoostingLoss

    def __call__(self, y: Array, scores: Array, weight: Array | None = None) -> tuple[Array, Array]:
        factor = hessian_factor("lightgbm", len(self.loss.classes))
        return self.loss.pairs(scores, y.astype(np.intp), weight, factor)


def _split_names(metric: Any) -> list[Any]:
    """Return the names of a metric that LightGBM takes as one string."""
    return [name.strip() for name in metric.split(",")] if isinstance(metric, str) else [metric]


def _evaluation(given: Any, description: Description) -> Callable[..., Values] | None:
    """Return the user's metrics as one function of scores."""
    if given == []:
        return None
    metrics = find_metrics(given, "lightgbm", len(description.loss.classes))

    def evaluate(y: Array, scores: Array, weight: Array | None = None) -> Values:
        sample = EvaluatedSample(description, scores, y.astype(np.intp), weight)
        return [value for metric in metrics for value in _values(metric, y, sample)]

    return evaluate


def _values(metric: Metric, y: Array, sample: EvaluatedSample) -> Values:
    if isinstance(metric, EvalMetric):
        return [(metric.name, metric.compute(sample), metric.higher_is_better)]
    arguments = (y, sample.library_proba, sample.weight, None)  # labels, scores, weight, group
    values = metric(*arguments[: len(signature(metric).parameters)])
    return values if isinstance(values, list) else [values]
