"""IMMAX and the methods of the catalogue for CatBoost."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, Self

import numpy as np

from immax.arrays import Array
from immax.boosting.derivatives import TwoClassDerivatives, SampleDerivatives
from immax.boosting.eval_metrics import METRICS
from immax.boosting.loss import OWN, BoostingLoss, LossOwner, check_given

try:
    from catboost import CatBoostClassifier, Pool
except ModuleNotFoundError as error:
    raise ImportError('immax.boosting needs CatBoost: pip install "immax[boosting]"') from error

__all__ = ["IMMAXCatBoostClassifier"]


class IMMAXCatBoostClassifier(CatBoostClassifier, LossOwner):
    """``CatBoostClassifier`` with a margin for each class, or with a method of the catalogue.

    Every other parameter is CatBoost's. Boosting begins at the constant scores that minimise the
    loss, which become the model's bias. CatBoost calls an objective of Python's sample by sample
    for three classes and more, so that it is slower than its own, and its threads would only wait
    for each other: there is one, unless ``thread_count`` says otherwise.

    Parameters
    ----------
    method, margins, power, rule, method_params
        As in IMMAXXGBClassifier; method "equal", which needs draws, is not to be had for three
        classes and more.
    **kwargs
        Parameters of CatBoostClassifier, but for ``loss_function``, ``class_weights``,
        ``auto_class_weights`` and ``scale_pos_weight``, which the method takes the place of.
        Leaves are estimated as for CatBoost's own objectives unless you say otherwise;
        ``learning_rate`` is by default 0.03, for CatBoost chooses one for its own objectives
        only.

    Attributes
    ----------
    margins_ : ndarray of shape (n_classes,)
        For method "immax".
    loss_ : BoostingLoss

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
        margins: Any = "theory",
        power: float | None = None,
        rule: str = "score",
        method_params: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._set_own(method, margins, power, rule, method_params)

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002
        """Of CatBoost and of the method."""
        return {**super().get_params(), **{name: getattr(self, name) for name in OWN}}

    def set_params(self, **params: Any) -> Self:
        """Of CatBoost and of the method."""
        for name in OWN:
            if name in params:
                setattr(self, name, params.pop(name))
        if params:
            super().set_params(**params)
        return self

    def __getstate__(self) -> dict[str, Any]:
        own = {name: getattr(self, name) for name in (*OWN, "loss_") if hasattr(self, name)}
        return {**super().__getstate__(), "_immax": own}

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        own = state.pop("_immax", {})
        super().__setstate__(state)
        for name, value in own.items():
            setattr(self, name, value)
        if "loss_" in own:
            self._keep(own["loss_"])

    def fit(
        self,
        X: Any,
        y: Any,
        cat_features: Any = None,
        sample_weight: Any = None,
        eval_set: Any = None,
        **options: Any,
    ) -> Self:
        """As CatBoostClassifier's, on features and labels rather than a Pool."""
        params = super().get_params()
        taken = ("loss_function", "class_weights", "auto_class_weights", "scale_pos_weight")
        check_given(params, taken, "iterations" if "iterations" in params else "n_estimators")
        seed = params.get("random_seed", params.get("random_state"))
        loss, codes = self._make_loss(X, y, sample_weight, seed)
        if loss.spec.random:
            raise ValueError("method='equal' needs draws, which CatBoost has no place for")
        cat_features = params.get("cat_features") if cat_features is None else cat_features
        pool = _pool(X, codes, cat_features, sample_weight, loss)
        sets = [eval_set] if isinstance(eval_set, tuple) else eval_set
        pools = [
            _pool(data, theirs, cat_features, None, loss)
            for data, theirs in loss.encoded(sets or ())
        ]
        kept = self._init_params
        self._init_params = {
            "leaf_estimation_method": "Newton",
            "leaf_estimation_iterations": 10 if loss.binary else 1,
            "eval_metric": _Metric(loss),
            **({} if loss.binary else {"classes_count": len(loss.classes), "thread_count": 1}),
            **{name: value for name, value in kept.items() if name != "cat_features"},
            "loss_function": _BinaryObjective(loss) if loss.binary else _Objective(loss),
        }
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of what CatBoost cannot compile
                super().fit(pool, eval_set=pools or None, **options)
        finally:
            self._init_params = kept
        self.set_scale_and_bias(1.0, loss.constants.tolist())
        self._keep(loss)
        return self

    @property
    def classes_(self) -> Any:
        return self.loss_.classes if hasattr(self, "loss_") else super().classes_

    def decision_function(self, X: Any, **options: Any) -> Array:
        """Scores: shape (n,) for two classes, the score of ``classes_[1]``; else (n, c)."""
        return np.asarray(super().predict(X, prediction_type="RawFormulaVal", **options))

    def predict(self, X: Any, **options: Any) -> Any:
        """Labels, by ``rule``; scores with ``prediction_type="RawFormulaVal"``."""
        kind = options.pop("prediction_type", "Class")
        scores = self.decision_function(X, **options)
        if kind == "RawFormulaVal":
            return scores
        if kind == "Probability":
            return self._known_loss().proba(scores)
        return self._known_loss().labels(scores, self.rule)

    def predict_proba(self, X: Any, **options: Any) -> Array:
        """Class probabilities, shape (n, c)."""
        return self._known_loss().proba(self.decision_function(X, **options))

    def score(self, X: Any, y: Any) -> float:
        """Accuracy."""
        return float(np.mean(self.predict(X) == np.asarray(y)))

    def save_model(self, fname: Any, *arguments: Any, **options: Any) -> None:
        """CatBoost's own file, and beside it ``.immax.json`` with margins and classes."""
        super().save_model(fname, *arguments, **options)
        self._known_loss().save(fname)

    def load_model(self, fname: Any, *arguments: Any, **options: Any) -> Self:
        """What ``save_model`` wrote."""
        loss = BoostingLoss.load(fname)
        super().load_model(fname, *arguments, **options)
        self._keep(loss)
        return self


