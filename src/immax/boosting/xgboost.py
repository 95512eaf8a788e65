"""IMMAX and the methods of the catalogue for XGBoost."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Tags

from immax.arrays import Array, Features
from immax.boosting.boosters import attach, find_description, has_description
from immax.boosting.description import Description, read_file_beside
from immax.boosting.estimator import LOSS_PARAMETERS, BoostingLossMixin, check_library_parameters
from immax.boosting.eval_metrics import EvalMetric, EvaluatedSample, find_metrics
from immax.boosting.loss import BoostingLoss, Margins
from immax.boosting.pairs import hessian_factor
from immax.decisions.aims import Aim
from immax.decisions.decided_model import check_decides
from immax.documentation import DocumentationLink

try:
    from xgboost import Booster, DMatrix, XGBClassifier
except ModuleNotFoundError as error:
    raise ImportError('immax.boosting needs XGBoost: pip install "immax[boosting]"') from error

__all__ = ["IMMAXXGBClassifier", "mark_booster"]


Objective = Callable[[Array, Array, Array | None], tuple[Array, Array]]
Evaluation = Callable[[Array, DMatrix], list[tuple[str, float]]]
RESERVED = ("objective", "base_score", "num_class")
FILE_TYPE = "IMMAXXGBClassifier, which loads it, as does xgboost.Booster for immax.boosting.proba"
RAW_SCORES = "reg:squarederror"
"""The objective that boosters name: it leaves scores as they are, as no other of XGBoost's does."""


