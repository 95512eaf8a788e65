"""Cells: the units of work that a plan expands into.

A cell is identified by a hash of the JSON that describes it, so that results survive changes of
the plan around it, and of this code.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, TypeAlias

from immax.bench.sections import TrainingPlan
from immax.evaluation.selection import Selection

__all__ = [
    "Cell",
    "DataSpec",
    "EstimatorCell",
    "Grid",
    "NetworkCell",
    "Params",
    "TrialCell",
    "Variant",
    "cell_from_json",
    "digest_cells",
]

Params: TypeAlias = Mapping[str, float]
"""Hyper-parameters of a method by name."""

Grid: TypeAlias = Mapping[str, tuple[float, ...]]
"""Values to try for each hyper-parameter."""

Json: TypeAlias = dict[str, Any]

# Fields of a recipe or a selection that earlier versions did not have: they are part of the JSON
# only when they are used, so that cells keep their identity.
ADDED_LATER = frozenset({"aims", "clip", "each"})
RENAMED = {
    "set_name": "set",
    "class_name": "class",
}  # fields whose JSON keys are keywords of Python


@dataclass(frozen=True)
class DataSpec:
    """A data set as a cell uses it.

    Parameters
    ----------
    name : str
    share : float, default=1.0
        The share of every class that is kept.
    path, target : str, optional
        The file and the label column of a table.
    folds : int, optional
        Outer folds of tables and of collections of data sets.
    max_rows : int, optional
        Larger tables are reduced to this many rows.
    features : {"pixels", "patches"}, optional
        Features of images.
    patches : int, optional
        The number of patches.
    size : int, optional
        Pixels on a side that images are reduced to.
    """

    name: str
    share: float = 1.0
    path: str | None = None
    target: str | None = None
    folds: int | None = None
    features: str | None = None
    patches: int | None = None
    max_rows: int | None = None
    size: int | None = None


@dataclass(frozen=True)
class Variant:
    """Which part of a data set is used, or how it is made imbalanced.

    Parameters
    ----------
    set_name : str, optional
        A data set of a collection.
    kind : {"none", "long_tailed", "step", "one_vs_rest"}, optional
        The kind of imbalance of images.
    class_name : str, optional
        The positive class of "one_vs_rest".
    ratio, minority : float, optional
        As in ``ImbalancePlan``.
    fold : int, optional
        The outer fold of a table.
    """

    set_name: str | None = None
    kind: str | None = None
    class_name: str | None = None
    ratio: float | None = None
    minority: float | None = None
    fold: int | None = None


@dataclass(frozen=True)
class Cell:
    """A model and a method on a variant of a data set.

    Parameters
    ----------
    data : DataSpec
    variant : Variant
    tests : tuple of str
        The test sets.
    model, method : str
        Names of ``immax.evaluation.estimators``.
    revision : int, default=1
        The revision of the method's loss in the catalogue, and of how its data are thinned:
        results of an earlier one are those of another cell.
    """

    stage: ClassVar[str] = "final"

    data: DataSpec
    variant: Variant
    tests: tuple[str, ...]
    model: str
    method: str
    revision: int = field(default=1, kw_only=True)

    def to_json(self) -> Json:
        """Return the description whose hash identifies the cell.

        Returns
        -------
        dict
        """
        description = {
            "data": _given(self.data),
            "variant": _given(self.variant),
            "tests": list(self.tests),
            "model": self.model,
            "method": self.method,
            "stage": self.stage,
        }
        return description | ({"revision": self.revision} if self.revision > 1 else {})

    @property
    def id(self) -> str:
        """The first 16 digits of a SHA-256 hash of the description."""
        text = json.dumps(self.to_json(), sort_keys=True, separators=(",", ":"))
        return _hash(text)

    @property
    def group(self) -> str:
        """The key that the trials of a network share with the final cells that wait for them."""
        own = [_given(self.data), _given(self.variant), self.model, self.method]
        return json.dumps(own, sort_keys=True)

    @property
    def position(self) -> str:
        """What distinguishes the cell from others of its group."""
        return ""

    def label(self) -> str:
        """Return a name for progress bars and error messages.

        Returns
        -------
        str
        """
        variant = " ".join(str(value) for value in _given(self.variant).values())
        return f"{self.data.name} {variant} {self.model} {self.method} {self.position}"


@dataclass(frozen=True)
class EstimatorCell(Cell):
    """An estimator that selects its hyper-parameters when it is fitted.

    Parameters
    ----------
    data, variant, tests, model, method
        As in ``Cell``.
    selection : Selection
    grid : mapping of str to tuple of float
        Values to try in place of the defaults.
    run : int
        The seed.
    """

    selection: Selection
    grid: Grid
    run: int

    @property
    def position(self) -> str:
        return f"run {self.run}"

    def to_json(self) -> Json:
        grid = {name: list(values) for name, values in self.grid.items()}
        own = {"selection": _all(self.selection), "grid": grid, "run": self.run}
        return super().to_json() | own


@dataclass(frozen=True)
class TrialCell(Cell):
    """A network trained with one choice of hyper-parameters on part of the training set.

    Parameters
    ----------
    data, variant, tests, model, method
        As in ``Cell``.
    training : TrainingPlan
    params : mapping of str to float
    folds : int
        Folds of the training set.
    fold : int
        The one that is held out.
    """

    stage: ClassVar[str] = "trial"

    training: TrainingPlan
    params: Params
    folds: int
    fold: int

    @property
    def position(self) -> str:
        params = ",".join(f"{key}={value:g}" for key, value in self.params.items())
        return f"{params or 'default'} fold {self.fold}"

    def to_json(self) -> Json:
        own = {"params": dict(self.params), "folds": self.folds, "fold": self.fold}
        return super().to_json() | {"training": _all(self.training), **own}


@dataclass(frozen=True)
class NetworkCell(Cell):
    """A network trained on the whole training set, with what its trials have selected.

    Parameters
    ----------
    data, variant, tests, model, method
        As in ``Cell``.
    training : TrainingPlan
    points : tuple of mapping of str to float
        The hyper-parameters to select from.
    scoring : str
        The metric by which they are selected.
    run : int
        The seed.
    """

    training: TrainingPlan
    points: tuple[Params, ...]
    scoring: str
    run: int

    @property
    def position(self) -> str:
        return f"run {self.run}"

    @property
    def fixed_params(self) -> Params:
        """The hyper-parameters, if there is only one point to select from."""
        return self.points[0] if len(self.points) == 1 else {}

    def to_json(self) -> Json:
        select = {"of": [dict(point) for point in self.points], "by": self.scoring}
        own = {"training": _all(self.training), "select": select, "run": self.run}
        return super().to_json() | own


def cell_from_json(content: Json) -> Cell:
    """Return the cell that ``Cell.to_json`` described.

    Parameters
    ----------
    content : dict

    Returns
    -------
    EstimatorCell, TrialCell or NetworkCell
    """
    names = {short: long for long, short in RENAMED.items()}
    variant = {names.get(key, key): value for key, value in content["variant"].items()}
    common = (
        DataSpec(**content["data"]),
        Variant(**variant),
        tuple(content["tests"]),
        content["model"],
        content["method"],
    )
    revision = content.get("revision", 1)
    if "selection" in content:
        given = content["selection"]
        selection = Selection(**{key: _frozen(value) for key, value in given.items()})
        grid = {name: tuple(values) for name, values in content["grid"].items()}
        return EstimatorCell(*common, selection, grid, content["run"], revision=revision)
    training = TrainingPlan(**content["training"])
    if content["stage"] == "trial":
        own = (content["params"], content["folds"], content["fold"])
        return TrialCell(*common, training, *own, revision=revision)
    points, scoring = tuple(content["select"]["of"]), content["select"]["by"]
    return NetworkCell(*common, training, points, scoring, content["run"], revision=revision)


def digest_cells(ids: list[str]) -> str:
    """Return a hash of a set of cells.

    Parameters
    ----------
    ids : list of str
        Their identities, in any order.

    Returns
    -------
    str
    """
    return _hash("".join(sorted(ids)))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _given(part: DataSpec | Variant) -> Json:
    """Return the fields that are not None."""
    values = {RENAMED.get(one.name, one.name): getattr(part, one.name) for one in fields(part)}
    return {name: value for name, value in values.items() if value is not None}


def _all(part: Selection | TrainingPlan) -> Json:
    values = {one.name: getattr(part, one.name) for one in fields(part)}
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in values.items()
        if name not in ADDED_LATER or value
    }


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
