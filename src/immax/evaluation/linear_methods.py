"""Linear models by method, each tuned inside the training set."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import TunedThresholdClassifierCV
from sklearn.svm import LinearSVC

from immax.arrays import Array, Features
from immax.evaluation.aim_search import AimSearch
from immax.evaluation.box_search import box_points, is_box_search
from immax.evaluation.held_out_scorer import HeldOutScorer, score_by_metric
from immax.evaluation.meta_estimators import Classifier, ClassWeighted
from immax.evaluation.metrics import METRICS
from immax.evaluation.selection import POWERS
from immax.evaluation.setting import Builder, Setting, Tuned
from immax.linear import BaselineClassifier, IMMAXClassifier
from immax.losses.catalog import METHODS
from immax.margins import power_margins
from immax.search import IMMAXClassifierCV, PowerFamily

__all__ = ["LINEAR", "grid_points"]


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
    if method == "immax" and is_box_search(axes):
        points = box_points(axes)
    else:
        points = [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]
    if most and len(points) > most:
        points = [points[i] for i in np.linspace(0, len(points) - 1, most).round().astype(int)]
    return points


def _catalogue(method: str) -> Builder:
    def make(setting: Setting) -> Tuned:
        points = grid_points(method, setting.axes, setting.selection.trials)
        model = BaselineClassifier(method, rule="score", random_state=setting.seed)
        return setting.search(model, {"lam": setting.lams, "method_params": points})

    return make


def _immax(
    loss: str,
    *,
    powers: Sequence[float] | None = None,
    rule: str = "auto",
    one_se: bool | str = "auto",
    leave_one_out: bool = False,
    penalty: str = "l2",
) -> Builder:
    def make(setting: Setting) -> Tuned:
        own = PowerFamily(values=tuple(setting.powers if powers is None else powers))

        def search(scorer: HeldOutScorer | None) -> IMMAXClassifierCV:
            # An aim calls for class weights beside margins: the search's own family has both.
            family: str | PowerFamily = "auto" if scorer and powers is None else own
            return IMMAXClassifierCV(
                loss,
                lams=setting.lams if penalty == "l2" else None,
                penalty=penalty,
                family=family,
                cv="loo" if leave_one_out else setting.cv(),
                rule=rule,
                one_se=one_se,
                **setting.purpose(scorer),
            )

        return setting.for_each_aim(search)

    return make


def _hinge_balanced(setting: Setting) -> Tuned:
    model = ClassWeighted(IMMAXClassifier("hinge", margins="equal"))
    return setting.search(model, {"model__lam": setting.lams})


def _ldam_hinge(setting: Setting) -> Tuned:
    """Return the machine of ``max(0, rho_y - margin)`` with ``rho ∝ n^{-1/4}`` of mean one."""
    counts = setting.class_counts()
    rho = power_margins(counts, -0.25)
    model = ClassWeighted(IMMAXClassifier("hinge", margins=rho), -0.25)
    return setting.search(model, {"model__lam": setting.lams})


def _theory(setting: Setting) -> Tuned:
    return setting.search(IMMAXClassifier(), {"lam": setting.lams})


def _logistic(weight: str | None = None, *, decide: bool = False) -> Builder:
    def make(setting: Setting) -> Tuned:
        return setting.search(_plain(weight), {"C": setting.Cs}, decide=decide)

    return make


def _plain(weight: str | None = None) -> LogisticRegression:
    return LogisticRegression(class_weight=weight, max_iter=2000)


def _resampled(name: str) -> Builder:
    def make(setting: Setting) -> Tuned:
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
        steps = [("sample", sampler), ("model", _plain())]
        return setting.search(Pipeline(steps), {"model__C": setting.Cs})

    return make


def _threshold(setting: Setting) -> Tuned:
    """Return scikit-learn's tuned threshold around a grid search."""
    if setting.scorers:
        return _TunedThresholds(setting)
    whole = replace(setting, selection=replace(setting.selection, use_folds=0))
    scorer = "accuracy" if setting.scorer == "neg_log_loss" else setting.scorer
    return _tuned_threshold(setting, _logistic()(whole), scorer)


def _tuned_threshold(
    setting: Setting, model: Tuned, scorer: str | Callable[..., float]
) -> Classifier:
    cv = setting.splitter()
    return TunedThresholdClassifierCV(model, scoring=scorer, cv=cv, random_state=setting.seed)


class _TunedThresholds:
    """For every aim the penalty that serves it best, then the threshold that does."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting

    def fit(self, X: Features, y: Array) -> _TunedThresholds:
        setting = self.setting
        search = AimSearch(_plain(), {"C": setting.Cs}, setting.cv(), setting.scorers).fit(X, y)
        self.best_params_, self._models = search.best_params_, {}
        accuracy = score_by_metric(METRICS["accuracy"], setting.class_counts())
        for scorer in setting.scorers:
            model = _plain().set_params(**search.best_params_[scorer.name])
            own = make_scorer((accuracy if scorer.needs_proba else scorer).score_labels)
            self._models[scorer.name] = _tuned_threshold(setting, model, own).fit(X, y)
        return self

    def for_aim(self, name: str) -> Classifier:
        return self._models[name]


def _svc(weight: str | None) -> Builder:
    def make(setting: Setting) -> Tuned:
        return setting.search(LinearSVC(class_weight=weight, max_iter=5000), {"C": setting.Cs})

    return make


LINEAR: dict[str, Builder] = {
    **{name: _catalogue(name) for name in METHODS if name != "immax"},
    "immax": _immax("logistic"),
    "immax_score": _immax("logistic", rule="score"),
    "immax_bayes": _immax("logistic", rule="bayes"),
    "immax_best": _immax("logistic", one_se=False),
    "immax_loo": _immax("logistic", leave_one_out=True),
    "immax_l1": _immax("logistic", penalty="l1"),
    "immax_theory": _theory,
    "immax_hinge": _immax("hinge"),
    "hinge": _immax("hinge", powers=(0.0,)),
    "hinge_balanced": _hinge_balanced,
    "ldam_hinge": _ldam_hinge,
    "logistic": _logistic(),
    "logistic_balanced": _logistic("balanced"),
    "logistic_decision": _logistic(decide=True),
    "svc": _svc(None),
    "svc_balanced": _svc("balanced"),
    "smote": _resampled("smote"),
    "over": _resampled("over"),
    "under": _resampled("under"),
    "threshold": _threshold,
}
"""What builds the linear model of each method."""
