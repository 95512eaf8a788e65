"""Fitted models as estimators for data in memory."""

from __future__ import annotations

from typing import Any

__all__ = ["copy_fit", "take_attributes"]


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
    take_attributes(local, fitted)
    return local


def take_attributes(local: Any, fitted: Any) -> None:
    """Give a local estimator what was fitted elsewhere, in place of an earlier fit.

    Parameters
    ----------
    local, fitted : estimator
        The estimators; the number of rounds is not an attribute of local ones.
    """
    for name in _fitted_names(local):
        delattr(local, name)
    for name in _fitted_names(fitted):
        if name != "n_rounds_":
            setattr(local, name, getattr(fitted, name))


def _fitted_names(estimator: Any) -> list[str]:
    return [name for name in vars(estimator) if name.endswith("_") and not name.startswith("_")]
