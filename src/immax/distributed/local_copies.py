"""Fitted models as estimators for data in memory."""

from __future__ import annotations

from typing import Any

__all__ = ["copy_fit", "fit_files"]


def copy_fit(fitted: Any, kind: type[Any]) -> Any:
    """Return a local estimator with the parameters and attributes of a fitted one.

    Parameters
    ----------
    fitted : estimator
        A fitted estimator whose parameters are those of ``kind``, and more.
    kind : type
        The class of the local estimator.

    Returns
    -------
    estimator
    """
    params = fitted.get_params(deep=False)
    local = kind(**{name: params[name] for name in kind._get_param_names() if name in params})
    _take_attributes(local, fitted)
    return local


def fit_files(local: Any, kind: type[Any], path: object, target: object, weight: object) -> None:
    """Fit a local estimator to Parquet files by its streamed counterpart.

    Parameters
    ----------
    local : estimator
        The estimator to be fitted. Callbacks, and what a warm start needs, go with it.
    kind : type
        The class that streams, which has all parameters that it reads.
    path : str or Path
        The file or folder.
    target : str
        The column of the labels.
    weight : str or None
        The column of the sample weights.
    """
    streamed = kind()
    vars(streamed).update(vars(local))
    _take_attributes(local, streamed.fit(path, target, weight))


def _take_attributes(local: Any, fitted: Any) -> None:
    """Give a local estimator what was fitted elsewhere."""
    for name, value in vars(fitted).items():
        if name.endswith("_") and not name.startswith("_") and name != "n_rounds_":
            setattr(local, name, value)
