"""The same models on Dask collections, and on Parquet files that are larger than memory."""

from __future__ import annotations

from importlib import import_module

__all__ = [
    "DaskBaselineClassifier",
    "DaskIMMAXClassifier",
    "DaskIMMAXClassifierCV",
    "DaskIMMAXLGBMClassifier",
    "DaskIMMAXXGBClassifier",
    "StreamIMMAXClassifier",
    "StreamIMMAXClassifierCV",
]

_ESTIMATORS = {
    "DaskBaselineClassifier": "linear",
    "DaskIMMAXClassifier": "linear",
    "DaskIMMAXClassifierCV": "search",
    "DaskIMMAXXGBClassifier": "xgboost",
    "DaskIMMAXLGBMClassifier": "lightgbm",
    "StreamIMMAXClassifier": "streaming",
    "StreamIMMAXClassifierCV": "streaming",
}


def __getattr__(name: str) -> type:
    """Load an estimator on first use: each needs Dask and a library of its own."""
    if name not in _ESTIMATORS:
        raise AttributeError(f"module 'immax.distributed' has no attribute {name!r}")
    estimator: type = getattr(import_module(f"immax.distributed.{_ESTIMATORS[name]}"), name)
    return estimator
