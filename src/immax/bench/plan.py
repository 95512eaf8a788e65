"""A plan: what to compare, on what, how often. Read from TOML, and expanded into cells."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from itertools import product
from pathlib import Path
from typing import Any

from immax.errors import WrongCall
from immax.evaluation.estimators import MODELS, NETWORKS, grid_points, known_methods
from immax.evaluation.selection import Selection
from immax.validation import nearest

__all__ = ["Cell", "Plan", "PlanError", "load_plan", "parse_plan"]

KINDS = ("none", "long_tailed", "step", "one_vs_rest")
TESTS = ("imbalanced", "balanced")
DATA = (
    "cifar10",
    "cifar100",
    "tiny_imagenet",
    "fashion_mnist",
    "mnist",
    "keel",
    "table",
    "made_up_images",
)


class PlanError(WrongCall):
    """A plan that cannot be run, and why."""


@dataclass(frozen=True)
class DataPlan:
    """Which data: one set or more, and where their features come from."""

    names: tuple[str, ...]
    sets: tuple[str, ...] = ()  # of KEEL; all of them if none are named
    path: str = ""  # of a table
    target: str = ""
    features: tuple[str, ...] = ("pixels",)  # or "patches": one for all sets, or one for each
    patches: int = 600  # random ones, pooled over four quadrants, both signs
    share: float = 1.0  # of every class, before any imbalance
    folds: int = 5  # outer ones, for data without a test set


@dataclass(frozen=True)
class ImbalancePlan:
    """How the data are made imbalanced, and on what methods are tested."""

    kind: str = "none"
    ratios: tuple[float, ...] = (1.0,)
    minority: float = 0.5
    classes: tuple[str, ...] = ()  # of one_vs_rest
    tests: tuple[str, ...] = ("imbalanced",)


@dataclass(frozen=True)
class TrainingPlan:
    """A recipe for networks."""

    epochs: int = 200
    batch_size: int = 1024
    lr: float = 0.2
    momentum: float = 0.9
    weight_decay: float = 1e-3
    warmup: int = 0  # epochs
    clip: float = 0.0  # the longest gradient; 0 for any
    augment: str = "none"  # or "crop" or "crop_flip"
    pad: int = 4
    precision: str = "float32"  # or "bfloat16"
    channels_last: bool = True
    compile: bool = False
    checkpoint_every: int = 1  # epochs


LATER = ("clip",)  # keys that recipes did not always have


@dataclass(frozen=True)
class Cell:
    """A piece of work with an identity of its own: what defines it, hashed."""

    spec: Mapping[str, Any]

    @property
    def id(self) -> str:
        text = json.dumps(self.spec, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def stage(self) -> str:
        return str(self.spec["stage"])

    @property
    def group(self) -> str:
        """Which trials a final cell waits for, and trials belong to."""
        keys = ("data", "variant", "model", "method")
        return json.dumps([self.spec[key] for key in keys], sort_keys=True)

    def label(self) -> str:
        """For people."""
        variant = " ".join(str(value) for value in self.spec["variant"].values())
        what = f"{self.spec['data']['name']} {variant} {self.spec['model']} {self.spec['method']}"
        if self.stage == "trial":
            return f"{what} {_short(self.spec['params'])} fold {self.spec['fold']}"
        return f"{what} run {self.spec['run']}"


def _short(params: Mapping[str, Any]) -> str:
    return ",".join(f"{key}={value:g}" for key, value in params.items()) or "default"


@dataclass(frozen=True)
class Plan:
    """What a TOML file says."""

    name: str
    title: str
    data: DataPlan
    models: tuple[str, ...]
    methods: tuple[str, ...]
    runs: int = 1
    about: str = ""
    imbalance: ImbalancePlan = field(default_factory=ImbalancePlan)
    training: TrainingPlan = field(default_factory=TrainingPlan)
    selection: Selection = field(default_factory=Selection)
    grids: Mapping[str, Mapping[str, tuple[float, ...]]] = field(default_factory=dict)

    def variants(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Names of data sets, and what is done to them."""
        shape = self.imbalance
        for name in self.data.names:
            if name == "keel":
                from immax.datasets import keel_names

                for own in self.data.sets or keel_names():
                    for fold in range(self.data.folds):
                        yield name, {"set": own, "fold": fold}
            elif name == "table":
                for fold in range(self.data.folds):
                    yield name, {"fold": fold}
            elif shape.kind == "one_vs_rest":
                for own in shape.classes:
                    yield name, {"kind": shape.kind, "class": own}
            elif shape.kind == "none":
                yield name, {"kind": shape.kind}
            else:
                for ratio in shape.ratios:
                    variant: dict[str, Any] = {"kind": shape.kind, "ratio": ratio}
                    if shape.kind == "step":
                        variant["minority"] = shape.minority
                    yield name, variant

    def cells(self) -> list[Cell]:
        """All of them, trials before what waits for them."""
        found = []
        for (name, variant), model, method in product(self.variants(), self.models, self.methods):
            if method not in known_methods(model):
                continue
            base = {
                "data": self._data_spec(name),
                "variant": variant,
                "tests": list(self.imbalance.tests),
                "model": model,
                "method": method,
            }
            network = model in NETWORKS
            base |= {"training" if network else "selection": self._recipe(network)}
            if not network:
                base["grid"] = self._grid(method)
                found += [Cell({**base, "stage": "final", "run": run}) for run in range(self.runs)]
                continue
            points = grid_points(method, self._grid(method), self.selection.trials)
            if len(points) > 1:
                folds = self.selection.use_folds or self.selection.folds
                found += [
                    Cell(
                        {
                            **base,
                            "stage": "trial",
                            "params": point,
                            "folds": self.selection.folds,
                            "fold": fold,
                        }
                    )
                    for point in points
                    for fold in range(folds)
                ]
            chosen = {"of": points, "by": self.selection.scoring}
            found += [
                Cell({**base, "stage": "final", "select": chosen, "run": run})
                for run in range(self.runs)
            ]
        return sorted(found, key=lambda cell: cell.stage == "final")

    def _grid(self, method: str) -> dict[str, list[float]]:
        return {name: list(values) for name, values in self.grids.get(method, {}).items()}

    def _data_spec(self, name: str) -> dict[str, Any]:
        spec: dict[str, Any] = {"name": name, "share": self.data.share}
        if name == "table":
            spec |= {"path": self.data.path, "target": self.data.target}
        if name in ("keel", "table"):
            spec["folds"] = self.data.folds
        else:
            own = self.data.features
            spec["features"] = own[self.data.names.index(name) if len(own) > 1 else 0]
            if spec["features"] == "patches":
                spec["patches"] = self.data.patches
        return spec

    def _recipe(self, network: bool) -> dict[str, Any]:
        """A key that a later version has brought stands in it only if it is used.

        The identities of cells are the same in all versions.
        """
        recipe = _as_dict(self.training if network else self.selection)
        return {key: value for key, value in recipe.items() if key not in LATER or value}

    @property
    def digest(self) -> str:
        """Of all the cells: two plans with the same digest ask for the same work."""
        ids = "".join(sorted(cell.id for cell in self.cells()))
        return hashlib.sha256(ids.encode()).hexdigest()[:16]


