"""Tables of surfaces over λ, or epochs, and power, which show when margins help."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from immax.arrays import Array
from immax.bench.cells import NetworkCell
from immax.bench.outcomes import Metrics, Record
from immax.bench.results import column_of
from immax.bench.sections import TRAINING
from immax.bench.table import Table, bold
from immax.evaluation.metrics import METRICS
from immax.evaluation.statistics import paired_interval, paired_p

__all__ = ["Surfaces", "read_surfaces", "surface_table"]

LEVEL = 0.05  # of significance


@dataclass(frozen=True)
class Surfaces:
    """The surfaces of all runs on one data set.

    Parameters
    ----------
    name : str
    setting : str
        What makes the training error small: "λ" or "epochs".
    settings : ndarray of shape (n_settings,)
        Values of λ in descending order, or numbers of epochs in ascending order.
    powers : ndarray of shape (n_powers,)
    train : ndarray of shape (n_runs, n_settings, n_powers)
        Accuracy on the training set.
    tests : dict of (str, str) to ndarray of shape (n_runs, n_settings, n_powers)
        Metrics by test set and name of the metric.
    """

    name: str
    setting: str
    settings: Array
    powers: Array
    train: Array
    tests: dict[tuple[str, str], Array]

    @property
    def plain(self) -> int:
        """The index of equal margins among the powers."""
        return int(np.abs(self.powers).argmin())

    def error(self) -> Array:
        """Return the training error with equal margins, for each setting.

        Returns
        -------
        ndarray of shape (n_settings,)
        """
        return np.asarray(1 - self.train[:, :, self.plain].mean(axis=0))

    def gains(self, test: str, metric: str) -> Array:
        """Return what each power gains over equal margins.

        Parameters
        ----------
        test, metric : str

        Returns
        -------
        ndarray of shape (n_runs, n_settings, n_powers)
            Positive where a power is better.
        """
        values = self.tests[test, metric]
        sign = METRICS[metric].sign
        return np.asarray(sign * (values - values[:, :, self.plain : self.plain + 1]))


@dataclass(frozen=True)
class _Point:
    """A fit or a training of one run with one setting and one power."""

    run: int
    setting: float
    power: float
    train: float
    tests: dict[str, Metrics]


def read_surfaces(records: Sequence[Record]) -> list[Surfaces]:
    """Collect the runs on each data set with its imbalance.

    Parameters
    ----------
    records : sequence of Record
        Cells of the model "surface", and networks that were trained with margins of mean one and
        fixed powers: those runs are taken that have been trained with every power and number of
        epochs, and with cross-entropy, which has equal margins.

    Returns
    -------
    list of Surfaces
    """
    linear: dict[str, list[_Point]] = {}
    networks: dict[str, list[_Point]] = {}
    for record in records:
        cell, result = record.cell, record.result
        if result.surface:
            points = linear.setdefault(f"{column_of(cell)}, {cell.data.features}", [])
            run = max((point.run for point in points), default=-1) + 1
            points += [_Point(run, p.lam, p.power, p.train, dict(p.tests)) for p in result.surface]
        elif isinstance(cell, NetworkCell) and TRAINING in result.tests:
            power = _power(cell)
            if power is not None:
                metrics = {name: test.metrics for name, test in result.tests.items()}
                train = metrics.pop(TRAINING)["accuracy"]
                point = _Point(cell.run, cell.training.epochs, power, train, metrics)
                networks.setdefault(f"{column_of(cell)}, {cell.model}", []).append(point)
    surfaces = [_collect(name, "λ", points) for name, points in linear.items()]
    surfaces += [_collect(name, "epochs", points) for name, points in networks.items()]
    return [own for own in surfaces if own.powers.size > 1 and 0.0 in own.powers and len(own.train)]


def _power(cell: NetworkCell) -> float | None:
    """Return the power of a network's margins, if they have mean one and were not selected."""
    if cell.method == "ce":
        return 0.0
    params = dict(cell.fixed_params)
    return params["power"] if cell.method == "immax" and set(params) == {"power"} else None


def _collect(name: str, setting: str, points: Iterable[_Point]) -> Surfaces:
    by_place = {(point.run, point.setting, point.power): point for point in points}
    settings = sorted({value for _, value, _ in by_place}, reverse=setting == "λ")
    powers = sorted({power for _, _, power in by_place})
    runs = [
        run
        for run in sorted({run for run, _, _ in by_place})
        if all((run, value, power) in by_place for value in settings for power in powers)
    ]
    shape = len(runs), len(settings), len(powers)
    grid = [by_place[run, value, power] for run in runs for value in settings for power in powers]
    train = np.array([point.train for point in grid]).reshape(shape)
    tests = {
        (test, metric): np.array([point.tests[test].get(metric, np.nan) for point in grid]).reshape(
            shape
        )
        for test in (grid[0].tests if grid else ())
        for metric in METRICS
    }
    return Surfaces(name, setting, np.array(settings), np.array(powers), train, tests)


def surface_table(surfaces: Surfaces, test: str, metric: str) -> Table:
    """Return means over runs for every setting and power.

    Parameters
    ----------
    surfaces : Surfaces
    test, metric : str

    Returns
    -------
    Table
        A row for each setting. The best power of a row is bold if it differs significantly from
        zero, by a paired test over the runs at the level 0.05, not corrected for the number of
        powers.
    """
    values, gains = surfaces.tests[test, metric], surfaces.gains(test, metric)
    factor, digits = METRICS[metric].factor, METRICS[metric].digits
    rows = []
    for i, setting in enumerate(surfaces.settings):
        means = values[:, i].mean(axis=0)
        best = int((METRICS[metric].sign * means).argmax())
        row = [f"{setting:g}", f"{100 * surfaces.error()[i]:.2f}"]
        row += [f"{factor * mean:.{digits}f}" for mean in means]
        own = gains[:, i, best]
        if best != surfaces.plain and len(own) > 1 and paired_p(own) < LEVEL:
            row[2 + best] = bold(row[2 + best])
        row.append("–" if best == surfaces.plain else _gain(surfaces.powers[best], own, metric))
        rows.append(row)
    header = [surfaces.setting, "training error, %"]
    header += [f"t = {power:.2f}" for power in surfaces.powers]
    title = f"{surfaces.name}, {test} test, {metric}, {len(values)} runs"
    return Table(title, [*header, "best t: gain over t = 0"], rows)


def _gain(power: float, gains: Array, metric: str) -> str:
    factor, digits = METRICS[metric].factor, METRICS[metric].digits
    text = f"{power:.2f}: {factor * gains.mean():+.{digits}f}"
    if len(gains) < 2:
        return text
    low, high = (factor * end for end in paired_interval(gains))
    return f"{text} ({low:+.{digits}f} to {high:+.{digits}f})"
