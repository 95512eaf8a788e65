"""IMMAX and the methods of the catalogue for LightGBM."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import Any, Self

import numpy as np

from immax.arrays import Array
from immax.boosting.eval_metrics import METRICS
from immax.boosting.loss import OWN, BoostingLoss, LossOwner, check_given

try:
    from lightgbm import Booster, LGBMClassifier
except ModuleNotFoundError as error:
    raise ImportError('immax.boosting needs LightGBM: pip install "immax[boosting]"') from error

__all__ = ["IMMAXLGBMClassifier"]


class IMMAXLGBMClassifier(LGBMClassifier, LossOwner):
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

    objective: Any
    _objective: Any

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
        self._set_own(method, margins, power, rule, method_params)

    def _process_params(self, stage: str) -> dict[str, Any]:
        """LightGBM's own parameters."""
        params = super()._process_params(stage)
        if params.get("metric") in ("binary_logloss", "multi_logloss"):
            params["metric"] = "None"  # its own, which takes scores for something else
        # With nothing left to split, an objective that is not its own fails.
        params.setdefault("feature_pre_filter", False)
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
        check_given(self.get_params(), ("objective",), "n_estimators")
        loss, codes = self._make_loss(X, y, sample_weight, self.random_state)
        sets = loss.encoded(_pairs(eval_set, options))
        if sets and eval_init_score is None:
            eval_init_score = [loss.start(len(own)) for _, own in sets]
        self.objective = self._objective = _Objective(loss)
        try:
            super().fit(
                X,
                codes,
                sample_weight=sample_weight,
                init_score=loss.start(len(codes)) if init_score is None else init_score,
                **_as_it_wants(sets),
                eval_init_score=eval_init_score,
                eval_metric=_metric(eval_metric, loss),
                **options,
            )
        finally:
            self.objective = None
        self._classes = loss.classes
        self._keep(loss)
        return self

    def decision_function(self, X: Any, **options: Any) -> Array:
        """Scores: shape (n,) for two classes, the score of ``classes_[1]``; else (n, c)."""
        loss = self._known_loss()
        scores = np.asarray(super().predict_proba(X, raw_score=True, **options))
        return scores + (loss.constants[0] if loss.binary else loss.constants)

    def predict(self, X: Any, raw_score: bool = False, **options: Any) -> Any:
        """Labels, by ``rule``; scores with ``raw_score``; leaves and contributions as LightGBM."""
        if options.get("pred_leaf") or options.get("pred_contrib"):
            return super().predict_proba(X, **options)
        scores = self.decision_function(X, **options)
        return scores if raw_score else self._known_loss().labels(scores, self.rule)

    def predict_proba(self, X: Any, raw_score: bool = False, **options: Any) -> Any:
        """Class probabilities, shape (n, c)."""
        if raw_score or options.get("pred_leaf") or options.get("pred_contrib"):
            return self.predict(X, raw_score, **options)
        return self._known_loss().proba(self.decision_function(X, **options))

    def save_model(self, path: str | Path) -> None:
        """LightGBM's own file, and beside it ``.immax.json`` with margins, classes and start."""
        self.booster_.save_model(path)
        self._known_loss().save(path)

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


def _pairs(eval_set: Any, options: dict[str, Any]) -> list[Any]:
    """Features and labels, from either of LightGBM's ways to give them."""
    X, y = options.pop("eval_X", None), options.pop("eval_y", None)
    if X is not None:
        return list(zip(X, y, strict=True)) if isinstance(X, tuple) else [(X, y)]
    return [eval_set] if isinstance(eval_set, tuple) else list(eval_set or ())


def _as_it_wants(sets: list[Any]) -> dict[str, Any]:
    """Newer versions want features and labels apart."""
    if not sets:
        return {}
    if "eval_X" not in signature(LGBMClassifier.fit).parameters:
        return {"eval_set": sets}
    return {"eval_X": tuple(X for X, _ in sets), "eval_y": tuple(y for _, y in sets)}


@dataclass(frozen=True)
class _Objective:
    """An object rather than a function, so that a fitted estimator can be pickled."""

    loss: BoostingLoss

    def __call__(self, y: Array, scores: Array, weight: Any = None) -> tuple[Array, Array]:
        c = len(self.loss.classes)
        factor = 1.0 if self.loss.binary else c / (c - 1)  # LightGBM's softmax has it
        return self.loss.pairs(scores, y.astype(np.intp), weight, factor)


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
