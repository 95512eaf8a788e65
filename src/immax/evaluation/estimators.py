"""The methods that plans and comparisons name, for each kind of model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from immax.arrays import Array
from immax.evaluation.box_search import box_margins, is_box_search
from immax.evaluation.held_out_scorer import HeldOutScorer
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
    "describe_parameters",
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
        A method of the catalogue. IMMAX has margins given by their power, of mean one or with
        the sum ``total``, or those of a point of the paper's search.
    counts : array-like of shape (n_classes,)
    params : mapping of str to float

    Returns
    -------
    LossSpec
    """
    if method == "immax":
        if is_box_search(params):
            return make_spec("immax", counts, rho=box_margins(counts, params))
        power, total = params.get("power", 1 / 3), params.get("total", 0.0)
        rho = power_margins(counts, power, total=total or None)
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
    *,
    decided_for: HeldOutScorer | None = None,
    balanced: bool = False,
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
    decided_for : HeldOutScorer, optional
        With an aim that decisions serve.
    balanced : bool, default=False
        Whether the method is trained as if all classes were equally frequent.

    Returns
    -------
    classifier
        Or one for each aim, if there are any.
    """
    setting = Setting(selection, grid, seed, y, decided_for, balanced)
    return ESTIMATORS[model][method](setting)


def describe_choice(model: Any, aim: str = "") -> dict[str, Any]:
    """Return what a fitted search has selected, as JSON can hold it.

    Parameters
    ----------
    model : classifier
    aim : str, default=""
        The name of the aim, if the search was for several.

    Returns
    -------
    dict
    """
    if aim:
        params = getattr(model, "best_params_", {}).get(aim)
        return describe_choice(model.for_aim(aim)) if params is None else dict(params)
    if hasattr(model, "best_parameters_"):
        chosen = {**describe_parameters(model.best_parameters_), "score": model.best_score_}
        chosen |= {key: getattr(model, f"best_{key}_", None) for key in ("lam", "C")}
        chosen["rule"] = str(model.best_rule_)
        return {key: value for key, value in chosen.items() if value is not None}
    if hasattr(model, "best_params_"):
        return {**model.best_params_, "score": float(model.best_score_)}
    return {"threshold": float(model.best_threshold_)} if hasattr(model, "best_threshold_") else {}


def describe_parameters(parameters: ArrayLike) -> dict[str, float]:
    """Return the parameters of the families that plans and comparisons search, by name.

    Parameters
    ----------
    parameters : array-like of shape (1,) or (2,)
        The power of the class counts that margins are proportional to, and for
        ``WeightedFamily`` also that of the inverse counts that class weights are proportional to.

    Returns
    -------
    dict of str to float

    Examples
    --------
    >>> describe_parameters([-0.5, 1.0])
    {'power': -0.5, 'weight_power': 1.0}
    """
    return dict(zip(("power", "weight_power"), np.ravel(parameters).tolist(), strict=False))