class IMMAXXGBClassifier(DocumentationLink, XGBClassifier, BoostingLossMixin):
    """``XGBClassifier`` with a margin for each class, or with any method of the catalogue.

    All other parameters, and the arguments of ``fit``, are XGBoost's. Labels may be of any type.
    Boosting begins at the constant scores that minimise the loss, which are the model's
    ``base_score``.

    Parameters
    ----------
    method : str, default="immax"
        A key of ``immax.losses.catalog.METHODS``.
    margins : "theory", "equal", array-like or dict, default="theory"
        As in IMMAXClassifier. "theory" and "equal" have mean one: equal margins are XGBoost's own
        objective. Margins that you pass are not rescaled.
    power : float, optional
        Margins ``rho_k ∝ n_k^power`` of mean one, instead of ``margins``.
    rule : {"score", "bayes"}, default="score"
        Whether ``predict`` returns the class of the highest score or of the highest probability.
    aim : str or Aim, optional
        What decisions are for, in place of ``rule``: "balanced_accuracy", "f1", ``Costs(…)`` and
        the other aims of ``immax.decisions``. Rules without a closed form are fitted to
        out-of-fold probabilities.
    costs : array-like of shape (n_classes,) or (n_classes, n_classes), optional
        For rule="bayes", the costs of errors, as in IMMAXClassifier.
    cv : int, splitter or iterable, default=5
        The folds for aims without a closed form, such as "f1": one further fit per fold.
    method_params : dict, optional
        Hyper-parameters of methods other than "immax".
    **kwargs
        Parameters of XGBClassifier, except ``objective`` and ``base_score``, which the method
        determines, and ``scale_pos_weight``, which the link would not undo. ``eval_metric`` is by
        default the log-loss of the link's probabilities. Names, callables and lists of them are
        evaluated with these probabilities and with the rule's labels.

    Attributes
    ----------
    margins_ : ndarray of shape (n_classes,), or None
        The margins of method "immax".
    loss_ : BoostingLoss
        The loss that was boosted.
    rule_ : Rule or None
        The rule by which probabilities become labels; None if the highest score decides.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = IMMAXXGBClassifier(n_estimators=20, power=0.2).fit(X, y)
    >>> bool(model.score(X, y) > 0.98)
    True
    """

    objective: Objective | None
    base_score: list[float] | None
    eval_metric: Any
    _evaluation: Evaluation | None = None
    _fold_options: ClassVar[tuple[str, ...]] = ("feature_weights",)
    _sample_options: ClassVar[tuple[str, ...]] = ("base_margin", "xgb_model")

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
        super().__init__(**{"objective": None, **kwargs})
        self._set_loss_parameters(method, margins, power, rule, aim, costs, cv, method_params)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = False
        return tags

    def get_xgb_params(self) -> dict[str, Any]:
        """Return XGBoost's own parameters, without those of the loss.

        Returns
        -------
        dict
        """
        params = super().get_xgb_params()
        return {name: value for name, value in params.items() if name not in LOSS_PARAMETERS}

    def fit(
        self,
        X: Features,
        y: ArrayLike,
        *,
        sample_weight: ArrayLike | None = None,
        eval_set: Sequence[tuple[Features, ArrayLike]] | None = None,
        sample_weight_eval_set: Sequence[ArrayLike] | None = None,
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
        eval_set : sequence of (X, y), optional
            Evaluation sets.
        sample_weight_eval_set : sequence of array-like, optional
            Sample weights of the evaluation sets.
        **options
            Other arguments of ``XGBClassifier.fit``.

        Returns
        -------
        IMMAXXGBClassifier
            The fitted estimator.
        """
        check_library_parameters(self.get_params(), RESERVED, "n_estimators")
        early, codes = self._make_loss(X, y, sample_weight, self.random_state)
        loss = early.loss
        sets = loss.encode_sets(eval_set or ())
        given = self.eval_metric
        self._evaluation = _evaluation(given, early)
        self.objective, self.base_score = _objective(loss, codes), _base_score(loss)
        self.eval_metric = None
        try:
            super().fit(
                X,
                codes,
                sample_weight=sample_weight,
                eval_set=sets or None,
                sample_weight_eval_set=sample_weight_eval_set,
                **options,
            )
        finally:
            self.objective = self.base_score = self._evaluation = None
            self.eval_metric = given
        self._set_loss(loss, self._choose_rule(loss, X, codes, sample_weight, options))
        attach(self.get_booster(), self._description())
        mark_booster(self.get_booster())
        return self

    def _configure_fit(self, *arguments: Any) -> Any:
        """Let the booster leave scores as they are, and evaluate our metrics alone."""
        model, _, params, feature_weights = super()._configure_fit(*arguments)
        params |= {"objective": RAW_SCORES, "disable_default_eval_metric": True}
        return model, self._evaluation, params, feature_weights

    def _fold_parameters(self) -> dict[str, Any]:
        rounds = self.get_booster().attr("best_iteration")
        stopped = {} if rounds is None else {"n_estimators": int(rounds) + 1}
        return {**stopped, "early_stopping_rounds": None, "callbacks": None}

    @property
    def classes_(self) -> Array:
        """The labels, sorted."""
        return self.loss_.classes if hasattr(self, "loss_") else super().classes_

    def decision_function(self, X: Features, **options: Any) -> Array:
        """Return the scores of samples.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Features.
        **options
            Other arguments of ``XGBClassifier.predict``.

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
        return np.asarray(super().predict(X, output_margin=True, **options))

    def predict(self, X: Features, output_margin: bool = False, **options: Any) -> Array:
        """Return labels by ``rule`` or ``aim``.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Features.
        output_margin : bool, default=False
            Whether to return scores.
        **options
            Other arguments of ``XGBClassifier.predict``.

        Returns
        -------
        ndarray of shape (n,)
            For scores, of the shape that ``decision_function`` returns.
        """
        scores = self.decision_function(X, **options)
        return scores if output_margin else self._description().predict(scores)

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

    def predict_proba(self, X: Features, **options: Any) -> Array:
        """Return class probabilities by the link.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Features.
        **options
            Other arguments of ``XGBClassifier.predict``.

        Returns
        -------
        ndarray of shape (n, n_classes)
        """
        return self._fitted_loss().proba(self.decision_function(X, **options))

    def save_model(self, fname: str | Path) -> None:
        """Save the model in XGBoost's own format, with a description of its scores.

        ``load_model`` of an IMMAXXGBClassifier and ``xgboost.Booster`` read it; a plain
        XGBClassifier, whose probabilities would be wrong, refuses it. So it does with what
        ``get_booster().save_model`` writes.

        Parameters
        ----------
        fname : str or Path
            The file to write.
        """
        booster = self.get_booster()
        attach(booster, self._description())
        mark_booster(booster)
        booster.save_model(fname)

    def load_model(self, fname: str | Path | bytearray) -> None:
        """Read a file that ``save_model`` wrote.

        Parameters
        ----------
        fname : str, Path or bytearray
            The file, or its contents.

        Raises
        ------
        ValueError
            If the model does not say what its scores mean.
        """
        booster = Booster({"n_jobs": self.n_jobs})
        booster.load_model(fname)
        if not has_description(booster):
            self._set_loss(read_file_beside(str(fname)).loss, None)
        else:
            self._set_description(find_description(booster))
        mark_booster(booster)
        self._Booster = booster
        self._load_model_attributes(json.loads(booster.save_config()))
        self.objective = self.base_score = None
        self.n_classes_ = len(self.loss_.classes)


def mark_booster(booster: Booster) -> None:
    """Mark a booster so that a plain XGBClassifier refuses the files it writes.

    Parameters
    ----------
    booster : xgboost.Booster
        Of an estimator of this package.
    """
    booster.set_attr(scikit_learn=json.dumps({"_estimator_type": FILE_TYPE}))


def _objective(loss: BoostingLoss, codes: Array) -> Objective:
    """Return the objective of a training sample; XGBoost has its labels in single precision."""
    factor = hessian_factor("xgboost", len(loss.classes))

    def objective(
        _: Array, scores: Array, sample_weight: Array | None = None
    ) -> tuple[Array, Array]:
        return loss.pairs(scores, codes, sample_weight, factor)

    return objective


def _base_score(loss: BoostingLoss) -> list[float]:
    return [float(score) for score in loss.constants]


def _evaluation(given: object, description: Description) -> Evaluation:
    """Return the user's metrics as one function of scores."""
    metrics = find_metrics(given, "xgboost", len(description.loss.classes))

    def evaluate(scores: Array, data: DMatrix) -> list[tuple[str, float]]:
        labels, weight = data.get_label(), data.get_weight()
        weights = weight if weight.size else None
        sample = EvaluatedSample(description, scores, labels.astype(np.intp), weights)
        own = {} if weights is None else {"sample_weight": weights}
        return [
            (metric.name, metric.compute(sample))
            if isinstance(metric, EvalMetric)
            else (metric.__name__, metric(labels, sample.library_proba, **own))
            for metric in metrics
        ]

    return evaluate
