"""The model that a comparison recommends, fitted to all rows, in a form that can be saved."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline

from immax.arrays import Array, Features
from immax.compare.chosen_models import without_search
from immax.compare.protocol import fit_candidate
from immax.compare.results import Comparison
from immax.compare.training_rows import TrainingRows
from immax.decisions.decided_model import DecidedModel
from immax.decisions.fitted_wrapper import FittedWrapper
from immax.distributed.stream_parts import ReadMeter
from immax.evaluation.candidates import CANDIDATES
from immax.tabular import prepare
from immax.tabular.streamed_table import StreamedTable

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["CodedLabels", "refit", "refit_all"]


class CodedLabels(FittedWrapper):
    """A classifier of the integers 0, 1, … that predicts the labels that they stand for.

    Parameters
    ----------
    model : estimator
        Fitted to the integers.
    classes : ndarray of shape (n_classes,)
        The sorted labels.
    """

    def __init__(self, model: BaseEstimator, classes: Array) -> None:
        self.model = model
        self.classes = classes

    @property
    def classes_(self) -> Array:
        """Return the labels."""
        return self.classes

    def fit(self, X: Features, y: ArrayLike) -> Self:
        self.model.fit(X, np.searchsorted(self.classes, y))
        return self

    def predict(self, X: Features) -> Array:
        return np.asarray(self.classes)[np.asarray(self.model.predict(X))]


def refit(comparison: Comparison, name: str) -> Pipeline:
    """Fit a method to all rows of a comparison.

    Parameters
    ----------
    comparison : Comparison
    name : str
        A name of ``CANDIDATES``.

    Returns
    -------
    Pipeline
        Preprocessing and model, which take tables and predict the original labels.
    """
    return refit_all(comparison, [name])[name]


def refit_all(
    comparison: Comparison, names: Iterable[str], meter: ReadMeter | None = None
) -> dict[str, Pipeline]:
    """Fit methods to all rows of a comparison.

    Parameters
    ----------
    comparison : Comparison
    names : iterable of str
        Names of ``CANDIDATES``.
    meter : ReadMeter, optional
        Counts what is read, if the table is streamed.

    Returns
    -------
    dict of str to Pipeline
        As ``refit`` returns them. A table that is streamed is read for all of them together.
    """
    if isinstance(comparison.X, StreamedTable):
        return _refit_streamed(comparison, comparison.X, list(names), meter)
    return {name: _refit_in_memory(comparison, comparison.X, name) for name in names}


def _refit_in_memory(comparison: Comparison, X: DataFrame, name: str) -> Pipeline:
    coded = CANDIDATES[name].codes
    y = comparison.codes if coded else comparison.classes[comparison.codes]
    steps = prepare(comparison.schema)
    features = steps.fit_transform(X)
    model = fit_candidate(name, features, y, comparison.protocol, comparison.scorer).model
    if not coded:
        last = without_search(model)
    elif isinstance(model, DecidedModel):
        inner = CodedLabels(without_search(model.model), comparison.classes)
        last = DecidedModel(inner, replace(model.rule, classes=comparison.classes))
    else:
        last = CodedLabels(model, comparison.classes)
    return Pipeline([*steps.steps, ("model", last)])


def _refit_streamed(
    comparison: Comparison, table: StreamedTable, names: Sequence[str], meter: ReadMeter | None
) -> dict[str, Pipeline]:
    steps, _ = table.fit_pipeline()
    with TrainingRows(table, steps, comparison.protocol, meter=meter) as rows:
        chosen = {name: rows.choose(name, comparison.scorer, comparison.classes) for name in names}
        models = {name: own.model for name, own in chosen.items()}
        rows.fit(list(models.values()))
    return {name: Pipeline([*steps.steps, ("model", model)]) for name, model in models.items()}
