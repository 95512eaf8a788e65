"""Gradient boosting with class margins: XGBoost, LightGBM and CatBoost."""

from __future__ import annotations

from importlib import import_module

from immax.boosting.boosters import proba
from immax.boosting.objectives import metric, objective
from immax.boosting.space import suggest_boosting

__all__ = [
    "IMMAXCatBoostClassifier",
    "IMMAXLGBMClassifier",
    "IMMAXXGBClassifier",
    "metric",
    "objective",
    "proba",
    "suggest_boosting",
]

_ESTIMATORS = {
    "IMMAXXGBClassifier": "xgboost",
    "IMMAXLGBMClassifier": "lightgbm",
    "IMMAXCatBoostClassifier": "catboost",
}


def __getattr__(name: str) -> type:
    """Load an estimator on first use: each needs a library of its own."""
    if name not in _ESTIMATORS:
        raise AttributeError(f"module 'immax.boosting' has no attribute {name!r}")
    estimator: type = getattr(import_module(f"immax.boosting.{_ESTIMATORS[name]}"), name)
    return estimator
