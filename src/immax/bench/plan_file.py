"""Reading and validation of plans in TOML; errors name the invalid key."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from immax.bench.cells import Grid
from immax.bench.plan import RECIPE, Plan
from immax.bench.sections import TRAINING, DataPlan, ImbalancePlan, TrainingPlan
from immax.datasets.registry import COLLECTIONS, READERS
from immax.errors import WrongCall
from immax.evaluation.box_search import box_points
from immax.evaluation.estimators import ESTIMATORS, MODELS, NETWORKS, known_methods
from immax.evaluation.metrics import METRICS
from immax.evaluation.selection import Selection
from immax.validation import nearest

__all__ = ["PlanError", "load_plan", "parse_plan"]

KINDS = ("none", "long_tailed", "step", "one_vs_rest")
TESTS = ("imbalanced", "balanced", "weighted", TRAINING)
DATA = (*READERS, *COLLECTIONS, "table", "made_up_images")
TOP = {
    "name": str,
    "title": str,
    "about": str,
    "runs": int,
    "first_run": int,
    "models": list,
    "methods": list,
}
SECTIONS = {
    "data": DataPlan,
    "imbalance": ImbalancePlan,
    "training": TrainingPlan,
    "selection": Selection,
}
NUMBER = (int, float)
SCALARS: dict[str, type | tuple[type, ...]] = {
    "str": str,
    "int": int,
    "float": NUMBER,
    "bool": bool,
}


class PlanError(WrongCall):
    """Raised for a plan that cannot be run; the message gives the reason."""


def load_plan(path: str | Path) -> Plan:
    """Read a plan from a file.

    Parameters
    ----------
    path : str or Path
        A TOML file.

    Returns
    -------
    Plan

    Raises
    ------
    PlanError
        If there is no such file, or what it contains is not a plan.
    """
    path = Path(path)
    try:
        text = path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        raise PlanError(f"there is no plan {str(path)!r}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise PlanError(f"the plan {str(path)!r} cannot be read: {error}") from error
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise PlanError(f"the plan {str(path)!r} is not TOML: {error}") from error
    try:
        return parse_plan(content)
    except PlanError as error:
        raise PlanError(f"{path.name}: {error}") from None


def parse_plan(content: Mapping[str, Any]) -> Plan:
    """Return the plan that parsed TOML describes.

    Parameters
    ----------
    content : mapping

    Returns
    -------
    Plan

    Raises
    ------
    PlanError
        If a key is missing, unknown or has a value that cannot be used. The message names the
        known key that is nearest to an unknown one.
    """
    allowed = {**TOP, **SECTIONS, "grids": dict}
    for key in content:
        if key not in allowed:
            raise PlanError(f"unknown key {key!r}{nearest(key, allowed)}")
    for key in ("name", "title", "data", "models", "methods"):
        if key not in content:
            raise PlanError(f"the key {key!r} is missing")
    top = {key: _typed(key, content[key], TOP[key]) for key in TOP if key in content}
    sections = {key: _section(key, content[key]) for key in SECTIONS if key in content}
    lists = {key: tuple(content[key]) for key in ("models", "methods")}
    plan = Plan(**{**top, **sections, **lists, "grids": _grids(content.get("grids", {}))})
    _check(plan)
    return plan


def _typed(key: str, value: Any, kind: type) -> Any:
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise PlanError(f"{key} must be of type {kind.__name__}; got {value!r}")
    return value


def _section(name: str, content: object) -> DataPlan | ImbalancePlan | TrainingPlan | Selection:
    kind: type[Any] = SECTIONS[name]
    if not isinstance(content, dict):
        raise PlanError(f"{name} must be a table; got {content!r}")
    known = {item.name: item for item in fields(kind)}
    values = {}
    for key, value in content.items():
        if key not in known:
            raise PlanError(f"unknown key {key!r} in [{name}]{nearest(key, known)}")
        values[key] = _converted(f"{name}.{key}", value, str(known[key].type))
    try:
        section: DataPlan | ImbalancePlan | TrainingPlan | Selection = kind(**values)
    except TypeError as error:
        raise PlanError(f"[{name}] is incomplete: {error}") from None
    return section


def _converted(key: str, value: Any, kind: str) -> Any:
    """Check a value of TOML against a field's annotation; numbers become floats where asked."""
    if kind.startswith("tuple"):
        item = str if kind == "tuple[str, ...]" else NUMBER
        if not isinstance(value, list) or not all(isinstance(one, item) for one in value):
            raise PlanError(f"{key} must be a list; got {value!r}")
        return tuple(value) if item is str else tuple(float(one) for one in value)
    fits = isinstance(value, SCALARS[kind])
    if not fits or (kind != "bool" and isinstance(value, bool)):
        raise PlanError(f"{key} must be of type {kind}; got {value!r}")
    return float(value) if kind == "float" else value


