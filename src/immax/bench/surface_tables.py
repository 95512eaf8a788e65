"""When margins help: what surfaces of λ and power say, as tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from immax.arrays import Array
from immax.bench.store import Record
from immax.bench.tables import Table, column_of
from immax.evaluation.metrics import METRICS
from immax.evaluation.statistics import paired_interval, paired_p

__all__ = ["Surfaces", "read_surfaces", "surface_table"]

LEVEL = 0.05


@dataclass(frozen=True)
class Surfaces:
    """The surfaces of all runs on one data set."""

    name: str
    lams: Array  # descending
    powers: Array
    train: Array  # accuracy on the training set: runs, λ, powers
    tests: dict[tuple[str, str], Array]  # (test, metric) to runs, λ, powers

    @property
    def plain(self) -> int:
        """Where equal margins are."""
        return int(np.abs(self.powers).argmin())

    def error(self) -> Array:
        """Training error with equal margins, for each λ."""
        return np.asarray(1 - self.train[:, :, self.plain].mean(axis=0))

    def gains(self, test: str, metric: str) -> Array:
        """What each power gains over equal margins, positive if better: runs, λ, powers."""
        values = self.tests[test, metric]
        sign = METRICS[metric].sign
        return np.asarray(sign * (values - values[:, :, self.plain : self.plain + 1]))


def read_surfaces(records: Sequence[Record]) -> list[Surfaces]:
    """One for each data set and imbalance."""
    grouped: dict[str, list[dict[str, Any]]] = {}
    for record in records:
        if "surface" in record.result:
            features = record.cell.spec["data"]["features"]
            name = f"{column_of(record)}, {features}"
            grouped.setdefault(name, []).append(record.result["surface"])
    return [_surfaces(name, runs) for name, runs in grouped.items()]


def _surfaces(name: str, runs: Sequence[Any]) -> Surfaces:
    lams = np.array(sorted({point["lam"] for point in runs[0]}, reverse=True))
    powers = np.array(sorted({point["power"] for point in runs[0]}))
    train = np.zeros((len(runs), lams.size, powers.size))
    tests: dict[tuple[str, str], Array] = {}
    for run, points in enumerate(runs):
        for point in points:
            at = run, int(np.argmax(lams == point["lam"])), int(np.argmax(powers == point["power"]))
            train[at] = point["train"]
            for test, found in point["tests"].items():
                for metric in METRICS:
                    values = tests.setdefault((test, metric), np.full(train.shape, np.nan))
                    values[at] = found.get(metric, np.nan)
    return Surfaces(name, lams, powers, train, tests)


def surface_table(found: Surfaces, test: str, metric: str) -> Table:
    """Means over runs. The best power of a row is bold if it differs significantly from zero.

    By a paired test over the runs, at the level 0.05, not corrected for the number of powers.
    """
    values, gains = found.tests[test, metric], found.gains(test, metric)
    factor, digits = METRICS[metric].factor, METRICS[metric].digits
    sign = METRICS[metric].sign
    rows = []
    for i, lam in enumerate(found.lams):
        means = values[:, i].mean(axis=0)
        best = int((sign * means).argmax())
        row = [f"{lam:g}", f"{100 * found.error()[i]:.2f}"]
        row += [f"{factor * mean:.{digits}f}" for mean in means]
        p = paired_p(gains[:, i, best]) if len(values) > 1 else 1.0
        if best != found.plain and p < LEVEL:
            row[2 + best] = "*" + row[2 + best]
        low, high = paired_interval(gains[:, i, best])
        gain = f"{factor * gains[:, i, best].mean():+.{digits}f}"
        interval = f" ({factor * low:+.{digits}f} to {factor * high:+.{digits}f})"
        row.append(
            "–"
            if best == found.plain
            else f"{found.powers[best]:.2f}: {gain}" + (interval if len(values) > 1 else "")
        )
        rows.append(row)
    header = ["λ", "training error, %"]
    header += [f"t = {power:.2f}" for power in found.powers]
    title = f"{found.name}, {test} test, {metric}, {len(values)} runs"
    return Table(title, [*header, "best t: gain over t = 0"], rows)
