"""Final cells by data set, model and method: their values, and paired differences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from immax.arrays import Array, Vector
from immax.bench.cells import Cell, NetworkCell
from immax.bench.outcomes import HeldOutResult, Record
from immax.evaluation.box_search import is_box_search

__all__ = ["Results", "column_of"]


class Results:
    """The results of final cells, arranged for tables.

    Parameters
    ----------
    records : sequence of Record
        Cells that are done. Those without test sets (surfaces) are left out.

    Attributes
    ----------
    records : list of Record
    methods, models, tests : list of str
        In the order of the records. Methods with fixed hyper-parameters are named with them.
    columns : list of str
        Data sets, and what was done to them, without folds and runs; with the number of epochs if
        networks differ in it.
    """

    def __init__(self, records: Sequence[Record]) -> None:
        self.records = [record for record in records if record.result.tests]
        keys = _table_keys([record.cell for record in self.records])
        self.columns = _distinct(column for column, _ in keys)
        self.methods = _distinct(method for _, method in keys)
        self.models = _distinct(record.cell.model for record in self.records)
        self.tests = _distinct(name for record in self.records for name in record.result.tests)
        self._groups: dict[tuple[str, str, str], list[Record]] = {}
        for record, (column, method) in zip(self.records, keys, strict=True):
            self._groups.setdefault((column, record.cell.model, method), []).append(record)

    def of(self, column: str, model: str, method: str) -> list[Record]:
        """Return the runs (and outer folds) of a method, in order.

        Parameters
        ----------
        column, model, method : str

        Returns
        -------
        list of Record
        """
        return sorted(self._groups.get((column, model, method), []), key=_repetition)

    def values(self, column: str, model: str, method: str, test: str, metric: str) -> Vector:
        """Return a metric of each run; NaN where a run does not have it.

        Parameters
        ----------
        column, model, method, test, metric : str

        Returns
        -------
        ndarray of shape (n_runs,)
        """
        runs = [record.result.tests[test].metrics for record in self.of(column, model, method)]
        values = [metrics.get(metric) for metrics in runs]
        return np.array([np.nan if value is None else value for value in values], dtype=float)

    def matrix(self, model: str, test: str, metric: str, methods: Sequence[str]) -> Array:
        """Return means over runs; NaN where a method has not finished all of them.

        Parameters
        ----------
        model, test, metric : str
        methods : sequence of str

        Returns
        -------
        ndarray of shape (n_columns, n_methods)
            A run (or outer fold) of a data set counts as soon as any method of any model has
            finished it.
        """
        means = np.full((len(self.columns), len(methods)), np.nan)
        for i, column in enumerate(self.columns):
            runs = {
                _repetition(record)
                for own in self.models
                for method in self.methods
                for record in self.of(column, own, method)
            }
            for j, method in enumerate(methods):
                values = self.values(column, model, method, test, metric)
                if values.size and values.size == len(runs):
                    means[i, j] = values.mean()
        return means

    def differences(
        self, column: str, model: str, pair: tuple[str, str], test: str, metric: str
    ) -> Vector:
        """Return paired differences of two methods.

        Parameters
        ----------
        column, model : str
        pair : (str, str)
            The second method is subtracted from the first.
        test, metric : str

        Returns
        -------
        ndarray
            For accuracy, one for each test sample; else one for each run. Empty if the methods
            were not run on the same folds with the same seeds.
        """
        first, second = (self.of(column, model, method) for method in pair)
        if [_repetition(one) for one in first] != [_repetition(one) for one in second]:
            return np.array([])
        one, two = ([record.result.tests[test] for record in runs] for runs in (first, second))
        if metric == "accuracy" and one and all(run.predicted is not None for run in (*one, *two)):
            parts = [_correct(a) - _correct(b) for a, b in zip(one, two, strict=True)]
            if _share_truth(one):
                return np.asarray(np.mean(parts, axis=0))  # runs share their test samples
            return np.concatenate(parts)
        return self.values(column, model, pair[0], test, metric) - self.values(
            column, model, pair[1], test, metric
        )


def column_of(cell: Cell) -> str:
    """Return a name for the data of a cell, without folds and runs.

    Parameters
    ----------
    cell : Cell

    Returns
    -------
    str
    """
    variant = cell.variant
    if variant.set_name is not None:
        return variant.set_name
    if variant.class_name is not None:
        return f"{cell.data.name} {variant.class_name}"
    if variant.ratio is not None:
        return f"{cell.data.name} {variant.kind} {variant.ratio:g}"
    return cell.data.name


def _table_keys(cells: Sequence[Cell]) -> list[tuple[str, str]]:
    """Return the column and the method of each cell."""
    recipes = [cell.training for cell in cells if isinstance(cell, NetworkCell)]
    many_epochs = len({recipe.epochs for recipe in recipes}) > 1
    many_rates = len({recipe.lr for recipe in recipes}) > 1
    keys = []
    for cell in cells:
        column, method = column_of(cell), cell.method
        if isinstance(cell, NetworkCell):
            column += f", {cell.training.epochs} epochs" if many_epochs else ""
            searched = is_box_search(cell.fixed_params)
            fixed = {} if searched else dict(cell.fixed_params)
            fixed |= {"lr": cell.training.lr} if many_rates else {}
            method = " ".join([method, *(f"{name}={value:.3g}" for name, value in fixed.items())])
        keys.append((column, method))
    return keys


def _correct(test: HeldOutResult) -> Vector:
    return np.asarray(test.predicted == test.truth, dtype=float)


def _share_truth(tests: Sequence[HeldOutResult]) -> bool:
    truths = [test.truth for test in tests if test.truth is not None]
    return all(np.array_equal(truths[0], own) for own in truths)


def _repetition(record: Record) -> tuple[int, int]:
    """Return the run and the outer fold."""
    return int(getattr(record.cell, "run", 0)), record.cell.variant.fold or 0


def _distinct(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))
