"""Methods fitted to the training rows of a table that is read in batches.

Hyper-parameters and decision rules are selected on a sample of the training rows, by the searches
of comparisons in memory. What was chosen is then fitted to all training rows: the linear models of
all methods in the same passes over the rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline

from immax.arrays import Array
from immax.compare.chosen_models import linear_models, without_search
from immax.compare.fold_fits import Predictions, predict_rows
from immax.compare.protocol import FittedCandidate, Protocol, fit_candidate
from immax.compare.target import FEWEST_ROWS
from immax.distributed.descent import Descent, Stopping
from immax.distributed.evaluation import Cell
from immax.distributed.minimisation import run_rounds
from immax.distributed.parted_classifiers import PartedBaseline, PartedIMMAX
from immax.distributed.parts_fit import prepare_parts
from immax.distributed.row_hashes import fold_numbers
from immax.distributed.row_part import RowPart
from immax.distributed.samples import (
    draw_rows,
    join_rows,
    sampled_preconditioner,
    sampled_problem,
)
from immax.distributed.spools import Spool
from immax.distributed.stream_parts import ReadMeter, StreamParts
from immax.errors import WrongCall
from immax.evaluation.held_out_scorer import HeldOutScorer
from immax.linear import IMMAXClassifier
from immax.tabular.streamed_table import StreamedTable

__all__ = ["SEARCH_ROWS", "HeldOutPredictions", "TrainingRows"]

SEARCH_ROWS = 100_000
"""The number of rows that hyper-parameters are selected on, about, unless another one is given."""


class HeldOutPredictions(NamedTuple):
    """The predictions of a method for held-out rows, with an array for each batch of rows."""

    labels: list[Array]
    proba: list[Array]
    decision_proba: list[Array]


class TrainingRows:
    """The rows of a table but those of one fold; all of them are prepared in the same way.

    The features are computed once, and kept in a temporary file as long as the object is used as a
    context.

    Parameters
    ----------
    table : StreamedTable
    steps : Pipeline
        The preprocessing, fitted to the training rows.
    protocol : Protocol
    seed : int, default=0
        Of the folds.
    left_out : int, optional
        The number of the fold whose rows are held out; by default none are.
    meter : ReadMeter, optional
        Counts what is read.
    """

    def __init__(
        self,
        table: StreamedTable,
        steps: Pipeline,
        protocol: Protocol,
        *,
        seed: int = 0,
        left_out: int | None = None,
        meter: ReadMeter | None = None,
    ) -> None:
        self._protocol, self._seed, self._left_out = protocol, seed, left_out
        self._spool = Spool(lambda: table.read_parts(steps))
        self._raw = StreamParts(self._spool.read, meter=meter)

    def __enter__(self) -> Self:
        folds = self._protocol.folds
        try:
            self._data = prepare_parts(self._raw, n_folds=folds, seed=self._seed)
            held_out = self._data.held_out
            if self._left_out is None:
                self._counts = self._data.counts
            else:
                self._counts = self._data.counts - held_out[:, self._left_out]
            self._sample = self._draw_sample()
        except BaseException:
            self._spool.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._spool.close()

    def _draw_sample(self) -> RowPart:
        """Return a sample of the training rows, of which every row is as likely a part."""
        folds, total = self._protocol.folds, float(self._counts.sum())
        if not self._counts.all():
            label = self._data.classes.tolist()[int(np.argmin(self._counts))]
            raise WrongCall(
                f"all rows of the class {label!r} are held out in one fold: use fewer --folds or "
                "another --seed, or --rows for a sample with stratified folds"
            )
        wanted = self._protocol.search_rows or SEARCH_ROWS
        rates = np.full(len(self._counts), min(1.0, wanted / total))
        drawn = self._data.parts.reduce(draw_rows, rates, folds, self._seed)
        sample = join_rows(drawn)
        if self._left_out is not None:
            own = fold_numbers(sample.places, folds, self._seed) != self._left_out
            rows = np.flatnonzero(own)
            sample = RowPart(sample.X[rows], sample.y[rows], sample.weight[rows], rows)
        if np.bincount(sample.y, minlength=len(rates)).min() < FEWEST_ROWS:
            raise WrongCall(
                f"a sample of {len(sample.y):,} rows has too few of a class for the searches: "
                "raise --search-rows"
            )
        return sample

    def choose(
        self, name: str, scorer: HeldOutScorer, classes: Array | None = None
    ) -> FittedCandidate:
        """Select the hyper-parameters and the decisions of a method on the sample.

        Parameters
        ----------
        name : str
            A name of ``CANDIDATES``.
        scorer : HeldOutScorer
        classes : ndarray of shape (c,), optional
            The labels; by default 0, 1, ….

        Returns
        -------
        FittedCandidate
            Fitted to the sample.
        """
        y = self._sample.y if classes is None else np.asarray(classes)[self._sample.y]
        candidate = fit_candidate(name, self._sample.X, y, self._protocol, scorer)
        return FittedCandidate(without_search(candidate.model), candidate.chosen)

    def fit(self, models: Sequence[Any]) -> None:
        """Fit what was chosen to all training rows; the models are changed.

        Parameters
        ----------
        models : sequence of classifier
            Models of ``choose``.
        """
        data = self._data._replace(counts=self._counts)
        cells: list[Cell] = []
        descents: list[Descent] = []
        cores = [core for model in models for core in linear_models(model)]
        parted: list[Any] = [_in_parts(core, len(self._sample)) for core in cores]
        losses = [own._parted_loss(data) for own in parted]
        for core, own, (_, rows) in zip(cores, parted, losses, strict=True):
            problem = sampled_problem(data.sample, rows, own.lam, own.fit_intercept)
            start = np.column_stack([core.coef_, core.intercept_])
            precondition = sampled_preconditioner(problem, start, self._seed)
            stopping = Stopping(own.tol, own.max_iter, convex=problem.risk.convex)
            descents.append(
                Descent(
                    [start], own.lam, True, precondition, stopping, problem.dtype, len(descents)
                )
            )
            cells.append(Cell(rows, self._left_out))
        run_rounds(data.parts, cells, descents, True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # as in comparisons in memory
            for core, own, (loss, _), descent in zip(cores, parted, losses, descents, strict=True):
                own.take_solution(data.classes, loss, descent.solution(), data.n_features)
                _take_fit(core, own, float(self._counts.sum()))
        for model in models:
            _renew_copies(model)

    def predict(self, models: Sequence[Any], has_proba: Sequence[bool]) -> list[HeldOutPredictions]:
        """Predict the rows that are held out, in one pass.

        Parameters
        ----------
        models : sequence of classifier
            Models that were fitted.
        has_proba : sequence of bool
            Whether probabilities are wanted of them.

        Returns
        -------
        list of HeldOutPredictions
        """
        pairs = list(zip(models, has_proba, strict=True))
        return list(self._data.parts.reduce(_predict_part, pairs, self._left_out))


def _in_parts(core: Any, n_rows: int) -> PartedIMMAX | PartedBaseline:
    """Return a linear model, which was fitted to so many rows, as one for rows in parts."""
    if isinstance(core, LogisticRegression):
        return PartedIMMAX(
            lam=1 / (2 * core.C * n_rows),
            margins="equal",
            weights=core.class_weight or "equal",
            random_state=0,
        )
    kind = PartedIMMAX if isinstance(core, IMMAXClassifier) else PartedBaseline
    return kind(**core.get_params(deep=False))


def _take_fit(core: Any, fitted: PartedIMMAX | PartedBaseline, n_rows: float) -> None:
    """Give a linear model the coefficients of a fit to all rows."""
    if isinstance(core, LogisticRegression):
        core.coef_, core.intercept_ = fitted.coef_, fitted.intercept_
        core.n_iter_ = np.array([fitted.n_iter_], dtype=np.int32)
        core.C = 1 / (2 * fitted.lam * n_rows)
        return
    for name, value in vars(fitted).items():
        if name.endswith("_") and name not in ("classes_", "n_rounds_"):
            setattr(core, name, value)


def _renew_copies(model: Any) -> None:
    """Give a search for margins the attributes of its final model."""
    search = getattr(model, "model", model)  # which may be inside a model with a rule
    if hasattr(search, "best_parameters_"):
        search.take_fit()


def _predict_part(
    part: RowPart, models: Sequence[tuple[Any, bool]], fold: int
) -> tuple[HeldOutPredictions, ...]:
    """Predict the rows of a part that are held out; in few bytes, for there are many rows."""
    X = part.X[part.folds == fold]
    return tuple(
        _compact(predict_rows(model, X, has_proba)) if len(X) else HeldOutPredictions([], [], [])
        for model, has_proba in models
    )


def _compact(predictions: Predictions) -> HeldOutPredictions:
    return HeldOutPredictions(
        [predictions.labels.astype(np.int16)],
        *(
            [] if proba is None else [proba.astype(np.float32)]
            for proba in (predictions.proba, predictions.decision_proba)
        ),
    )