def _pool(X: Any, codes: Array, cat_features: Any, weight: Any, loss: BoostingLoss) -> Any:
    start = loss.start(len(codes))
    return Pool(X, codes, cat_features=cat_features, weight=weight, baseline=start)


class _BinaryObjective:
    """CatBoost asks for some samples at a time."""

    def __init__(self, loss: BoostingLoss) -> None:
        self._derivatives = TwoClassDerivatives(loss.spec)

    def calc_ders_range(self, approxes: Any, targets: Any, weights: Any) -> Array:
        weight = None if weights is None else np.asarray(weights)
        return self._derivatives(np.asarray(approxes), np.asarray(targets), weight)


class _Objective:
    """For three classes and more it asks for one sample, and not always for the Hessian."""

    def __init__(self, loss: BoostingLoss) -> None:
        self._derivatives = SampleDerivatives(loss.spec)

    def calc_ders_multi(self, approxes: Any, target: float, weight: float) -> tuple[Any, Any]:
        sample = (np.asarray(approxes), int(target), weight)
        return self._derivatives.gradient(*sample), _Rows(self._derivatives, sample)


class _Rows:
    """A Hessian that is computed if it is looked at."""

    __slots__ = ("_derivatives", "_sample")

    def __init__(self, derivatives: SampleDerivatives, sample: tuple[Any, int, float]) -> None:
        self._derivatives, self._sample = derivatives, sample

    def __iter__(self) -> Iterator[list[float]]:
        return iter(self._derivatives.hessian(*self._sample))


class _Metric:
    """The link's log-loss."""

    def __init__(self, loss: BoostingLoss) -> None:
        self._loss = loss

    def is_max_optimal(self) -> bool:
        return False

    def get_final_error(self, error: float, weight: float) -> float:
        return error / (weight + 1e-38)

    def evaluate(self, approxes: Any, target: Any, weight: Any) -> tuple[float, float]:
        scores = np.stack([np.asarray(part) for part in approxes], axis=1)
        y = np.asarray(target).astype(np.intp)
        w = np.ones(len(y)) if weight is None else np.asarray(weight)
        scores = scores[:, 0] if self._loss.binary else scores
        return METRICS["log_loss"](self._loss, scores, y, w) * float(w.sum()), float(w.sum())
