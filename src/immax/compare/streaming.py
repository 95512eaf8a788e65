"""Comparisons on Parquet tables that are larger than memory."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from types import MappingProxyType

import numpy as np

from immax.compare.finished_folds import run_folds
from immax.compare.fold_cache import FoldCache
from immax.compare.fold_queue import OnProgress
from immax.compare.protocol import Protocol, fold_settings
from immax.compare.results import Comparison
from immax.compare.running import AIM_METRIC
from immax.compare.streamed_folds import StreamedFolds, hashed_splits
from immax.compare.target import check_classes
from immax.distributed.parquet_files import list_parquet_files
from immax.evaluation.candidates import choose_candidates
from immax.tabular.streamed_table import FoldPipelines, StreamedTable

__all__ = ["compare_streamed"]


def compare_streamed(
    table: StreamedTable,
    pipelines: FoldPipelines | None = None,
    *,
    methods: Iterable[str] | None = None,
    protocol: Protocol | None = None,
    time_limit: float | None = None,
    keep: Path | None = None,
    on_progress: OnProgress | None = None,
) -> Comparison:
    """Run methods on the same folds of a table that is read in batches.

    The protocol is that of ``compare``, with two differences. A hash of a row's position says in
    which fold it is held out; and hyper-parameters and decision rules are selected on a sample of
    the training rows, ``protocol.search_rows`` of them. All rows serve the fits and the tests.

    Parameters
    ----------
    table : StreamedTable
        What ``immax.tabular.streamed_table.open_streamed`` returns.
    pipelines : FoldPipelines, optional
        What ``table.fit_fold_pipelines(protocol.folds, protocol.seed)`` returned, if it has been
        called already.
    methods : iterable of str, optional
        Keys of ``CANDIDATES``, or ``["all"]``; by default ``DEFAULT``. Those that are not linear
        models with a smooth loss are left out.
    protocol : Protocol, optional
        By default ``Protocol()``.
    time_limit : float, optional
        In seconds. When they are over, the current fold is abandoned.
    keep : Path, optional
        A folder for the results of finished folds, as for ``compare``.
    on_progress : callable, optional
        Called with a ``FoldProgress``, whose ``reading`` says what was read.

    Returns
    -------
    Comparison
        Of predictions for all rows; its ``X`` is the table, which ``refit`` reads again.

    Raises
    ------
    WrongCall
        If a method is unknown, the target is not one of classes, or a sample or a training part
        lacks a class.
    TimeoutError
        If not even plain logistic regression was finished on two folds within the time limit.
    """
    protocol = protocol or Protocol()
    pipelines = pipelines or table.fit_fold_pipelines(protocol.folds, protocol.seed)
    check_classes(pipelines.classes, np.bincount(pipelines.codes, minlength=len(pipelines.classes)))
    metric = protocol.metric if protocol.aim is None else AIM_METRIC
    c, n = len(pipelines.classes), len(pipelines.codes)
    names, left_out = choose_candidates(methods, c, n, metric, streamed=True)
    splits = hashed_splits(n, protocol)
    shapes = [(len(split.test), c) for split in splits]
    cache = FoldCache(keep, _identity(table, pipelines, protocol), shapes)
    runner = StreamedFolds(
        table, pipelines, names, protocol, cache, time_limit=time_limit, on_progress=on_progress
    )
    comparison = Comparison(
        protocol,
        table,
        table.schema,
        pipelines.classes,
        pipelines.codes,
        splits,
        {},
        MappingProxyType(left_out),
    )
    return run_folds(comparison, runner, runner.run)


def _identity(table: StreamedTable, pipelines: FoldPipelines, protocol: Protocol) -> str:
    """Return a hash of everything that the results of a fold depend on, but for the cells.

    Files count by their sizes and times of change: reading all of them takes long.
    """
    digest = hashlib.sha256()
    for path in list_parquet_files(table.file.path):
        about = path.stat()
        digest.update(repr((str(path), about.st_size, about.st_mtime_ns)).encode())
    digest.update(repr((table.schema, table.target)).encode())
    digest.update(pipelines.codes.tobytes())
    settings = ("streamed", protocol.search_rows, *fold_settings(protocol))
    digest.update(repr(settings).encode())
    return digest.hexdigest()[:16]
