"""When margins help: what surfaces of λ and power say, as tables and as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from immax.bench.metrics import METRICS
from immax.bench.statistics import paired_interval, paired_p
from immax.bench.store import Record
from immax.bench.tables import PER_CENT, Table, column_of
from immax.pictures import COLOURS, axes

__all__ = ["Surfaces", "plot_surfaces", "read_surfaces", "surface_table"]

Array = NDArray[Any]

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
        sign = 1 if METRICS[metric] else -1
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
                    values[at] = found[metric]
    return Surfaces(name, lams, powers, train, tests)


def surface_table(found: Surfaces, test: str, metric: str) -> Table:
    """Means over runs. The best power of a row is bold if it differs significantly from zero.

    By a paired test over the runs, at the level 0.05, not corrected for the number of powers.
    """
    values, gains = found.tests[test, metric], found.gains(test, metric)
    factor, digits = (100, 2) if metric in PER_CENT else (1, 4)
    sign = 1 if METRICS[metric] else -1
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


def plot_surfaces(
    surfaces: Sequence[Surfaces], test: str, metric: str, path: str | Path | None = None
) -> Any:
    """Draw the gain of every power over equal margins against the training error.

    A panel for each data set. Returns the figure; saved if a path is given.
    """
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise ImportError('pictures need Matplotlib: pip install "immax[report]"') from error
    figure = Figure(figsize=(4.2 * len(surfaces), 3.6), layout="constrained")
    panels = figure.subplots(1, len(surfaces), squeeze=False)[0]
    factor = 100 if metric in PER_CENT else 1
    for panel, found in zip(panels, surfaces, strict=True):
        ax = axes(panel)
        wrong = np.maximum(100 * found.error(), 0.01)
        gains = factor * found.gains(test, metric)
        for number, power in enumerate(found.powers):
            if number == found.plain:
                continue
            own = gains[:, :, number]
            ax.errorbar(
                wrong,
                own.mean(axis=0),
                yerr=own.std(axis=0, ddof=1) if len(own) > 1 else None,
                color=COLOURS[number % len(COLOURS)],
                marker="o",
                markersize=4,
                capsize=2,
                linewidth=1.2,
                label=f"t = {power:.2f}",
            )
        ax.axhline(0, color="0.5", linewidth=1)
        ax.set_xscale("log")
        ax.invert_xaxis()
        ax.set_xticks(wrong, [f"{value:.2g}" for value in wrong])
        ax.set_xticks([], minor=True)
        ax.set_title(found.name, fontsize="small")
        ax.set_xlabel("training error with equal margins, %")
    panels[0].set_ylabel(f"gain in {metric.replace('_', ' ')} over t = 0")
    panels[-1].legend(fontsize="x-small")
    if path is not None:
        figure.savefig(path, metadata={"Date": None})
    return figure
