"""IMMAX and the methods of the catalogue for LightGBM."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from immax.arrays import Array, Features
from immax.boosting.estimator import LOSS_PARAMETERS, BoostingLossMixin, check_library_parameters
from immax.boosting.eval_metrics import EVAL_METRICS
from immax.boosting.loss import BoostingLoss, Margins
from immax.boosting.pairs import hessian_factor

try:
    from lightgbm import Booster, LGBMClassifier
except ModuleNotFoundError as error:
    raise ImportError('immax.boosting needs LightGBM: pip install "immax[boosting]"') from error

__all__ = ["IMMAXLGBMClassifier"]


EvalSet = tuple[Features, ArrayLike]
Metric = str | Callable[..., tuple[str, float, bool]] | Sequence[object] | None


class IMMAXLGBMClassifier(LGBMClassifier, BoostingLossMixin):
    """``LGBMClassifier`` with a margin for each class, or with any method of the catalogue.

    All other parameters, and the arguments of ``fit``, are LightGBM's. Boosting begins at the
    constant scores that minimise the loss. LightGBM's model file does not contain them: they are
    saved next to it, and the booster's own ``predict(raw_score=True)`` lacks them.

    Parameters
    ----------
    method, margins, power, rule, method_params
        As in IMMAXXGBClassifier.
    **kwargs
        Parameters of LGBMClassifier, except ``objective``, which the method determines.

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
    >>> model = IMMAXLGBMClassifier(n_estimators=20, power=0.2, verbose=-1).fit(X, y)
    >>> bool(model.score(X, y) > 0.98)
    True
    """

    objective: _Objective | None
    _objective: _Objective | str

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
        super().__init__(**kwargs)
        self._set_loss_parameters(method, margins, power, rule, method_params)

    def _process_params(self, stage: str) -> dict[str, Any]:
        """Return LightGBM's own parameters, without those of the loss."""
        params = super()._process_params(stage)
        if params.get("metric") in ("binary_logloss", "multi_logloss"):
            params["metric"] = "None"  # LightGBM's own, which misreads the scores
        # With nothing left to split, a custom objective fails.
        params.setdefault("feature_pre_filter", False)
        return {name: value for name, value in params.items() if name not in LOSS_PARAMETERS}

    def fit(
        self,
        X: Features,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        init_score: ArrayLike | None = None,
        eval_set: EvalSet | Sequence[EvalSet] | None = None,
        *,
        eval_init_score: Sequence[ArrayLike] | None = None,
        eval_metric: Metric = None,
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
        eval_metric : str or callable, optional
            By default the log-loss of the link's probabilities.
        **options
            Other arguments of ``LGBMClassifier.fit``.

        Returns
        -------
        IMMAXLGBMClassifier
            The fitted estimator.
        """
        check_library_parameters(self.get_params(), ("objective",), "n_estimators")
        loss, codes = self._make_loss(X, y, sample_weight, self.random_state)
        sets = loss.encode_sets(_evaluation_sets(eval_set, options))
        if sets and eval_init_score is None:
            eval_init_score = [loss.starting_scores(len(own)) for _, own in sets]
        self.objective = self._objective = _Objective(loss)
        try:
            super().fit(
                X,
                codes,
                sample_weight=sample_weight,
                init_score=loss.starting_scores(len(codes)) if init_score is None else init_score,
                **_evaluation_arguments(sets),
                eval_init_score=eval_init_score,
                eval_metric=_eval_metric(eval_metric, loss),
                **options,
            )
        finally:
            self.objective = None
        self._classes = loss.classes
        self._set_loss(loss)
        return self

    def decision_function(self, X: Features, **options: Any) -> Array:
        """Return scores: shape (n,) for two classes, those of ``classes_[1]``; else (n, c)."""
        loss = self._fitted_loss()
        scores = np.asarray(super().predict_proba(X, raw_score=True, **options))
        return scores + (loss.constants[0] if loss.binary else loss.constants)

    def predict(self, X: Features, raw_score: bool = False, **options: Any) -> Array:
        """Return labels by ``rule``, or scores with ``raw_score``.

        With ``pred_leaf`` and ``pred_contrib``, leaves and contributions as LightGBM.
        """
        if options.get("pred_leaf") or options.get("pred_contrib"):
            return super().predict_proba(X, **options)
        scores = self.decision_function(X, **options)
        return scores if raw_score else self._predict_labels(scores)

    def predict_proba(self, X: Features, raw_score: bool = False, **options: Any) -> Array:
        """Return class probabilities, shape (n, c)."""
        if raw_score or options.get("pred_leaf") or options.get("pred_contrib"):
            return self.predict(X, raw_score, **options)
        return self._fitted_loss().proba(self.decision_function(X, **options))

    def save_model(self, path: str | Path) -> None:
        """Write LightGBM's own file, and next to it ``.immax.json`` with margins and classes."""
        self.booster_.save_model(path)
        self._fitted_loss().save(path)

    def load_model(self, path: str | Path) -> None:
        """Read the files that ``save_model`` wrote."""
        loss = BoostingLoss.load(path)
        booster = Booster(model_file=str(path))
        self._Booster = booster
        self._n_features = self._n_features_in = booster.num_feature()
        self._best_iteration = booster.best_iteration
        self._classes, self._n_classes = loss.classes, len(loss.classes)
        self._objective = "None"
        self.fitted_ = True
        self._set_loss(loss)


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
class _Objective:
    """An object rather than a function, so that a fitted estimator can be pickled."""

    loss: BoostingLoss

    def __call__(self, y: Array, scores: Array, weight: Array | None = None) -> tuple[Array, Array]:
        factor = hessian_factor("lightgbm", len(self.loss.classes))
        return self.loss.pairs(scores, y.astype(np.intp), weight, factor)


def _eval_metric(given: Metric, loss: BoostingLoss) -> Metric:
    """Return our metric of the same name in place of LightGBM's, which misreads the scores."""
    names = dict.fromkeys(("logloss", "binary_logloss", "multi_logloss"), "log_loss")
    names |= dict.fromkeys(("error", "binary_error", "multi_error"), "error")
    name = "logloss" if given is None else given
    if not isinstance(name, str) or name not in names:
        return given
    function = EVAL_METRICS[names[name]]

    def metric(y: Array, scores: Array, weight: Array | None = None) -> tuple[str, float, bool]:
        return name, function(loss, scores, y.astype(np.intp), weight), False

    return metric
