"""IMMAX and the methods of the catalogue for CatBoost."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from immax.arrays import Array, Features
from immax.boosting.derivatives import SampleDerivatives, TwoClassDerivatives
from immax.boosting.estimator import LOSS_PARAMETERS, BoostingLossMixin, check_library_parameters
from immax.boosting.eval_metrics import log_loss
from immax.boosting.loss import BoostingLoss, Margins

try:
    from catboost import CatBoostClassifier, Pool
except ModuleNotFoundError as error:
    raise ImportError('immax.boosting needs CatBoost: pip install "immax[boosting]"') from error

__all__ = ["IMMAXCatBoostClassifier"]


EvalSet = tuple[Features, ArrayLike]


class IMMAXCatBoostClassifier(CatBoostClassifier, BoostingLossMixin):
    """``CatBoostClassifier`` with a margin for each class, or with a method of the catalogue.

    All other parameters are CatBoost's. Boosting begins at the constant scores that minimise the
    loss, which become the model's bias. With three classes or more, CatBoost calls a Python
    objective sample by sample: it is slower than CatBoost's own, and threads would only wait for
    each other, so one thread is used unless ``thread_count`` is set.

    Parameters
    ----------
    method, margins, power, rule, method_params
        As in IMMAXXGBClassifier; method "equal", whose loss is random, is not available.
    **kwargs
        Parameters of CatBoostClassifier, except ``loss_function``, ``class_weights``,
        ``auto_class_weights`` and ``scale_pos_weight``, which the method determines. By default
        leaves are estimated as for CatBoost's own objectives, and ``learning_rate`` is 0.03:
        CatBoost chooses one automatically for its own objectives only.

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
    >>> model = IMMAXCatBoostClassifier(iterations=20, learning_rate=0.3, verbose=False)
    >>> bool(model.fit(X, y).score(X, y) > 0.97)
    True
    """

    _init_params: dict[str, Any]

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

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002
        """Return the parameters of CatBoost and of the loss."""
        own = {name: getattr(self, name) for name in LOSS_PARAMETERS}
        return {**super().get_params(), **own}

    def set_params(self, **params: Any) -> Self:
        """Set parameters of CatBoost and of the loss."""
        for name in LOSS_PARAMETERS:
            if name in params:
                setattr(self, name, params.pop(name))
        if params:
            super().set_params(**params)
        return self

    def __getstate__(self) -> dict[str, Any]:
        names = (*LOSS_PARAMETERS, "loss_")
        own = {name: getattr(self, name) for name in names if hasattr(self, name)}
        return {**super().__getstate__(), "_immax": own}

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        own = state.pop("_immax", {})
        super().__setstate__(state)
        for name, value in own.items():
            setattr(self, name, value)
        if "loss_" in own:
            self._set_loss(own["loss_"])

    def fit(
        self,
        X: Features,
        y: ArrayLike,
        cat_features: Sequence[int | str] | None = None,
        sample_weight: ArrayLike | None = None,
        eval_set: EvalSet | Sequence[EvalSet] | None = None,
        **options: Any,
    ) -> Self:
        """Fit the model to features and labels; a ``Pool`` is not accepted.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Features.
        y : array-like of shape (n,)
            Labels of any type.
        cat_features : sequence of int or str, optional
            The categorical features.
        sample_weight : array-like of shape (n,), optional
            Sample weights.
        eval_set : (X, y) or a sequence of them, optional
            Evaluation sets.
        **options
            Other arguments of ``CatBoostClassifier.fit``.

        Returns
        -------
        IMMAXCatBoostClassifier
            The fitted estimator.
        """
        params = super().get_params()
        reserved = ("loss_function", "class_weights", "auto_class_weights", "scale_pos_weight")
        rounds = "iterations" if "iterations" in params else "n_estimators"
        check_library_parameters(params, reserved, rounds)
        seed = params.get("random_seed", params.get("random_state"))
        loss, codes = self._make_loss(X, y, sample_weight, seed)
        if loss.spec.random:
            raise ValueError("method='equal' has a random loss, which CatBoost does not support")
        cat_features = params.get("cat_features") if cat_features is None else cat_features
        pool = _make_pool(X, codes, cat_features, sample_weight, loss)
        sets = [eval_set] if isinstance(eval_set, tuple) else eval_set
        pools = [
            _make_pool(data, own, cat_features, None, loss)
            for data, own in loss.encode_sets(sets or ())
        ]
        given = self._init_params
        self._init_params = {
            "leaf_estimation_method": "Newton",
            "leaf_estimation_iterations": 10 if loss.binary else 1,
            "eval_metric": _LogLoss(loss),
            **({} if loss.binary else {"classes_count": len(loss.classes), "thread_count": 1}),
            **{name: value for name, value in given.items() if name != "cat_features"},
            "loss_function": _TwoClassObjective(loss) if loss.binary else _Objective(loss),
        }
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # CatBoost warns that it cannot compile these
                super().fit(pool, eval_set=pools or None, **options)
        finally:
            self._init_params = given
        self.set_scale_and_bias(1.0, loss.constants.tolist())
        self._set_loss(loss)
        return self

    @property
    def classes_(self) -> Array:
        """The labels, sorted."""
        return self.loss_.classes if hasattr(self, "loss_") else super().classes_

    def decision_function(self, X: Features, **options: Any) -> Array:
        """Return scores: shape (n,) for two classes, those of ``classes_[1]``; else (n, c)."""
        return np.asarray(super().predict(X, prediction_type="RawFormulaVal", **options))

    def predict(self, X: Features, **options: Any) -> Array:
        """Return labels by ``rule``, or scores with ``prediction_type="RawFormulaVal"``."""
        kind = options.pop("prediction_type", "Class")
        scores = self.decision_function(X, **options)
        if kind == "RawFormulaVal":
            return scores
        if kind == "Probability":
            return self._fitted_loss().proba(scores)
        return self._predict_labels(scores)

    def predict_proba(self, X: Features, **options: Any) -> Array:
        """Return class probabilities, shape (n, c)."""
        return self._fitted_loss().proba(self.decision_function(X, **options))

    def score(self, X: Features, y: ArrayLike) -> float:
        """Return the accuracy."""
        return float(np.mean(self.predict(X) == np.asarray(y)))

    def save_model(self, fname: str | Path, *arguments: Any, **options: Any) -> None:
        """Write CatBoost's own file, and next to it ``.immax.json`` with margins and classes."""
        super().save_model(fname, *arguments, **options)
        self._fitted_loss().save(fname)

    def load_model(self, fname: str | Path, *arguments: Any, **options: Any) -> Self:
        """Read the files that ``save_model`` wrote."""
        loss = BoostingLoss.load(fname)
        super().load_model(fname, *arguments, **options)
        self._set_loss(loss)
        return self


