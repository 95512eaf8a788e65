"""Boosted trees, and ensembles of trees for imbalanced data, by method."""

from __future__ import annotations

from typing import Any

from immax.evaluation.meta_estimators import Classifier, ClassWeighted, PowerSearch
from immax.evaluation.setting import Builder, Setting, Tuned

__all__ = ["TREES"]

PARAMS: dict[str, Any] = {"n_estimators": 100, "max_depth": 4, "learning_rate": 0.1, "n_jobs": 1}
AIMED_GRID = {"n_estimators": [30, 100], "max_depth": [2, 4]}  # where a plan tunes for aims
EQUAL_AND_THEORY = [0.0, 1 / 3]


def _plain_boosting(setting: Setting) -> Tuned:
    return _tuned(setting, _xgboost(setting))


def _decided_boosting(setting: Setting) -> Tuned:
    return setting.search(_xgboost(setting), _grid(setting), decide=True)


def _weighted_boosting(setting: Setting) -> Tuned:
    return _tuned(setting, ClassWeighted(_xgboost(setting)), "model__")


def _positive_weight_boosting(setting: Setting) -> Tuned:
    counts = setting.class_counts()
    return _tuned(setting, _xgboost(setting, scale_pos_weight=counts[0] / counts[-1]))


def _margin_boosting(setting: Setting) -> Tuned:
    try:
        from immax.boosting import IMMAXXGBClassifier
    except ImportError as error:
        raise _needs_xgboost() from error
    model = IMMAXXGBClassifier(**PARAMS, random_state=setting.seed)
    if setting.selection.aims:
        return setting.search(model, {"power": EQUAL_AND_THEORY, **_grid(setting)}, decide=True)
    if setting.scorers:
        return setting.search(model, {"power": list(setting.powers)}, decide=True)
    return PowerSearch(model, setting.powers, setting.cv(), setting.scorer)


def _tuned(setting: Setting, model: Classifier, prefix: str = "") -> Tuned:
    return setting.search(model, _grid(setting, prefix)) if setting.scorers else model


def _grid(setting: Setting, prefix: str = "") -> dict[str, list[int]]:
    """Return values of the trees' parameters, if a plan tunes methods for aims."""
    grid = AIMED_GRID if setting.selection.aims else {}
    return {prefix + name: values for name, values in grid.items()}


def _balanced_ensemble(name: str) -> Builder:
    def make(setting: Setting) -> Tuned:
        try:
            from imblearn import ensemble
        except ModuleNotFoundError as error:
            raise ImportError(
                f'{name} needs imbalanced-learn: pip install "immax[bench]"'
            ) from error
        return setting.fixed(getattr(ensemble, name)(random_state=setting.seed, n_jobs=1))

    return make


def _xgboost(setting: Setting, **more: Any) -> Any:
    try:
        from xgboost import XGBClassifier
    except ImportError as error:
        raise _needs_xgboost() from error
    return XGBClassifier(**PARAMS, **more, random_state=setting.seed)


def _needs_xgboost() -> ImportError:
    return ImportError('trees need XGBoost: pip install "immax[boosting]"')


TREES: dict[str, Builder] = {
    "xgb": _plain_boosting,
    "xgb_balanced": _weighted_boosting,
    "scale_pos_weight": _positive_weight_boosting,
    "xgb_decision": _decided_boosting,
    "immax": _margin_boosting,
    "easy_ensemble": _balanced_ensemble("EasyEnsembleClassifier"),
    "balanced_forest": _balanced_ensemble("BalancedRandomForestClassifier"),
}
"""What builds the trees of each method."""