def _grids(content: object) -> dict[str, Grid]:
    grids: dict[str, Grid] = {}
    known = {method for model in MODELS for method in known_methods(model)}
    for method, axes in _typed("grids", content, dict).items():
        _among("method in [grids]", method, known)
        grids[method] = {
            axis: _converted(f"grids.{method}.{axis}", values, "tuple[float, ...]")
            for axis, values in _typed(f"grids.{method}", axes, dict).items()
        }
        for axis, values in grids[method].items():
            if not values:
                raise PlanError(f"grids.{method}.{axis} is empty")
    return grids


def _check(plan: Plan) -> None:
    _check_data(plan)
    _check_margins(plan)
    for model in plan.models:
        _among("model", model, MODELS)
    known = {method for model in plan.models for method in known_methods(model)}
    for method in plan.methods:
        _among("method", method, known)
    training, selection = plan.training, plan.selection
    for what, number in (
        ("runs", plan.runs),
        ("training.epochs", training.epochs),
        ("training.batch_size", training.batch_size),
        ("training.checkpoint_every", training.checkpoint_every),
    ):
        if number < 1:
            raise PlanError(f"{what} must be at least 1; got {number}")
    if plan.first_run < 0:
        raise PlanError(f"first_run must be 0 or more; got {plan.first_run}")
    if training.clip < 0:
        raise PlanError(f"training.clip must be 0 or more; got {training.clip}")
    _among("training.augment", training.augment, ("none", "crop", "crop_flip"))
    _among("training.precision", training.precision, ("float32", "bfloat16"))
    for aim in selection.aims:
        _among("metric in selection.aims", aim, METRICS)
        if METRICS[aim].make_aim is None:
            raise PlanError(
                f"the metric {aim!r} has no aim; selection.aims takes metrics that have one"
            )
    if selection.aims and any(model not in ESTIMATORS for model in plan.models):
        raise PlanError(f"selection.aims is for the models {', '.join(ESTIMATORS)}")
    if selection.aims and any(name not in (*COLLECTIONS, "table") for name in plan.data.names):
        raise PlanError("selection.aims is for tables, which have one test set")
    for method, grid in plan.grids.items():
        named = [name for name in RECIPE if name in grid]
        if named and not selection.each:
            raise PlanError(f"grids.{method}.{named[0]} needs selection.each = true")
        if any(value < 1 or value != int(value) for value in grid.get("epochs", ())):
            raise PlanError(f"grids.{method}.epochs must be whole numbers of at least 1")
    if selection.each and any(model not in NETWORKS for model in plan.models):
        raise PlanError(f"selection.each is for the networks {', '.join(NETWORKS)}")
    if selection.folds < 2:
        raise PlanError(f"selection.folds must be at least 2; got {selection.folds}")
    if selection.use_folds > selection.folds:
        raise PlanError(
            f"selection.use_folds must be at most selection.folds, {selection.folds}; "
            f"got {selection.use_folds}"
        )


def _check_margins(plan: Plan) -> None:
    """Check the settings of the paper's search of margins."""
    grid = plan.grids.get("immax", {})
    groups = grid.get("groups")
    if groups is None:
        return
    if len(groups) not in (1, len(plan.data.names)):
        raise PlanError("grids.immax.groups must be one number, or one for each of data.names")
    try:
        settings = {name: values for name, values in grid.items() if name != "lam"}
        for own in groups:
            box_points(settings | {"groups": (own,)})
    except ValueError as error:
        raise PlanError(f"grids.immax: {error}") from None


def _check_data(plan: Plan) -> None:
    data, imbalance = plan.data, plan.imbalance
    for name in data.names:
        _among("data set", name, DATA)
    if not data.names:
        raise PlanError("data.names is empty")
    if data.size < 0:
        raise PlanError(f"data.size must be 0 or more; got {data.size}")
    if not 0 < data.share <= 1:
        raise PlanError(f"data.share must be above 0 and at most 1; got {data.share}")
    tables = [name for name in data.names if name == "table" or name in COLLECTIONS]
    if data.share < 1 and tables:
        raise PlanError(f"data.share is for images, not for {tables[0]!r}")
    if data.max_rows < 0:
        raise PlanError(f"data.max_rows must be 0 or more; got {data.max_rows}")
    if data.max_rows and set(data.names) - set(COLLECTIONS):
        raise PlanError(f"data.max_rows is for {' and '.join(COLLECTIONS)} alone")
    for kind in data.features:
        _among("data.features", kind, ("pixels", "patches"))
    if len(data.features) not in (1, len(data.names)):
        raise PlanError("data.features must name one kind, or one for each of data.names")
    _among("imbalance.kind", imbalance.kind, KINDS)
    for test in imbalance.tests:
        _among("imbalance.tests", test, TESTS)
    if any(ratio < 1 for ratio in imbalance.ratios):
        raise PlanError(f"imbalance.ratios must be at least 1; got {list(imbalance.ratios)}")
    if imbalance.kind == "one_vs_rest" and not imbalance.classes:
        raise PlanError("imbalance.classes is empty: one_vs_rest needs the positive classes")


def _among(what: str, value: str, known: Collection[str]) -> None:
    if value not in known:
        raise PlanError(f"unknown {what} {value!r}{nearest(value, known)}")
