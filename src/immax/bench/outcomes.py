"""The results of cells: measured values, predictions, and records of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from immax.arrays import Array
from immax.bench.cells import Cell, Json
from immax.evaluation.estimators import Chosen

__all__ = [
    "CellResult",
    "HeldOutResult",
    "Labels",
    "Metrics",
    "PlanResults",
    "Record",
    "SurfacePoint",
]

Metrics: TypeAlias = Mapping[str, float]
Labels: TypeAlias = dict[str, Array]

SETTINGS = ("chosen", "lam", "power")
STATES = ("waiting", "running", "done", "failed")


@dataclass(frozen=True)
class HeldOutResult:
    """Metrics on one test set, and the predictions that they are computed from.

    Parameters
    ----------
    metrics : mapping of str to float
    predicted, truth : ndarray of shape (n,), optional
        Class codes. Trials do not keep them.
    """

    metrics: Metrics
    predicted: Array | None = None
    truth: Array | None = None


@dataclass(frozen=True)
class SurfacePoint:
    """A fit with one value of λ and one power of the margins, none of which is selected.

    Parameters
    ----------
    lam, power : float
    train : float
        Accuracy on the training set.
    tests : mapping of str to mapping of str to float
        Metrics by test set.
    """

    lam: float
    power: float
    train: float
    tests: Mapping[str, Metrics]

    def to_json(self) -> Json:
        """Return the point as a dict.

        Returns
        -------
        dict
        """
        tests = {name: dict(metrics) for name, metrics in self.tests.items()}
        return {"lam": self.lam, "power": self.power, "train": self.train, "tests": tests}


@dataclass(frozen=True)
class CellResult:
    """The result of a cell.

    Parameters
    ----------
    chosen : mapping
        The hyper-parameters that were selected.
    tests : mapping of str to HeldOutResult
    diverged : bool, default=False
        Whether the training of a network ended with scores that are not finite.
    surface : tuple of SurfacePoint, default=()
        For the model "surface", in place of the others.
    """

    chosen: Chosen = field(default_factory=dict)
    tests: Mapping[str, HeldOutResult] = field(default_factory=dict)
    diverged: bool = False
    surface: tuple[SurfacePoint, ...] = ()

    def to_json(self) -> Json:
        """Return everything but the predictions as a dict.

        Returns
        -------
        dict
        """
        if self.surface:
            return {"surface": [point.to_json() for point in self.surface]}
        tests = {name: dict(test.metrics) for name, test in self.tests.items()}
        content: Json = {"chosen": dict(self.chosen), "tests": tests}
        return {**content, "diverged": True} if self.diverged else content

    def labels(self) -> Labels:
        """Return the predictions in the form that ``from_json`` takes.

        Returns
        -------
        dict of str to ndarray
            "NAME" and "NAME true" for each test set that has them.
        """
        labels: Labels = {}
        for name, test in self.tests.items():
            if test.predicted is not None and test.truth is not None:
                labels |= {name: test.predicted, f"{name} true": test.truth}
        return labels

    def rounded(self) -> CellResult:
        """Return the result with metrics of six digits, as result files and tables have them.

        Returns
        -------
        CellResult
        """
        return self.from_json(_rounded(self.to_json()), self.labels())

    @classmethod
    def from_json(cls, content: Json, labels: Labels) -> CellResult:
        """Return the result that ``to_json`` and ``labels`` described.

        Parameters
        ----------
        content : dict
        labels : dict of str to ndarray

        Returns
        -------
        CellResult
        """
        tests = {
            name: HeldOutResult(metrics, labels.get(name), labels.get(f"{name} true"))
            for name, metrics in content.get("tests", {}).items()
        }
        surface = tuple(SurfacePoint(**point) for point in content.get("surface", ()))
        return cls(content.get("chosen", {}), tests, content.get("diverged", False), surface)


@dataclass(frozen=True)
class Record:
    """A cell with its state and its result.

    Parameters
    ----------
    cell : Cell
    state : {"waiting", "running", "done", "failed"}
    result : CellResult
        Empty unless the cell is done.
    seconds, memory : float, optional
        The time that it took, and the peak memory of the process in MiB.
    environment : mapping of str to str
        Versions of the libraries, and the machine.
    error : str, optional
        The traceback of a cell that failed.
    """

    cell: Cell
    state: str
    result: CellResult = field(default_factory=CellResult)
    seconds: float | None = None
    memory: float | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    error: str | None = None


@dataclass(frozen=True)
class PlanResults:
    """The cells of a plan with their states and results, from a store or a result file.

    Parameters
    ----------
    plan, title : str
        The plan's name and title.
    digest : str
        The hash of its cells.
    commit, date : str
        The version of the code that computed the last cell, and when; empty if not known.
    records : sequence of Record
        One for every cell, in the plan's order.
    """

    plan: str
    title: str
    digest: str
    commit: str
    date: str
    records: Sequence[Record]

    def counts(self) -> dict[str, int]:
        """Return the number of cells in each state.

        Returns
        -------
        dict of str to int
        """
        counts = dict.fromkeys(STATES, 0)
        for record in self.records:
            counts[record.state] += 1
        return counts

    def done(self, stage: str | None = None) -> list[Record]:
        """Return the cells that are done.

        Parameters
        ----------
        stage : {"trial", "final"}, optional
            By default, of both stages.

        Returns
        -------
        list of Record
        """
        return [
            record
            for record in self.records
            if record.state == "done" and stage in (None, record.cell.stage)
        ]

    def rounded(self) -> PlanResults:
        """Return the results with metrics of six digits.

        Result files have no more, so that the tables of a store are those of its file.

        Returns
        -------
        PlanResults
        """
        records = [replace(record, result=record.result.rounded()) for record in self.records]
        return replace(self, records=records)

    def seconds(self) -> float:
        """Return the total time of all cells.

        Returns
        -------
        float
        """
        return float(np.sum([record.seconds or 0.0 for record in self.done()]))


def _rounded(content: Any) -> Any:
    """Return the JSON of a result with its metrics rounded, and its settings as they are."""
    if isinstance(content, float):
        return float(f"{content:.6g}")
    if isinstance(content, dict):
        return {k: v if k in SETTINGS else _rounded(v) for k, v in content.items()}
    return [_rounded(value) for value in content] if isinstance(content, list) else content
