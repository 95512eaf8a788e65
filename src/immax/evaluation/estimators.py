"""The methods that plans and comparisons name, for each kind of model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, TunedThresholdClassifierCV
from sklearn.svm import LinearSVC

from immax.arrays import Array
from immax.evaluation.meta_estimators import (
    Classifier,
    ClassWeighted,
    CrossValidation,
    PowerSearch,
)
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
    "Chosen",
    "Setting",
    "describe_choice",
    "grid_points",
    "known_methods",
    "make_estimator",
    "network_spec",
]

NETWORKS = ("resnet8", "resnet20", "resnet32", "resnet18", "resnet34", "mlp", "softmax")

# C of a kernel machine whose margins sum to one; with margins of mean one, C is c² times as large.
SUM_ONE_CS = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)

Chosen: TypeAlias = Mapping[str, float | str | Mapping[str, float]]
"""Hyper-parameters that were selected, by name; those of a catalogue method are a mapping."""


@dataclass(frozen=True)
class Setting:
    """What a method needs to know besides the samples.

    Parameters
    ----------
    selection : Selection
        How hyper-parameters are selected.
    grid : mapping of str to sequence of float
        Values to try for the method: ``lam`` in place of ``selection.lams``, and hyper-parameters
        of catalogue methods.
    seed : int
    y : ndarray of shape (n,)
        The labels of the training samples.
    """

    selection: Selection
    grid: Mapping[str, Sequence[float]]
    seed: int
    y: Array

    @property
    def lams(self) -> list[float]:
        """Values of λ in ``λ‖W‖² + mean loss``."""
        return list(self.grid.get("lam") or self.selection.lams or LAMS)

    @property
    def Cs(self) -> list[float]:  # noqa: N802
        """The same penalties as scikit-learn's C, ``1 / (2 λ n)``."""
        return [1 / (2 * lam * len(self.y)) for lam in self.lams]

    @property
    def powers(self) -> Sequence[float]:
        """Powers of the class counts."""
        return self.selection.powers or POWERS

    @property
    def axes(self) -> dict[str, Sequence[float]]:
        """The grid without λ."""
        return {name: values for name, values in self.grid.items() if name != "lam"}

    def class_counts(self) -> Array:
        """Return the number of samples of each class.

        Returns
        -------
        ndarray of int
        """
        return np.unique(self.y, return_counts=True)[1]

    def splitter(self) -> StratifiedKFold:
        """Return the inner folds, which are the same for all methods.

        Returns
        -------
        StratifiedKFold
        """
        folds = min(self.selection.folds, int(self.class_counts().min()))
        return StratifiedKFold(folds, shuffle=True, random_state=self.seed)

    def cv(self) -> CrossValidation:
        """Return the inner folds that are used.

        Returns
        -------
        StratifiedKFold, or list of pairs of indices
        """
        if not self.selection.use_folds:
            return self.splitter()
        return list(self.splitter().split(self.y, self.y))[: self.selection.use_folds]

    def search(self, model: Classifier, grid: Mapping[str, Sequence[object]]) -> Classifier:
        """Return a grid search on the inner folds.

        Parameters
        ----------
        model : classifier
        grid : mapping of str to sequence

        Returns
        -------
        GridSearchCV
        """
        return GridSearchCV(model, grid, cv=self.cv(), scoring=self.selection.scoring)


Builder: TypeAlias = Callable[[Setting], Classifier]


