"""IMMAX and the methods of the catalogue for XGBoost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Tags

from immax.arrays import Array, Features
from immax.boosting.estimator import LOSS_PARAMETERS, BoostingLossMixin, check_library_parameters
from immax.boosting.eval_metrics import EVAL_METRICS
from immax.boosting.loss import BoostingLoss, Margins
from immax.boosting.pairs import hessian_factor

try:
    from xgboost import XGBClassifier
except ModuleNotFoundError as error:
    raise ImportError('immax.boosting needs XGBoost: pip install "immax[boosting]"') from error

__all__ = ["IMMAXXGBClassifier"]


Objective = Callable[[Array, Array, Array | None], tuple[Array, Array]]
Metric = str | Callable[..., float] | Sequence[object] | None


class IMMAXXGBClassifier(XGBClassifier, BoostingLossMixin):
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
        objective. Margins that are given are not rescaled.
    power : float, optional
        Margins ``rho_k ∝ n_k^power`` of mean one, instead of ``margins``.
    rule : {"score", "bayes"}, default="score"
        Whether ``predict`` returns the class of the highest score or of the highest probability.
    method_params : dict, optional
        Hyper-parameters of methods other than "immax".
    **kwargs
        Parameters of XGBClassifier, except ``objective``, ``base_score`` and
        ``scale_pos_weight``, which the method determines. ``eval_metric`` is by default the
        log-loss of the link's probabilities; "logloss" and "mlogloss" are that too, "error" and
        "merror" the error of the labels by score.

    Attributes
    ----------
    margins_ : ndarray of shape (n_classes,), or None
        The margins of method "immax".
    loss_ : BoostingLoss
        The loss that was boosted.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = IMMAXXGBClassifier(n_estimators=20, power=0.2).fit(X, y)
    >>> bool(model.score(X, y) > 0.98)
    True
    """

    objective: Objective | None
    base_score: list[float] | float | None
    eval_metric: Metric

    def __init__(
        self,
        *,
        method: str = "immax",
        margins: Margins = "theory",
        power: float | None = None,
        rule: str = "score",
        method_params: dict[str, float] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**{"objective": None, **kwargs})
        self._set_loss_parameters(method, margins, power, rule, method_params)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = False
        return tags

    def get_xgb_params(self) -> dict[str, Any]:
        """Return XGBoost's own parameters, without those of the loss."""
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
        reserved = ("objective", "base_score", "scale_pos_weight")
        check_library_parameters(self.get_params(), reserved, "n_estimators")
        loss, codes = self._make_loss(X, y, sample_weight, self.random_state)
        sets = loss.encode_sets(eval_set or ())
        given = self.eval_metric
        self.objective = _objective(loss, codes)
        self.base_score = _base_score(loss)
        self.eval_metric = _eval_metric(given, loss)
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
            self.objective = self.base_score = None
            self.eval_metric = given
        self._set_loss(loss)
        return self

    @property
    def classes_(self) -> Array:
        """The labels, sorted."""
        return self.loss_.classes if hasattr(self, "loss_") else super().classes_

    def decision_function(self, X: Features, **options: Any) -> Array:
        """Return scores: shape (n,) for two classes, those of ``classes_[1]``; else (n, c)."""
        self._fitted_loss()
        return np.asarray(super().predict(X, output_margin=True, **options))

    def predict(self, X: Features, output_margin: bool = False, **options: Any) -> Array:
        """Return labels by ``rule``, or scores with ``output_margin``."""
        scores = self.decision_function(X, **options)
        return scores if output_margin else self._predict_labels(scores)

    def predict_proba(self, X: Features, **options: Any) -> Array:
        """Return class probabilities, shape (n, c)."""
        return self._fitted_loss().proba(self.decision_function(X, **options))

    def save_model(self, fname: str | Path) -> None:
        """Write XGBoost's own file, and next to it ``.immax.json`` with margins and classes."""
        super().save_model(fname)
        self._fitted_loss().save(fname)

    def load_model(self, fname: str | Path) -> None:
        """Read the files that ``save_model`` wrote."""
        loss = BoostingLoss.load(fname)
        super().load_model(fname)
        self.objective = None
        self._set_loss(loss)
        self.n_classes_ = len(loss.classes)


def _objective(loss: BoostingLoss, codes: Array) -> Objective:
    """Return the objective of a training sample; XGBoost has its labels in single precision."""
    factor = hessian_factor("xgboost", len(loss.classes))

    def objective(
        _: Array, scores: Array, sample_weight: Array | None = None
    ) -> tuple[Array, Array]:
        return loss.pairs(scores, codes, sample_weight, factor)

    return objective


def _base_score(loss: BoostingLoss) -> list[float] | float:
    if not loss.binary:
        return [float(score) for score in loss.constants]
    return float(1 / (1 + np.exp(-loss.constants[0])))


def _eval_metric(given: Metric, loss: BoostingLoss) -> Metric:
    """Return our metric of the same name in place of XGBoost's, which misreads the scores."""
    names = {"logloss": "log_loss", "mlogloss": "log_loss", "error": "error", "merror": "error"}
    given = "logloss" if given is None else given
    if not isinstance(given, str) or given not in names:
        return given
    function = EVAL_METRICS[names[given]]

    def metric(y: Array, scores: Array, sample_weight: Array | None = None) -> float:
        return function(loss, scores, y.astype(np.intp), sample_weight)

    metric.__name__ = given
    return metric
