"""Warnings about hyper-parameters that are chosen on the training samples of a network."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from math import sqrt
from typing import Any

import numpy as np
from torch import nn

from immax.arrays import Array
from immax.torch.features import Features
from immax.torch.head_data import HeadData
from immax.torch.head_fits import LinearFit, default_lams

__all__ = ["check_selection", "chooses", "warn_of_fitted_features"]

REFUSED_ERROR = 0.005  # of the network on samples that something would be chosen on
WARNED_ERROR = 0.05
CLEAR = 2.0  # standard errors by which a network is worse on samples that it was not trained on
WAY_OUT = (
    "λ, margins and other hyper-parameters cannot be chosen on samples that the network was "
    "trained on, because it fits them whatever they are. Pass samples that it was not trained on, "
    "refit_head(model, held_out_loader) or refit_head(model, train_loader, "
    "selection=held_out_loader)"
)
NOT_TRAINED = "if the network was not trained on these samples, pass selection='folds'"


def chooses(method: str, options: Mapping[str, Any]) -> bool:
    """Return whether the fit of a head selects anything on samples.

    Parameters
    ----------
    method : str
        As in ``refit_head``.
    options : mapping
        The options of the fit.

    Returns
    -------
    bool
        False if λ, margins and hyper-parameters are all given, one value of each.
    """
    if method in ("crt", "logit_adjustment"):
        return False
    if method == "tau_norm":
        return options.get("tau") is None
    if options.get("lam") is None:
        return True
    if method == "immax" and "method_params" not in options:
        margins = options.get("margins", "search")
        return isinstance(margins, str) and margins == "search"
    params = dict(options.get("method_params") or {})
    return any(isinstance(value, (list, tuple)) and len(value) > 1 for value in params.values())


def check_selection(
    layer: nn.Linear, fitted: Features, held: Features | None, declared: bool
) -> None:
    """Raise an error, or warn, if the network was probably trained on the selection samples.

    Parameters
    ----------
    layer : nn.Linear
        The layer that is to be replaced.
    fitted : (features, y)
        The samples that the head is fitted to.
    held : (features, y), or None
        The samples that something is chosen on, if they are others.
    declared : bool
        Whether the caller says that the network was not trained on ``fitted``.

    Raises
    ------
    ValueError
        If there are no others, and the network gets at least 99.5 % of them right.

    Warns
    -----
    UserWarning
        If it gets at least 95 % right, and no fewer than of the samples of the fit; at least
        99.5 % of ``held`` in any case.
    """
    if held is None and declared:
        return
    X, y = fitted if held is None else held
    error = _error(layer, X, y)
    if error > WARNED_ERROR:
        return
    accuracy = f"the network gets {1 - error:.2%} of the {len(y)} samples right"
    if held is None:
        message = f"{accuracy}. {WAY_OUT}; {NOT_TRAINED}"
        if error <= REFUSED_ERROR:
            raise ValueError(message)
        warnings.warn(message, UserWarning, stacklevel=3)
        return
    of_fit = _error(layer, *fitted)
    if error <= REFUSED_ERROR or not _is_clearly_above(error, len(y), of_fit, len(fitted[1])):
        warnings.warn(
            f"{accuracy} of selection, and {1 - of_fit:.2%} of those that the head is fitted to. "
            f"{WAY_OUT}",
            UserWarning,
            stacklevel=3,
        )


def warn_of_fitted_features(data: HeadData, fit: LinearFit, lams: Any) -> None:
    """Warn if a search chose the smallest λ because the features are separable.

    Features of samples that a network was trained on are like that.

    Parameters
    ----------
    data : HeadData
        The samples of the fit and of the search.
    fit : LinearFit
        What was found.
    lams : array-like, or None
        The values of λ that were searched; the default ones if None.
    """
    values = np.ravel(default_lams(data.X) if lams is None else lams)
    if fit.record.lam is None or len(values) < 2 or fit.record.lam > values.min() * (1 + 1e-9):
        return
    error = float((_decisions(data.X @ fit.coef.T + fit.intercept) != data.y).mean())
    if error <= REFUSED_ERROR:
        warnings.warn(
            f"the head gets {1 - error:.2%} of the {len(data.y)} samples right, and the smallest "
            "of the values of λ was chosen for it, as on features of samples that the network was "
            "trained on. Pass those of samples that it was not trained on as selection=(features, "
            "y); if these are such samples, pass selection='folds'",
            UserWarning,
            stacklevel=3,
        )


def _is_clearly_above(error: float, n: int, other: float, m: int) -> bool:
    """Return whether a share of errors is higher than another one, beyond chance."""
    pooled = (error * n + other * m) / (n + m)
    return error - other > CLEAR * sqrt(pooled * (1 - pooled) * (1 / n + 1 / m))


def _error(layer: nn.Linear, X: Array, y: Array) -> float:
    weight = layer.weight.detach().float().cpu().numpy()
    bias = 0.0 if layer.bias is None else layer.bias.detach().float().cpu().numpy()
    return float((_decisions(X @ weight.T + bias) != y).mean())


def _decisions(scores: Array) -> Array:
    """Return the classes of the highest scores; a single score is that of class 1."""
    if scores.shape[1] == 1:
        return np.asarray(scores[:, 0] > 0, dtype=np.int64)
    return np.asarray(scores.argmax(axis=1))