def grid_points(
    method: str, grid: Mapping[str, Sequence[float]], most: int = 0
) -> list[dict[str, float]]:
    """Return the hyper-parameters of a catalogue method that are tried.

    Parameters
    ----------
    method : str
    grid : mapping of str to sequence of float
        Values of each hyper-parameter; if empty, those of the paper.
    most : int, default=0
        The largest number of points, spread evenly over the grid; 0 for all.

    Returns
    -------
    list of dict

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
    """Return the loss of a network.

    Parameters
    ----------
    method : str
        A method of the catalogue. IMMAX has margins of mean one, given by their power.
    counts : array-like of shape (n_classes,)
    params : mapping of str to float

    Returns
    -------
    LossSpec
    """
    if method == "immax":
        power = params.get("power", 1 / 3)
        rho = power_margins(counts, power)
        return make_spec("immax", counts, rho=rho)
    return make_spec(method, counts, **params)


def _catalogue(method: str) -> Builder:
    def make(setting: Setting) -> Classifier:
        points = grid_points(method, setting.axes, setting.selection.trials)
        model = BaselineClassifier(method, rule="score", random_state=setting.seed)
        return setting.search(model, {"lam": setting.lams, "method_params": points})

    return make


def _immax(
    loss: str,
    *,
    powers: Sequence[float] | None = None,
    rule: str = "auto",
    one_se: bool = True,
    leave_one_out: bool = False,
) -> Builder:
    def make(setting: Setting) -> Classifier:
        return IMMAXClassifierCV(
            loss,
            lams=setting.lams,
            family=PowerFamily(values=tuple(setting.powers if powers is None else powers)),
            scoring=setting.selection.scoring,
            cv="loo" if leave_one_out else setting.cv(),
            rule=rule,
            one_se=one_se,
        )

    return make


def _hinge_balanced(setting: Setting) -> Classifier:
    model = ClassWeighted(IMMAXClassifier("hinge", margins="equal"))
    return setting.search(model, {"model__lam": setting.lams})


def _ldam_hinge(setting: Setting) -> Classifier:
    """Return the machine of ``max(0, rho_y - margin)`` with ``rho ∝ n^{-1/4}`` of mean one."""
    counts = setting.class_counts()
    rho = power_margins(counts, -0.25)
    model = ClassWeighted(IMMAXClassifier("hinge", margins=rho), -0.25)
    return setting.search(model, {"model__lam": setting.lams})


def _theory(setting: Setting) -> Classifier:
    return setting.search(IMMAXClassifier(), {"lam": setting.lams})


def _logistic(weight: str | None = None) -> Builder:
    def make(setting: Setting) -> Classifier:
        model = LogisticRegression(class_weight=weight, max_iter=2000)
        return setting.search(model, {"C": setting.Cs})

    return make


def _resampled(name: str) -> Builder:
    def make(setting: Setting) -> Classifier:
        try:
            from imblearn.over_sampling import SMOTE, RandomOverSampler
            from imblearn.pipeline import Pipeline
            from imblearn.under_sampling import RandomUnderSampler
        except ModuleNotFoundError as error:
            raise ImportError(
                f'{name} needs imbalanced-learn: pip install "immax[bench]"'
            ) from error
        rarest = int(setting.class_counts().min())
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


def _threshold(setting: Setting) -> Classifier:
    scoring = setting.selection.scoring
    whole = replace(setting, selection=replace(setting.selection, use_folds=0))
    return TunedThresholdClassifierCV(
        _logistic()(whole),
        scoring="accuracy" if scoring == "neg_log_loss" else scoring,
        cv=setting.splitter(),
        random_state=setting.seed,
    )


def _svc(weight: str | None) -> Builder:
    def make(setting: Setting) -> Classifier:
        return setting.search(LinearSVC(class_weight=weight, max_iter=5000), {"C": setting.Cs})

    return make


def _kernel_machine(*, equal: bool) -> Builder:
    def make(setting: Setting) -> Classifier:
        Cs = [setting.class_counts().size ** 2 * C for C in SUM_ONE_CS]
        if equal:
            return setting.search(IMMAXSVC(margins="equal"), {"C": Cs})
        family = PowerFamily(values=tuple(setting.powers))
        scoring = setting.selection.scoring
        return IMMAXSVCCV(family=family, Cs=Cs, cv=setting.cv(), scoring=scoring)

    return make


def _trees(method: str) -> Builder:
    def make(setting: Setting) -> Classifier:
        try:
            from xgboost import XGBClassifier

            from immax.boosting import IMMAXXGBClassifier
        except ImportError as error:
            raise ImportError('trees need XGBoost: pip install "immax[boosting]"') from error
        params = {"n_estimators": 100, "max_depth": 4, "learning_rate": 0.1, "n_jobs": 1}
        if method == "immax":
            model = IMMAXXGBClassifier(**params, random_state=setting.seed)
            return PowerSearch(model, setting.powers, setting.cv(), setting.selection.scoring)
        if method == "scale_pos_weight":
            counts = setting.class_counts()
            params["scale_pos_weight"] = counts[0] / counts[-1]
        model = XGBClassifier(**params, random_state=setting.seed)
        return ClassWeighted(model) if method == "xgb_balanced" else model

    return make


LINEAR: dict[str, Builder] = {
    **{name: _catalogue(name) for name in METHODS if name != "immax"},
    "immax": _immax("logistic"),
    "immax_score": _immax("logistic", rule="score"),
    "immax_bayes": _immax("logistic", rule="bayes"),
    "immax_best": _immax("logistic", one_se=False),
    "immax_loo": _immax("logistic", leave_one_out=True),
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
TREES: dict[str, Builder] = {
    name: _trees(name) for name in ("xgb", "xgb_balanced", "scale_pos_weight", "immax")
}
KERNEL: dict[str, Builder] = {
    "immax": _kernel_machine(equal=False),
    "svc": _kernel_machine(equal=True),
}
ESTIMATORS: Mapping[str, Mapping[str, Builder]] = MappingProxyType(
    {"linear": LINEAR, "kernel": KERNEL, "trees": TREES}
)
"""What builds the estimator of each method, by model and method."""

MODELS = (*ESTIMATORS, "surface", *NETWORKS)
"""The kinds of models."""


def known_methods(model: str) -> Sequence[str]:
    """Return the methods of a model.

    Parameters
    ----------
    model : str

    Returns
    -------
    sequence of str
    """
    if model == "surface":
        return ("immax",)
    return tuple(METHODS) if model in NETWORKS else tuple(ESTIMATORS[model])


def make_estimator(
    model: str,
    method: str,
    y: Array,
    selection: Selection,
    grid: Mapping[str, Sequence[float]],
    seed: int,
) -> Classifier:
    """Return an estimator that selects its hyper-parameters when it is fitted.

    Parameters
    ----------
    model, method : str
        Keys of ``ESTIMATORS``.
    y : ndarray of shape (n,)
        The labels that it will be fitted to.
    selection : Selection
    grid : mapping of str to sequence of float
        Values to try in place of the method's own; ``lam`` in place of ``selection.lams``.
    seed : int

    Returns
    -------
    classifier
    """
    return ESTIMATORS[model][method](Setting(selection, grid, seed, y))


def describe_choice(model: Any) -> dict[str, Any]:
    """Return what a fitted search has selected, as JSON can hold it.

    Parameters
    ----------
    model : classifier

    Returns
    -------
    dict
    """
    if hasattr(model, "best_parameters_"):
        chosen = {"power": float(model.best_parameters_[0]), "score": model.best_score_}
        chosen |= {key: getattr(model, f"best_{key}_", None) for key in ("lam", "C", "rule")}
        return {key: value for key, value in chosen.items() if value is not None}
    if hasattr(model, "best_params_"):
        return {**model.best_params_, "score": float(model.best_score_)}
    return {"threshold": float(model.best_threshold_)} if hasattr(model, "best_threshold_") else {}
