"""IMMAX and the methods of the catalogue for XGBoost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from immax.arrays import Array
from immax.boosting.eval_metrics import METRICS
from immax.boosting.loss import OWN, BoostingLoss, LossOwner, check_given

try:
    from xgboost import XGBClassifier
except ModuleNotFoundError as error:
    raise ImportError('immax.boosting needs XGBoost: pip install "immax[boosting]"') from error

__all__ = ["IMMAXXGBClassifier"]


class IMMAXXGBClassifier(XGBClassifier, LossOwner):
    """``XGBClassifier`` with a margin for each class, or with any method of the catalogue.

    Every other parameter, ``fit``'s arguments among them, is XGBoost's. Labels may be of any kind.
    Boosting begins at the constant scores that minimise the loss, which are the model's
    ``base_score``.

    Parameters
    ----------
    method : str, default="immax"
        A key of ``immax.losses.catalog.METHODS``.
    margins : "theory", "equal", array-like or dict, default="theory"
        As in IMMAXClassifier, scaled to a mean of one: equal margins are XGBoost's own objective.
    power : float, optional
        Instead of margins: ``rho_k ∝ n_k^power``.
    rule : {"score", "bayes"}, default="score"
        How ``predict`` decides.
    method_params : dict, optional
        Hyper-parameters of methods other than "immax".
    **kwargs
        Parameters of XGBClassifier, but for ``objective``, ``base_score`` and
        ``scale_pos_weight``, which the method takes the place of. ``eval_metric`` is by default
        the link's log-loss; "logloss", "mlogloss", "error" and "merror" are those of the link's
        probabilities and of the labels.

    Attributes
    ----------
    margins_ : ndarray of shape (n_classes,)
        For method "immax".
    loss_ : BoostingLoss

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = IMMAXXGBClassifier(n_estimators=20, power=0.2).fit(X, y)
    >>> bool(model.score(X, y) > 0.98)
    True
    """

    objective: Any
    base_score: Any
    eval_metric: Any

    def __init__(
        self,
        *,
        method: str = "immax",
        margins: Any = "theory",
        power: float | None = None,
        rule: str = "score",
        method_params: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**{"objective": None, **kwargs})
        self._set_own(method, margins, power, rule, method_params)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = False
        return tags

    def get_xgb_params(self) -> dict[str, Any]:
        """XGBoost's own parameters."""
        params = super().get_xgb_params()
        return {name: value for name, value in params.items() if name not in OWN}

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        eval_set: Any = None,
        sample_weight_eval_set: Any = None,
        **options: Any,
    ) -> Self:
        """As XGBClassifier's; see there for the other arguments."""
        taken = ("objective", "base_score", "scale_pos_weight")
        check_given(self.get_params(), taken, "n_estimators")
        loss, codes = self._make_loss(X, y, sample_weight, self.random_state)
        encoded = loss.encoded(eval_set or ())
        given = self.eval_metric
        self.objective = _objective(loss, codes)
        self.base_score = _base_score(loss)
        self.eval_metric = _metric(given, loss)
        try:
            super().fit(
                X,
                codes,
                sample_weight=sample_weight,
                eval_set=encoded or None,
                sample_weight_eval_set=sample_weight_eval_set,
                **options,
            )
        finally:
            self.objective = self.base_score = None
            self.eval_metric = given
        self._keep(loss)
        return self

    @property
    def classes_(self) -> Array:
        return self.loss_.classes if hasattr(self, "loss_") else super().classes_

    def decision_function(self, X: Any, **options: Any) -> Array:
        """Scores: shape (n,) for two classes, the score of ``classes_[1]``; else (n, c)."""
        self._known_loss()
        return np.asarray(super().predict(X, output_margin=True, **options))

    def predict(self, X: Any, output_margin: bool = False, **options: Any) -> Array:
        """Labels, by ``rule``; scores with ``output_margin``."""
        scores = self.decision_function(X, **options)
        return scores if output_margin else self._known_loss().labels(scores, self.rule)

    def predict_proba(self, X: Any, **options: Any) -> Array:
        """Class probabilities, shape (n, c)."""
        return self._known_loss().proba(self.decision_function(X, **options))

    def save_model(self, fname: Any) -> None:
        """XGBoost's own file, and beside it ``.immax.json`` with margins and classes."""
        super().save_model(fname)
        self._known_loss().save(fname)

    def load_model(self, fname: Any) -> None:
        """What ``save_model`` wrote."""
        loss = BoostingLoss.load(fname)
        super().load_model(fname)
        self.objective = None
        self._keep(loss)
        self.n_classes_ = len(loss.classes)


def _objective(loss: BoostingLoss, codes: Array) -> Callable[..., tuple[Array, Array]]:
    """Of the training sample with these codes, which XGBoost would give in single precision."""
    factor = 1.0 if loss.binary else 2.0  # XGBoost's softmax has it

    def objective(_: Array, scores: Array, sample_weight: Any = None) -> tuple[Array, Array]:
        return loss.pairs(scores, codes, sample_weight, factor)

    return objective


def _base_score(loss: BoostingLoss) -> Any:
    if not loss.binary:
        return [float(score) for score in loss.constants]
    return float(1 / (1 + np.exp(-loss.constants[0])))


def _metric(given: Any, loss: BoostingLoss) -> Any:
    names = {"logloss": "log_loss", "mlogloss": "log_loss", "error": "error", "merror": "error"}
    given = "logloss" if given is None else given
    if isinstance(given, str) and given in names:
        function = METRICS[names[given]]

        def metric(y: Array, scores: Array, sample_weight: Any = None) -> float:
            return function(loss, scores, y.astype(np.intp), sample_weight)

        metric.__name__ = given
        return metric
    return given