def _as_dict(part: Any) -> dict[str, Any]:
    return {
        item.name: list(value) if isinstance(value := getattr(part, item.name), tuple) else value
        for item in fields(part)
    }


def load_plan(path: str | Path) -> Plan:
    """A plan from a file; errors say what is wrong with it."""
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


SECTIONS = {
    "data": DataPlan,
    "imbalance": ImbalancePlan,
    "training": TrainingPlan,
    "selection": Selection,
}
TOP = {"name": str, "title": str, "about": str, "runs": int, "models": list, "methods": list}


def parse_plan(content: Mapping[str, Any]) -> Plan:
    """A plan from what TOML says; unknown names are refused with the nearest known one."""
    allowed = {**TOP, **SECTIONS, "grids": dict}
    for key in content:
        if key not in allowed:
            raise PlanError(f"unknown key {key!r}{nearest(key, allowed)}")
    for key in ("name", "title", "data", "models", "methods"):
        if key not in content:
            raise PlanError(f"the key {key!r} is missing")
    top = {key: _value(key, content[key], TOP[key]) for key in TOP if key in content}
    parts = {key: _section(key, content[key]) for key in SECTIONS if key in content}
    plan = Plan(
        **{
            **top,
            **parts,
            "models": tuple(content["models"]),
            "methods": tuple(content["methods"]),
            "grids": _grids(content.get("grids", {})),
        }
    )
    _check(plan)
    return plan


