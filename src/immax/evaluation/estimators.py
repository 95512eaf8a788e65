"""The methods that plans name, for each kind of model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer, log_loss
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    TunedThresholdClassifierCV,
    check_cv,
)
from sklearn.svm import LinearSVC
from sklearn.utils.metaestimators import available_if

from immax.arrays import Array
from immax.evaluation.selection import LAMS, POWERS, Selection
from immax.kernels.svc import IMMAXSVC
from immax.linear import BaselineClassifier, IMMAXClassifier
from immax.losses.catalog import METHODS, make_spec
from immax.losses.spec import LossSpec
from immax.margins import power_margins
from immax.search import IMMAXSVCCV, IMMAXClassifierCV, PowerFamily

__all__ = [
    "ESTIMATORS",
    "MODELS",
    "NETWORKS",
    "Setting",
    "describe_choice",
    "grid_points",
    "known_methods",
    "make_estimator",
    "network_spec",
]

NETWORKS = ("resnet8", "resnet20", "resnet32", "resnet18", "resnet34", "mlp", "softmax")


@dataclass(frozen=True)
class Setting:
    """What a method needs to know beside the data."""

    folds: int
    use_folds: int
    scoring: str
    lams: Sequence[float]
    powers: Sequence[float]
    trials: int
    grid: Mapping[str, Sequence[float]]
    seed: int
    y: Array

    def splitter(self) -> StratifiedKFold:
        """The same folds for all methods."""
        rarest = int(np.unique(self.y, return_counts=True)[1].min())
        return StratifiedKFold(min(self.folds, rarest), shuffle=True, random_state=self.seed)

    def cv(self) -> Any:
        """Those of them that are used."""
        if not self.use_folds:
            return self.splitter()
        return list(self.splitter().split(self.y, self.y))[: self.use_folds]

    def search(self, model: Any, grid: Any) -> GridSearchCV:
        return GridSearchCV(model, grid, cv=self.cv(), scoring=self.scoring)

    @property
    def immax_lams(self) -> list[float]:
        """Penalties of margins that sum to one, for three classes and more as of mean one.

        So that λ means the same for equal margins and for cross-entropy.
        """
        c = len(np.unique(self.y))
        return [lam * (c**2 if c > 2 else 1) for lam in self.lams]

    @property
    def Cs(self) -> list[float]:  # noqa: N802
        """The same penalties as λ, for IMMAX with equal margins of two classes."""
        return [2 / (lam * len(self.y)) for lam in self.lams]


def grid_points(
    method: str, grid: Mapping[str, Sequence[float]], most: int = 0
) -> list[dict[str, float]]:
    """Hyper-parameters of a method to try: a grid, or the paper's; spread evenly if too many.

    Examples
    --------
    >>> grid_points("ldam", {}, most=2)
    [{'C': 0.0001}, {'C': 10000.0}]
    >>> grid_points("ce", {})
    [{}]
    """
    axes = dict(grid) or ({"power": POWERS} if method == "immax" else dict(METHODS[method].grid))
    points = [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]
    if most and len(points) > most:
        points = [points[i] for i in np.linspace(0, len(points) - 1, most).round().astype(int)]
    return points


def network_spec(method: str, counts: ArrayLike, params: Mapping[str, float]) -> LossSpec:
    """The loss of a network: IMMAX has margins of mean one, by their power."""
    if method == "immax":
        rho = power_margins(counts, params.get("power", 1 / 3))
        return make_spec("immax", counts, rho=rho)
    return make_spec(method, counts, **params)


def _catalogue(method: str) -> Callable[[Setting], Any]:
    def make(setting: Setting) -> Any:
        points = grid_points(method, setting.grid, setting.trials)
        model = BaselineClassifier(method, rule="score", random_state=setting.seed)
        return setting.search(model, {"lam": list(setting.lams), "method_params": points})

    return make


def _immax(loss: str, **options: Any) -> Callable[[Setting], Any]:
    def make(setting: Setting) -> Any:
        powers = options.get("powers", setting.powers)
        given = {key: value for key, value in options.items() if key != "powers"}
        return IMMAXClassifierCV(
            loss,
            lams=setting.immax_lams,
            family=PowerFamily(values=tuple(powers)),
            scoring=setting.scoring,
            **{"cv": setting.cv(), **given},
        )

    return make


class _Weighted(ClassifierMixin, BaseEstimator):
    """A classifier whose samples weigh as a power of the size of their class."""

    def __init__(self, model: Any, power: float = -1.0) -> None:
        self.model = model
        self.power = power

    def fit(self, X: Any, y: Any) -> _Weighted:
        self.classes_, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
        weight = (counts**self.power)[codes]
        weight /= weight.mean()
        self.model_ = clone(self.model).fit(X, y, sample_weight=weight)
        return self

    def predict(self, X: Any) -> Array:
        return self.model_.predict(X)

    @available_if(lambda self: hasattr(self.model_, "predict_proba"))
    def predict_proba(self, X: Any) -> Array:
        return self.model_.predict_proba(X)


def _hinge_balanced(setting: Setting) -> Any:
    model = _Weighted(IMMAXClassifier("hinge", margins="equal"))
    return setting.search(model, {"model__lam": list(setting.lams)})


def _ldam_hinge(setting: Setting) -> Any:
    """``max(0, rho_y - margin)`` with ``rho ∝ n^{-1/4}``, whose scale is a matter of λ."""
    rho = power_margins(np.unique(setting.y, return_counts=True)[1], -0.25)
    model = _Weighted(IMMAXClassifier("hinge", margins=rho), -0.25)
    return setting.search(model, {"model__lam": list(setting.lams)})


def _theory(setting: Setting) -> Any:
    return setting.search(IMMAXClassifier(), {"lam": setting.immax_lams})


def _logistic(weight: str | None = None) -> Callable[[Setting], Any]:
    def make(setting: Setting) -> Any:
        model = LogisticRegression(class_weight=weight, max_iter=2000)
        return setting.search(model, {"C": setting.Cs})

    return make


def _resampled(name: str) -> Callable[[Setting], Any]:
    def make(setting: Setting) -> Any:
        try:
            from imblearn.over_sampling import SMOTE, RandomOverSampler
            from imblearn.pipeline import Pipeline
            from imblearn.under_sampling import RandomUnderSampler
        except ModuleNotFoundError as error:
            raise ImportError(
                f'{name} needs imbalanced-learn: pip install "immax[bench]"'
            ) from error
        rarest = int(np.unique(setting.y, return_counts=True)[1].min())
        inner = rarest - -(-rarest // setting.splitter().n_splits)  # the least in an inner fold
        sampler = {
            "smote": SMOTE(k_neighbors=max(1, min(5, inner - 1)), random_state=setting.seed),
            "over": RandomOverSampler(random_state=setting.seed),
            "under": RandomUnderSampler(random_state=setting.seed),
        }[name]
        if name == "smote" and inner < 2:
            sampler = RandomOverSampler(random_state=setting.seed)  # nothing to interpolate
        steps = [("sample", sampler), ("model", LogisticRegression(max_iter=2000))]
        return setting.search(Pipeline(steps), {"model__C": setting.Cs})

    return make


def _threshold(setting: Setting) -> Any:
    scoring = setting.scoring if setting.scoring != "neg_log_loss" else "accuracy"
    return TunedThresholdClassifierCV(
        _logistic()(replace(setting, use_folds=0)),
        scoring=scoring,
        cv=setting.splitter(),
        random_state=setting.seed,
    )


def _svc(weight: str | None) -> Callable[[Setting], Any]:
    def make(setting: Setting) -> Any:
        return setting.search(LinearSVC(class_weight=weight, max_iter=5000), {"C": setting.Cs})

    return make


def _kernel_machine(powers: Sequence[float] | None) -> Callable[[Setting], Any]:
    def make(setting: Setting) -> Any:
        if powers is None:
            family = PowerFamily(values=tuple(setting.powers))
            return IMMAXSVCCV(family=family, cv=setting.cv(), scoring=setting.scoring)
        grid = {"C": [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]}
        return setting.search(IMMAXSVC(margins="equal"), grid)

    return make


LINEAR: dict[str, Callable[[Setting], Any]] = {
    **{name: _catalogue(name) for name in METHODS if name != "immax"},
    "immax": _immax("logistic"),
    "immax_score": _immax("logistic", rule="score"),
    "immax_bayes": _immax("logistic", rule="bayes"),
    "immax_best": _immax("logistic", one_se=False),
    "immax_loo": _immax("logistic", cv="loo"),
    "immax_theory": _theory,
    "immax_hinge": _immax("hinge"),
    "hinge": _immax("hinge", powers=(0.0,)),
    "hinge_balanced": _hinge_balanced,
    "ldam_hinge": _ldam_hinge,
    "logistic": _logistic(),
    "logistic_balanced": _logistic("balanced"),
    "svc": _svc(None),
    "svc_balanced": _svc("balanced"),
    "smote": _resampled("smote"),
    "over": _resampled("over"),
    "under": _resampled("under"),
    "threshold": _threshold,
}


def _trees(method: str) -> Callable[[Setting], Any]:
    def make(setting: Setting) -> Any:
        try:
            from xgboost import XGBClassifier

            from immax.boosting import IMMAXXGBClassifier
        except ImportError as error:
            raise ImportError('trees need XGBoost: pip install "immax[boosting]"') from error
        params = {"n_estimators": 100, "max_depth": 4, "learning_rate": 0.1, "n_jobs": 1}
        if method == "immax":
            model = IMMAXXGBClassifier(**params, random_state=setting.seed)
            return _PowerSearch(model, setting.powers, setting.cv(), setting.scoring)
        counts = np.bincount(np.unique(setting.y, return_inverse=True)[1])
        if method == "scale_pos_weight":
            params["scale_pos_weight"] = counts[0] / counts[-1]
        model = XGBClassifier(**params, random_state=setting.seed)
        return _Weighted(model) if method == "xgb_balanced" else model

    return make


class _PowerSearch(ClassifierMixin, BaseEstimator):
    """A grid search over powers and rules, in which a fit serves both rules.

    Ties go to the lower held-out log-loss, as in ``IMMAXClassifierCV``.
    """

    def __init__(self, model: Any, powers: Sequence[float], cv: Any, scoring: str) -> None:
        self.model = model
        self.powers = powers
        self.cv = cv
        self.scoring = scoring

    def fit(self, X: Array, y: Array) -> _PowerSearch:
        score, rules = get_scorer(self.scoring), ("score", "bayes")
        splits = list(check_cv(self.cv, y, classifier=True).split(X, y))
        found = {}
        for power in self.powers:
            scores, losses = np.zeros((2, len(splits))), np.zeros(len(splits))
            for fold, (train, test) in enumerate(splits):
                model = clone(self.model).set_params(power=power).fit(X[train], y[train])
                proba = model.predict_proba(X[test])
                losses[fold] = log_loss(y[test], proba, labels=model.classes_)
                for number, rule in enumerate(rules):
                    scores[number, fold] = score(model.set_params(rule=rule), X[test], y[test])
            for rule, own in zip(rules, scores, strict=True):
                found[power, rule] = round(float(own.mean()), 12), -losses.mean()
        power, rule = max(found, key=found.__getitem__)
        self.best_params_ = {"power": power, "rule": rule}
        self.best_score_ = found[power, rule][0]
        self.best_estimator_ = clone(self.model).set_params(**self.best_params_).fit(X, y)
        self.classes_ = self.best_estimator_.classes_
        return self

    def predict(self, X: Any) -> Array:
        return self.best_estimator_.predict(X)

    def predict_proba(self, X: Any) -> Array:
        return self.best_estimator_.predict_proba(X)


TREES: dict[str, Callable[[Setting], Any]] = {
    name: _trees(name) for name in ("xgb", "xgb_balanced", "scale_pos_weight", "immax")
}
KERNEL: dict[str, Callable[[Setting], Any]] = {
    "immax": _kernel_machine(None),
    "svc": _kernel_machine((0.0,)),
}
ESTIMATORS: Mapping[str, Mapping[str, Callable[[Setting], Any]]] = MappingProxyType(
    {"linear": LINEAR, "kernel": KERNEL, "trees": TREES}
)
MODELS = (*ESTIMATORS, "surface", *NETWORKS)


def known_methods(model: str) -> Sequence[str]:
    """The methods that there are for a model."""
    if model == "surface":
        return ("immax",)
    return tuple(METHODS) if model in NETWORKS else tuple(ESTIMATORS[model])


def make_estimator(
    model: str, method: str, y: Array, selection: Selection, grid: Any, seed: int
) -> Any:
    """An estimator that chooses its hyper-parameters when it is fitted."""
    setting = Setting(
        folds=selection.folds,
        use_folds=selection.use_folds,
        scoring=selection.scoring,
        lams=selection.lams or LAMS,
        powers=selection.powers or POWERS,
        trials=selection.trials,
        grid=grid,
        seed=seed,
        y=y,
    )
    return ESTIMATORS[model][method](setting)


def describe_choice(model: Any) -> dict[str, Any]:
    """Return what a fitted search selected, as JSON can hold it."""
    if hasattr(model, "best_parameters_"):
        found = {"power": float(model.best_parameters_[0]), "score": model.best_score_}
        found |= {key: getattr(model, f"best_{key}_", None) for key in ("lam", "C", "rule")}
        return {key: value for key, value in found.items() if value is not None}
    if hasattr(model, "best_params_"):
        return {**model.best_params_, "score": float(model.best_score_)}
    return {"threshold": float(model.best_threshold_)} if hasattr(model, "best_threshold_") else {}
