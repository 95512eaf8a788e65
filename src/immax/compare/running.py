"""Methods run on the same folds, with everything fitted inside the training parts."""

from __future__ import annotations

import hashlib
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from immax import __version__
from immax.arrays import Array
from immax.compare.fold_cache import FoldCache, FoldResult
from immax.compare.prepared_folds import PreparedFold, PreparedFolds
from immax.compare.protocol import INNER_FOLDS, LAMS, POWERS, Protocol, make_candidate
from immax.compare.results import Comparison
from immax.compare.target import Target, encode_target
from immax.compare.time_limit import interrupt_at
from immax.evaluation.candidates import CANDIDATES, PLAIN, choose_candidates
from immax.evaluation.estimators import describe_choice
from immax.tabular import Schema, describe_columns

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from pandas import DataFrame, Series

__all__ = ["OnFold", "compare"]

OnFold: TypeAlias = Callable[[str, int, int], None]
"""Called with a method, the number of finished fits and the number of all of them."""


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
) -> Comparison:
    """Run methods on the same folds.

    Preprocessing is fitted to the training part of each fold, and hyper-parameters are selected by
    cross-validation within it. Methods run fold by fold, so that the features of each fold are
    prepared once; with a time limit they run one after the other instead, so that as many of them
    as possible are complete at the end.

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
        In seconds. When they are over, the current fit is abandoned and no other is started.
    keep : Path, optional
        A folder for the results of finished folds. Those that it already has are not computed
        again.
    on_fold : callable, optional
        Called before each fit with the name of the method, the number of finished fits and the
        number of all of them; and at the end, with an empty name.
    on_piece : callable, optional
        The old name of ``on_fold``.

        .. deprecated:: 0.2
           Use ``on_fold`` instead.

    Returns
    -------
    Comparison
        Methods that fail are left out, with the reason.

    Raises
    ------
    WrongCall
        If a method is unknown, or if the target is not one of classes.
    TimeoutError
        If not even plain logistic regression was finished within the time limit.

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
    schema = describe_columns(X) if schema is None else schema
    names, left_out = choose_candidates(
        methods, len(target.classes), len(target.codes), protocol.metric
    )
    splits = protocol.splits(target.codes)
    prepared = PreparedFolds(X, schema, splits)
    shapes = [(len(split.test), len(target.classes)) for split in splits]
    cache = FoldCache(keep, _identity(X, target, protocol), shapes)
    deadline = None if time_limit is None else time.monotonic() + time_limit
    results: dict[str, list[FoldResult]] = {name: [] for name in names}
    failed: dict[str, str] = {}
    done, total = 0, len(names) * len(splits)
    for name, fold in _schedule(names, len(splits), methods_first=time_limit is not None):
        if name in failed:
            continue
        if on_fold is not None:
            on_fold(name, done, total)
        result = cache.load(name, fold)
        if result is None:
            y_train = target.codes[splits[fold].train]
            try:
                with interrupt_at(deadline):
                    result = _fit_fold(name, prepared[fold], y_train, protocol)
            except TimeoutError:
                failed[name] = "not finished within the time limit"
                continue
            except ValueError as error:
                if name == PLAIN:
                    raise
                failed[name] = f"failed: {str(error).splitlines()[0]}"
                continue
            cache.save(name, fold, result)
        results[name].append(result)
        done += 1
    if on_fold is not None:
        on_fold("", done, total)
    if PLAIN in failed:
        raise TimeoutError("not even plain logistic regression was done within the time limit")
    return Comparison(
        protocol,
        X,
        schema,
        target.classes,
        target.codes,
        splits,
        MappingProxyType({name: tuple(results[name]) for name in names if name not in failed}),
        MappingProxyType(left_out | {name: failed[name] for name in names if name in failed}),
    )


def _schedule(
    names: Sequence[str], n_folds: int, *, methods_first: bool
) -> Iterator[tuple[str, int]]:
    """Yield methods and folds in the order in which they are run."""
    if methods_first:
        yield from ((name, fold) for name in names for fold in range(n_folds))
    else:
        yield from ((name, fold) for fold in range(n_folds) for name in names)


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
    settings = (protocol, list(LAMS), list(POWERS), INNER_FOLDS, __version__)
    digest.update(repr(settings).encode())
    return digest.hexdigest()[:16]


def _fit_fold(name: str, fold: PreparedFold, y: Array, protocol: Protocol) -> FoldResult:
    """Fit a method to the training part of a fold and predict its test part."""
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some corners of a grid do not converge
        model = make_candidate(name, y, protocol).fit(fold.train, y)
        labels = np.asarray(model.predict(fold.test))
        proba = model.predict_proba(fold.test) if CANDIDATES[name].proba else None
    return FoldResult(labels, proba, time.perf_counter() - start, describe_choice(model))