def _value(key: str, value: Any, kind: type) -> Any:
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise PlanError(f"{key} must be of type {kind.__name__}; got {value!r}")
    return value


def _section(name: str, content: Any) -> Any:
    kind: Any = SECTIONS[name]
    if not isinstance(content, dict):
        raise PlanError(f"{name} must be a table; got {content!r}")
    known = {item.name: item for item in fields(kind)}
    values = {}
    for key, value in content.items():
        if key not in known:
            raise PlanError(f"unknown key {key!r} in [{name}]{nearest(key, known)}")
        values[key] = _converted(f"{name}.{key}", value, str(known[key].type))
    try:
        return kind(**values)
    except TypeError as error:
        raise PlanError(f"[{name}] is incomplete: {error}") from None


def _converted(key: str, value: Any, kind: str) -> Any:
    if kind.startswith("tuple"):
        item: Any = {"tuple[str, ...]": str, "tuple[float, ...]": (int, float)}[kind]
        if not isinstance(value, list) or not all(isinstance(one, item) for one in value):
            raise PlanError(f"{key} must be a list; got {value!r}")
        return tuple(value) if item is str else tuple(float(one) for one in value)
    expected: Any = {"str": str, "int": int, "float": (int, float), "bool": bool}[kind]
    if not isinstance(value, expected) or (kind != "bool" and isinstance(value, bool)):
        raise PlanError(f"{key} must be of type {kind}; got {value!r}")
    return float(value) if kind == "float" else value


def _grids(content: Any) -> dict[str, dict[str, tuple[float, ...]]]:
    grids: dict[str, dict[str, tuple[float, ...]]] = {}
    for method, axes in _value("grids", content, dict).items():
        _among("method in [grids]", method, {one for name in MODELS for one in known_methods(name)})
        grids[method] = {
            axis: _converted(f"grids.{method}.{axis}", values, "tuple[float, ...]")
            for axis, values in _value(f"grids.{method}", axes, dict).items()
        }
    return grids


def _check(plan: Plan) -> None:
    for name in plan.data.names:
        _among("data set", name, DATA)
    if not plan.data.names:
        raise PlanError("data.names is empty")
    _among("imbalance.kind", plan.imbalance.kind, KINDS)
    for test in plan.imbalance.tests:
        _among("imbalance.tests", test, TESTS)
    if any(ratio < 1 for ratio in plan.imbalance.ratios):
        raise PlanError(f"ratios must be at least 1; got {list(plan.imbalance.ratios)}")
    if plan.imbalance.kind == "one_vs_rest" and not plan.imbalance.classes:
        raise PlanError("imbalance.classes is empty: one_vs_rest needs to know which")
    for model in plan.models:
        _among("model", model, MODELS)
    known = {method for model in plan.models for method in known_methods(model)}
    for method in plan.methods:
        _among("method", method, known)
    for what, number in (
        ("runs", plan.runs),
        ("training.epochs", plan.training.epochs),
        ("training.batch_size", plan.training.batch_size),
        ("training.checkpoint_every", plan.training.checkpoint_every),
    ):
        if number < 1:
            raise PlanError(f"{what} must be at least 1; got {number}")
    if plan.training.clip < 0:
        raise PlanError(f"training.clip must be 0 or more; got {plan.training.clip}")
    if plan.selection.folds < 2:
        raise PlanError(f"selection.folds must be at least 2; got {plan.selection.folds}")
    if plan.selection.use_folds > plan.selection.folds:
        raise PlanError(
            f"selection.use_folds is {plan.selection.use_folds}, of {plan.selection.folds} folds"
        )
    if not 0 < plan.data.share <= 1:
        raise PlanError(f"data.share must be above 0 and at most 1; got {plan.data.share}")
    for kind in plan.data.features:
        _among("data.features", kind, ("pixels", "patches"))
    if len(plan.data.features) not in (1, len(plan.data.names)):
        raise PlanError("data.features must name one kind, or one for each of data.names")
    _among("training.augment", plan.training.augment, ("none", "crop", "crop_flip"))
    _among("training.precision", plan.training.precision, ("float32", "bfloat16"))


def _among(what: str, value: str, known: Any) -> None:
    if value not in known:
        raise PlanError(f"unknown {what} {value!r}{nearest(value, known)}")
