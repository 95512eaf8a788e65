"""Fitted models as estimators for data in memory."""

from __future__ import annotations

from typing import Any

__all__ = ["copy_fit"]


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
    for name, value in vars(fitted).items():
        if name.endswith("_") and not name.startswith("_") and name != "n_rounds_":
            setattr(local, name, value)
    return local
