"""Tables of surfaces over λ and power, which show when margins help."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from immax.arrays import Array
from immax.bench.outcomes import Record, SurfacePoint
from immax.bench.results import column_of
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
    lams : ndarray of shape (n_lams,)
        In descending order.
    powers : ndarray of shape (n_powers,)
    train : ndarray of shape (n_runs, n_lams, n_powers)
        Accuracy on the training set.
    tests : dict of (str, str) to ndarray of shape (n_runs, n_lams, n_powers)
        Metrics by test set and name of the metric.
    """

    name: str
    lams: Array
    powers: Array
    train: Array
    tests: dict[tuple[str, str], Array]

    @property
    def plain(self) -> int:
        """The index of equal margins among the powers."""
        return int(np.abs(self.powers).argmin())

    def error(self) -> Array:
        """Return the training error with equal margins, for each λ.

        Returns
        -------
        ndarray of shape (n_lams,)
        """
        return np.asarray(1 - self.train[:, :, self.plain].mean(axis=0))

    def gains(self, test: str, metric: str) -> Array:
        """Return what each power gains over equal margins.

        Parameters
        ----------
        test, metric : str

        Returns
        -------
        ndarray of shape (n_runs, n_lams, n_powers)
            Positive where a power is better.
        """
        values = self.tests[test, metric]
        sign = METRICS[metric].sign
        return np.asarray(sign * (values - values[:, :, self.plain : self.plain + 1]))


def read_surfaces(records: Sequence[Record]) -> list[Surfaces]:
    """Collect the runs on each data set with its imbalance.

    Parameters
    ----------
    records : sequence of Record

    Returns
    -------
    list of Surfaces
    """
    groups: dict[str, list[tuple[SurfacePoint, ...]]] = {}
    for record in records:
        if record.result.surface:
            name = f"{column_of(record.cell)}, {record.cell.data.features}"
            groups.setdefault(name, []).append(record.result.surface)
    return [_collect(name, runs) for name, runs in groups.items()]


def _collect(name: str, runs: Sequence[Sequence[SurfacePoint]]) -> Surfaces:
    lams = np.array(sorted({point.lam for point in runs[0]}, reverse=True))
    powers = np.array(sorted({point.power for point in runs[0]}))
    train = np.zeros((len(runs), lams.size, powers.size))
    tests: dict[tuple[str, str], Array] = {}
    for run, points in enumerate(runs):
        for point in points:
            at = run, int(np.argmax(lams == point.lam)), int(np.argmax(powers == point.power))
            train[at] = point.train
            for test, metrics in point.tests.items():
                for metric in METRICS:
                    values = tests.setdefault((test, metric), np.full(train.shape, np.nan))
                    values[at] = metrics.get(metric, np.nan)
    return Surfaces(name, lams, powers, train, tests)


def surface_table(surfaces: Surfaces, test: str, metric: str) -> Table:
    """Return means over runs for every λ and power.

    Parameters
    ----------
    surfaces : Surfaces
    test, metric : str

    Returns
    -------
    Table
        A row for each λ. The best power of a row is bold if it differs significantly from zero, by
        a paired test over the runs at the level 0.05, not corrected for the number of powers.
    """
    values, gains = surfaces.tests[test, metric], surfaces.gains(test, metric)
    factor, digits = METRICS[metric].factor, METRICS[metric].digits
    rows = []
    for i, lam in enumerate(surfaces.lams):
        means = values[:, i].mean(axis=0)
        best = int((METRICS[metric].sign * means).argmax())
        row = [f"{lam:g}", f"{100 * surfaces.error()[i]:.2f}"]
        row += [f"{factor * mean:.{digits}f}" for mean in means]
        own = gains[:, i, best]
        if best != surfaces.plain and len(own) > 1 and paired_p(own) < LEVEL:
            row[2 + best] = bold(row[2 + best])
        row.append("–" if best == surfaces.plain else _gain(surfaces.powers[best], own, metric))
        rows.append(row)
    header = ["λ", "training error, %"]
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
