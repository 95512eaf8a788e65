"""IMMAX and the methods of the catalogue for LightGBM."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from immax.boosting.loss import BoostingLoss, check_rule, make_loss
from immax.boosting.metrics import METRICS

try:
    from lightgbm import Booster, LGBMClassifier
except ModuleNotFoundError as error:
    raise ImportError('immax.boosting needs LightGBM: pip install "immax[boosting]"') from error

__all__ = ["IMMAXLGBMClassifier"]

Array = NDArray[Any]


class IMMAXLGBMClassifier(LGBMClassifier):
    """``LGBMClassifier`` with a margin for each class, or with any method of the catalogue.

    Every other parameter, ``fit``'s arguments among them, is LightGBM's. Boosting begins at the
    constant scores that minimise the loss; LightGBM's model file does not hold them, so that they
    are kept beside it, and its ``predict(raw_score=True)`` lacks them.

    Parameters
    ----------
    method, margins, power, rule, method_params
        As in IMMAXXGBClassifier.
    **kwargs
        Parameters of LGBMClassifier, but for ``objective``, which the method takes the place of.

    Attributes
    ----------
    margins_ : ndarray of shape (n_classes,)
        For method "immax".
    loss_ : BoostingLoss

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = IMMAXLGBMClassifier(n_estimators=20, power=0.2, verbose=-1).fit(X, y)
    >>> bool(model.score(X, y) > 0.98)
    True
    """

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
        super().__init__(**kwargs)
        self.method = method
        self.margins = margins
        self.power = power
        self.rule = rule
        self.method_params = method_params

    def _process_params(self, stage: str) -> dict[str, Any]:
        """LightGBM's own parameters."""
        params = super()._process_params(stage)
        return {name: value for name, value in params.items() if name not in OWN}

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        init_score: Any = None,
        eval_set: Any = None,
        *,
        eval_init_score: Any = None,
        eval_metric: Any = None,
        **options: Any,
    ) -> Self:
        """As LGBMClassifier's; see there for the other arguments."""
        check_rule(self.rule)
        if self.objective is not None:
            raise ValueError("objective is given by the method; leave it at None")
        if self.n_estimators < 1:
            raise ValueError(f"n_estimators must be at least 1; got {self.n_estimators!r}")
        loss = make_loss(
            y,
            None if sample_weight is None else np.asarray(sample_weight, dtype=float),
            method=self.method,
            method_params=self.method_params,
            margins=self.margins,
            power=self.power,
            seed=self.random_state if isinstance(self.random_state, int) else 0,
        )
        sets = [eval_set] if isinstance(eval_set, tuple) else eval_set
        for number, (_, labels) in enumerate(sets or ()):
            loss.codes(labels, f"eval_set[{number}]")
        if sets and eval_init_score is None:
            eval_init_score = [_start(loss, len(labels)) for _, labels in sets]
        self.objective = self._objective = _objective(loss)
        try:
            super().fit(
                X,
                y,
                sample_weight=sample_weight,
                init_score=_start(loss, len(y)) if init_score is None else init_score,
                eval_set=sets,
                eval_init_score=eval_init_score,
                eval_metric=_metric(eval_metric, loss),
                **options,
            )
        finally:
            self.objective = None
        self._keep(loss)
        return self

    def _keep(self, loss: BoostingLoss) -> None:
        self.loss_ = loss
        self.margins_ = loss.spec.temperature if loss.spec.name == "immax" else None

    def decision_function(self, X: Any, **options: Any) -> Array:
        """Scores: shape (n,) for two classes, the score of ``classes_[1]``; else (n, c)."""
        scores = np.asarray(super().predict_proba(X, raw_score=True, **options))
        return scores + (self.loss_.constants[0] if self.loss_.binary else self.loss_.constants)

    def predict(self, X: Any, raw_score: bool = False, **options: Any) -> Any:
        """Labels, by ``rule``; scores with ``raw_score``; leaves and contributions as LightGBM."""
        if options.get("pred_leaf") or options.get("pred_contrib"):
            return super().predict_proba(X, **options)
        scores = self.decision_function(X, **options)
        return scores if raw_score else self.loss_.labels(scores, self.rule)

    def predict_proba(self, X: Any, raw_score: bool = False, **options: Any) -> Any:
        """Class probabilities, shape (n, c)."""
        if raw_score or options.get("pred_leaf") or options.get("pred_contrib"):
            return self.predict(X, raw_score, **options)
        return self.loss_.proba(self.decision_function(X, **options))

    def save_model(self, path: str | Path) -> None:
        """LightGBM's own file, and beside it ``.immax.json`` with margins, classes and start."""
        self.booster_.save_model(path)
        self.loss_.save(path)

    def load_model(self, path: str | Path) -> None:
        """What ``save_model`` wrote."""
        loss = BoostingLoss.load(path)
        booster = Booster(model_file=str(path))
        self._Booster = booster
        self._n_features = self._n_features_in = booster.num_feature()
        self._best_iteration = booster.best_iteration
        self._classes, self._n_classes = loss.classes, len(loss.classes)
        self._objective = "None"
        self.fitted_ = True
        self._keep(loss)


OWN = ("method", "margins", "power", "rule", "method_params")


def _start(loss: BoostingLoss, n: int) -> Array:
    if loss.binary:
        return np.full(n, loss.constants[0])
    return np.tile(loss.constants, (n, 1))


def _objective(loss: BoostingLoss) -> Callable[..., tuple[Array, Array]]:
    c = len(loss.classes)
    factor = 1.0 if loss.binary else c / (c - 1)  # LightGBM's softmax has it

    def objective(y: Array, scores: Array, weight: Any = None) -> tuple[Array, Array]:
        return loss.pairs(scores, y.astype(np.intp), weight, factor)

    return objective


def _metric(given: Any, loss: BoostingLoss) -> Any:
    names = dict.fromkeys(("logloss", "binary_logloss", "multi_logloss"), "log_loss")
    names |= dict.fromkeys(("error", "binary_error", "multi_error"), "error")
    name = "logloss" if given is None else given
    if not isinstance(name, str) or name not in names:
        return given
    function = METRICS[names[name]]

    def metric(y: Array, scores: Array, weight: Any = None) -> tuple[str, float, bool]:
        return name, function(loss, scores, y.astype(np.intp), weight), False

    return metric
