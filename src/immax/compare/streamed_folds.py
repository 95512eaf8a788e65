"""Methods on the folds of a table that is read in batches, one fold after the other."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress

import numpy as np

from immax.arrays import Array
from immax.compare.finished_folds import GoOn
from immax.compare.fold_cache import FoldCache, FoldResult
from immax.compare.fold_queue import FoldProgress, OnProgress
from immax.compare.protocol import FittedCandidate, Protocol, Split
from immax.compare.time_limit import has_time_for, interrupt_at
from immax.compare.training_rows import HeldOutPredictions, TrainingRows
from immax.decisions.decided_model import rule_of
from immax.distributed.row_hashes import fold_numbers
from immax.distributed.stream_parts import ReadMeter
from immax.evaluation.candidates import CANDIDATES, PLAIN
from immax.tabular.streamed_table import FoldPipelines, StreamedTable

__all__ = ["StreamedFolds", "hashed_splits"]


def hashed_splits(n_rows: int, protocol: Protocol) -> tuple[Split, ...]:
    """Return the folds of all repeats: a hash of a row's position says where it is held out.

    Parameters
    ----------
    n_rows : int
        The number of rows.
    protocol : Protocol

    Returns
    -------
    tuple of Split
        Without the rows of the training parts.
    """
    nothing = np.empty(0, dtype=np.uint32)
    kind = np.uint32 if n_rows < 2**32 else np.uint64
    splits: list[Split] = []
    for repeat in range(protocol.most_repeats):
        folds = fold_numbers(np.arange(n_rows), protocol.folds, protocol.seed + repeat)
        splits += [
            Split(nothing, np.flatnonzero(folds == fold).astype(kind))
            for fold in range(protocol.folds)
        ]
    return tuple(splits)


class StreamedFolds:
    """All methods on all folds; those of a fold share the passes over its rows.

    Parameters
    ----------
    table : StreamedTable
    first : FoldPipelines
        What ``table.fit_fold_pipelines`` returned for the folds of the first repeat.
    methods : sequence of str
        Methods that stream.
    protocol : Protocol
    cache : FoldCache
        Fits that it holds are not made again.
    time_limit : float, optional
        In seconds. When they are over, the current fold is abandoned.
    on_progress : callable, optional
        As for ``immax.compare.compare``.

    Attributes
    ----------
    results : dict of str to dict of int to FoldResult
        For each method, the results by fold.
    failed : dict of str to str
        The first line of the error of each method that failed.
    """

    def __init__(
        self,
        table: StreamedTable,
        first: FoldPipelines,
        methods: Sequence[str],
        protocol: Protocol,
        cache: FoldCache,
        *,
        time_limit: float | None = None,
        on_progress: OnProgress | None = None,
    ) -> None:
        self._table, self._methods, self._protocol, self._cache = table, methods, protocol, cache
        self._pipelines = {0: first}
        counts = np.bincount(first.codes, minlength=len(first.classes))
        self._scorer = protocol.scorer(first.classes, counts)
        self._start = time.monotonic()
        self._deadline = None if time_limit is None else self._start + time_limit
        self._on_progress = on_progress
        self._total = protocol.planned_folds * len(methods)
        self._meter = ReadMeter(lambda _: self._report())
        self._running: tuple[str, ...] = ()
        self.results: dict[str, dict[int, FoldResult]] = {name: {} for name in methods}
        self.failed: dict[str, str] = {}

    def run(self, go_on: GoOn | None = None) -> None:
        """Run all methods on all folds, or on as many as the time allows.

        Parameters
        ----------
        go_on : callable, optional
            Called with the number of folds when all of them are finished. If it returns True, the
            next repeat follows, if there is one and probably enough time for it.

        Raises
        ------
        ValueError
            If plain logistic regression fails.
        """
        protocol, begin, end = self._protocol, 0, self._protocol.planned_folds
        while True:
            for fold in range(begin, end):
                finished = False
                with suppress(TimeoutError), interrupt_at(self._deadline):
                    self._run_fold(fold)
                    finished = True
                if not finished:
                    return
            begin, end = end, end + protocol.folds
            if go_on is None or not self._may_go_on(begin) or not go_on(begin):
                return
            self._total += protocol.folds * len(self._methods)

    def _may_go_on(self, n_folds: int) -> bool:
        """Whether there is another repeat, and time for it if it takes as long as the others."""
        folds = self._protocol.folds
        if n_folds + folds > self._protocol.most_repeats * folds:
            return False
        return has_time_for(folds, n_folds, self._start, self._deadline)

    def _run_fold(self, fold: int) -> None:
        missing = []
        for name in self._methods:
            cached = None if name in self.failed else self._cache.load(name, fold)
            if cached is not None:
                self.results[name][fold] = cached
            elif name not in self.failed:
                missing.append(name)
        if not missing:
            return
        repeat, left_out = divmod(fold, self._protocol.folds)
        seed = self._protocol.seed + repeat
        if repeat not in self._pipelines:
            pipelines = self._table.fit_fold_pipelines(self._protocol.folds, seed)
            self._pipelines = {repeat: pipelines}
        steps = self._pipelines[repeat].training[left_out]
        with TrainingRows(
            self._table, steps, self._protocol, seed=seed, left_out=left_out, meter=self._meter
        ) as rows:
            for name, result in self._fit(rows, missing).items():
                self._cache.save(name, fold, result)
                self.results[name][fold] = result
        self._report()

    def _fit(self, rows: TrainingRows, names: Sequence[str]) -> dict[str, FoldResult]:
        chosen: dict[str, FittedCandidate] = {}
        seconds: dict[str, float] = {}
        for name in names:
            self._running, start = (name,), time.perf_counter()
            self._report()
            try:
                chosen[name] = rows.choose(name, self._scorer)
            except ValueError as error:
                if name == PLAIN:
                    raise
                self.failed[name] = str(error).strip().partition("\n")[0]
            seconds[name] = time.perf_counter() - start
        if not chosen:
            return {}
        self._running, start = (), time.perf_counter()
        models = [own.model for own in chosen.values()]
        rows.fit(models)
        aimed = self._scorer.aim is not None
        predicted = rows.predict(models, [CANDIDATES[name].proba or aimed for name in chosen])
        shared = (time.perf_counter() - start) / len(chosen)
        return {
            name: _as_result(predictions, seconds[name] + shared, own)
            for (name, own), predictions in zip(chosen.items(), predicted, strict=True)
        }

    def _report(self) -> None:
        if self._on_progress is not None:
            done = sum(map(len, self.results.values()))
            elapsed = time.monotonic() - self._start
            left = elapsed * (self._total - done) / done if done else None
            self._on_progress(
                FoldProgress(self._running, done, self._total, left, str(self._meter))
            )


def _as_result(
    predictions: HeldOutPredictions, seconds: float, chosen: FittedCandidate
) -> FoldResult:
    def join(arrays: Sequence[Array]) -> Array | None:
        return np.concatenate(arrays) if arrays else None

    labels, proba = np.concatenate(predictions.labels), join(predictions.proba)
    decision_proba = join(predictions.decision_proba)
    rule = rule_of(chosen.model)
    by = proba if decision_proba is None else decision_proba
    if rule is not None and rule.count is not None and by is not None:
        labels = rule.decide(by).astype(labels.dtype)  # of all rows, not of every part of them
    return FoldResult(labels, proba, seconds, chosen.chosen, decision_proba)