def _make_pool(
    X: Features,
    codes: Array,
    cat_features: Sequence[int | str] | None,
    weight: ArrayLike | None,
    loss: BoostingLoss,
) -> Pool:
    start = loss.starting_scores(len(codes))
    return Pool(X, codes, cat_features=cat_features, weight=weight, baseline=start)


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
    """The objective for three classes or more, which CatBoost evaluates for single samples."""

    def __init__(self, loss: BoostingLoss) -> None:
        self._derivatives = SampleDerivatives(loss.spec)

    def calc_ders_multi(
        self, approxes: ArrayLike, target: float, weight: float
    ) -> tuple[list[float], _LazyHessian]:
        scores, label = np.asarray(approxes), int(target)
        gradient = self._derivatives.gradient(scores, label, weight)
        return gradient, _LazyHessian(self._derivatives, scores, label, weight)


class _LazyHessian:
    """A Hessian that is computed on iteration: CatBoost does not always use it."""

    __slots__ = ("_derivatives", "_scores", "_target", "_weight")

    def __init__(
        self, derivatives: SampleDerivatives, scores: Array, target: int, weight: float
    ) -> None:
        self._derivatives, self._scores = derivatives, scores
        self._target, self._weight = target, weight

    def __iter__(self) -> Iterator[list[float]]:
        return iter(self._derivatives.hessian(self._scores, self._target, self._weight))


class _LogLoss:
    """The log-loss of the link's probabilities, as a metric of CatBoost."""

    def __init__(self, loss: BoostingLoss) -> None:
        self._loss = loss

    def is_max_optimal(self) -> bool:
        return False

    def get_final_error(self, error: float, weight: float) -> float:
        return error / (weight + 1e-38)

    def evaluate(
        self, approxes: Sequence[ArrayLike], target: ArrayLike, weight: ArrayLike | None
    ) -> tuple[float, float]:
        scores = np.stack([np.asarray(part) for part in approxes], axis=1)
        y = np.asarray(target).astype(np.intp)
        w = np.ones(len(y)) if weight is None else np.asarray(weight)
        scores = scores[:, 0] if self._loss.binary else scores
        return log_loss(self._loss, scores, y, w) * float(w.sum()), float(w.sum())
