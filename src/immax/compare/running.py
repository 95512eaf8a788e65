"""Methods run on the same folds, with everything fitted inside the training parts."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from immax.compare.finished_folds import run_folds
from immax.compare.fold_cache import FoldCache
from immax.compare.fold_fits import FoldData
from immax.compare.fold_queue import FoldQueue, OnProgress
from immax.compare.protocol import Protocol, fold_settings
from immax.compare.results import Comparison
from immax.compare.target import Target, encode_target
from immax.evaluation.candidates import choose_candidates
from immax.tabular import Schema, describe_columns
from immax.tabular.frames import as_data_frame
from immax.threads import available_cores

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from pandas import DataFrame, Series

__all__ = ["AIM_METRIC", "OnFold", "compare"]

OnFold: TypeAlias = Callable[[str, int, int], None]
"""Called with a method, the number of finished fits and the number of all of them."""

AIM_METRIC = "accuracy"
"""The metric by which methods are chosen if there is an aim, for which all of them have enough."""


def compare(
    X: DataFrame,
    y: Series | ArrayLike,
    *,
    methods: Iterable[str] | None = None,
    protocol: Protocol | None = None,
    schema: Schema | None = None,
    time_limit: float | None = None,
    keep: Path | None = None,
    on_fold: OnFold | None = None,
    on_piece: OnFold | None = None,
    on_progress: OnProgress | None = None,
    n_jobs: int = 1,
) -> Comparison:
    """Run methods on the same folds.

    Preprocessing is fitted to the training part of each fold, and hyper-parameters are selected by
    cross-validation within it. All methods run on the first fold, then on the second one, and so
    on: when the time is up, all of them have been run on about the same number of folds. If the
    protocol has ``max_repeats``, rows are split again while the answer is open, and while
    another repeat will probably be finished in time.

    Parameters
    ----------
    X : DataFrame
        The features, of any type.
    y : Series or array-like
        The labels, of any type.
    methods : iterable of str, optional
        Keys of ``CANDIDATES``, or ``["all"]``; by default ``DEFAULT``.
    protocol : Protocol, optional
        By default ``Protocol()``.
    schema : Schema, optional
        The columns of ``X``, if ``describe_columns`` has been called already.
    time_limit : float, optional
        The limit in seconds. After that, the current fit is abandoned and no other is started. A
        single fit may take half of the remaining time. Methods are compared on the folds that as
        many of them as possible have finished; those that have not are left out.
    keep : Path, optional
        A folder for the results of finished folds. Results that are already there are not
        computed again.
    on_fold : callable, optional
        Called before each fit of this process with the name of the method, the number of finished
        fits and the number of all of them; and at the end, with an empty name.
    on_piece : callable, optional
        The old name of ``on_fold``.

        .. deprecated:: 0.2
           Use ``on_fold`` instead.
    on_progress : callable, optional
        Called with a ``FoldProgress`` whenever a fit begins or ends.
    n_jobs : int, default=1
        The number of processes; -1 for all cores. For twenty fits or more the others are started at
        once, for fewer when they have taken a second and will go on for some more. Results do not
        depend on it.

    Returns
    -------
    Comparison
        Methods that fail are left out, with the reason.

    Raises
    ------
    WrongCall
        If a method is unknown, or if the target does not consist of classes.
    TimeoutError
        If not even plain logistic regression was finished on two folds within the time limit.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.datasets import load_breast_cancer
    >>> data = load_breast_cancer(as_frame=True)
    >>> X = data.data[["mean radius", "mean texture"]]
    >>> comparison = compare(X, data.target, methods=["weights"])
    >>> comparison.complete
    ['logistic', 'weights']
    """
    if on_piece is not None:
        warnings.warn("on_piece is deprecated: use on_fold", FutureWarning, stacklevel=2)
        on_fold = on_piece
    protocol = protocol or Protocol()
    target = encode_target(y)
    X = as_data_frame(X)
    schema = describe_columns(X) if schema is None else schema
    metric = protocol.metric if protocol.aim is None else AIM_METRIC
    names, left_out = choose_candidates(methods, len(target.classes), len(target.codes), metric)
    splits = protocol.splits(target.codes)
    shapes = [(len(split.test), len(target.classes)) for split in splits]
    queue = FoldQueue(
        FoldData(X, target.classes, target.codes, schema, splits, protocol),
        names,
        FoldCache(keep, _identity(X, target, protocol), shapes),
        time_limit=time_limit,
        on_fold=on_fold,
        on_progress=on_progress,
    )
    comparison = Comparison(
        protocol, X, schema, target.classes, target.codes, splits, {}, MappingProxyType(left_out)
    )
    n_jobs = available_cores() if n_jobs == -1 else n_jobs
    return run_folds(comparison, queue, lambda go_on: queue.run(n_jobs, go_on))


def _identity(X: DataFrame, target: Target, protocol: Protocol) -> str:
    """Return a hash of everything that the results of a fold depend on."""
    from pandas.util import hash_pandas_object

    digest = hashlib.sha256()
    for name in X.columns:
        # Columns of mixed types cannot be hashed as they are.
        column = X[name].astype(str) if X[name].dtype == object else X[name]
        digest.update(hash_pandas_object(column, index=False).to_numpy().tobytes())
    digest.update(repr((list(X.columns), [str(name) for name in target.classes])).encode())
    digest.update(target.codes.astype(np.int64).tobytes())
    digest.update(repr(fold_settings(protocol)).encode())
    return digest.hexdigest()[:16]
