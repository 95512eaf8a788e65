"""The methods that plans and comparisons name, for each kind of model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from immax.arrays import Array
from immax.evaluation.box_search import box_margins, is_box_search
from immax.evaluation.kernel_methods import KERNEL
from immax.evaluation.linear_methods import LINEAR, grid_points
from immax.evaluation.selection import Selection
from immax.evaluation.setting import Builder, Setting, Tuned
from immax.evaluation.tree_methods import TREES
from immax.losses.catalog import METHODS, make_spec
from immax.losses.spec import LossSpec
from immax.margins import power_margins

__all__ = [
    "ESTIMATORS",
    "MODELS",
    "NETWORKS",
    "TWO_CLASSES",
    "Chosen",
    "Setting",
    "describe_choice",
    "grid_points",
    "known_methods",
    "make_estimator",
    "network_spec",
]

NETWORKS = ("resnet8", "resnet20", "resnet32", "resnet18", "resnet34", "mlp", "softmax")

Chosen: TypeAlias = Mapping[str, float | str | Mapping[str, float]]
"""Hyper-parameters that were selected, by name; those of a catalogue method are a mapping."""


ESTIMATORS: Mapping[str, Mapping[str, Builder]] = MappingProxyType(
    {"linear": LINEAR, "kernel": KERNEL, "trees": TREES}
)
"""What builds the estimator of each method, by model and method."""

TWO_CLASSES = frozenset({"threshold", "scale_pos_weight"})
"""Methods for two classes only."""

MODELS = (*ESTIMATORS, "surface", *NETWORKS)
"""The kinds of models."""


def network_spec(method: str, counts: ArrayLike, params: Mapping[str, float]) -> LossSpec:
    """Return the loss of a network.

    Parameters
    ----------
    method : str
        A method of the catalogue. IMMAX has margins of mean one, given by their power, or those
        of a point of the paper's search.
    counts : array-like of shape (n_classes,)
    params : mapping of str to float

    Returns
    -------
    LossSpec
    """
    if method == "immax":
        if is_box_search(params):
            return make_spec("immax", counts, rho=box_margins(counts, params))
        power = params.get("power", 1 / 3)
        rho = power_margins(counts, power)
        return make_spec("immax", counts, rho=rho)
    return make_spec(method, counts, **params)


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
) -> Tuned:
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
        Or one for each aim, if the selection names aims.
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
        chosen = {"power": float(model.best_parameters_[0]), "score": float(model.best_score_)}
        if np.ptp(getattr(model, "best_weights_", 1.0)) > 0:
            chosen["weight_power"] = float(model.best_parameters_[1])
        penalties = {key: getattr(model, f"best_{key}_", None) for key in ("lam", "C")}
        chosen |= {key: value for key, value in penalties.items() if value is not None}
        return {**chosen, "rule": str(model.best_rule_)}
    if hasattr(model, "best_params_"):
        return {**model.best_params_, "score": float(model.best_score_)}
    return {"threshold": float(model.best_threshold_)} if hasattr(model, "best_threshold_") else {}
