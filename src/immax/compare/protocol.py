"""The protocol: paired folds, everything fitted inside them, nothing done twice."""

from __future__ import annotations

import hashlib
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from immax import __version__
from immax.arrays import Array
from immax.compare.fold_cache import Kept, Piece
from immax.errors import WrongCall
from immax.evaluation.candidates import CANDIDATES, PLAIN, choose_candidates
from immax.evaluation.estimators import describe_choice, make_estimator
from immax.evaluation.metrics import METRICS, measure
from immax.evaluation.selection import Selection
from immax.tabular import Schema, as_labels, describe_columns, prepare
from immax.validation import nearest

__all__ = ["Comparison", "Protocol", "compare", "make_candidate"]

FEWEST = 3  # rows of a class, so that every training part has two
MOST_CLASSES = 100
LAMS = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)
POWERS = (-1 / 3, 0.0, 1 / 6, 1 / 3, 2 / 3, 1.0)
INNER_FOLDS = 3


@dataclass(frozen=True)
class Protocol:
    """How methods are compared."""

    metric: str = "accuracy"
    folds: int = 5
    repeats: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        if self.metric not in METRICS:
            raise WrongCall(f"unknown metric {self.metric!r}{nearest(self.metric, METRICS)}")
        if self.folds < 2 or self.repeats < 1:
            raise WrongCall("there must be at least 2 folds and 1 repeat")

    def splits(self, codes: Array) -> list[tuple[Array, Array]]:
        """Training and test rows of every fold of every repeat."""
        found = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of classes with fewer rows than folds
            for repeat in range(self.repeats):
                folds = StratifiedKFold(self.folds, shuffle=True, random_state=self.seed + repeat)
                found += list(folds.split(codes, codes))
        return found


@dataclass
class Comparison:
    """What was found: for each method, a piece for each fold."""

    protocol: Protocol
    X: Any
    schema: Schema
    classes: Array
    codes: Array
    splits: list[tuple[Array, Array]]
    pieces: dict[str, list[Piece]] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    _scores: dict[str, list[dict[str, float]]] = field(default_factory=dict, repr=False)

    @property
    def counts(self) -> Array:
        return np.bincount(self.codes, minlength=len(self.classes))

    @property
    def class_names(self) -> list[str]:
        return [str(name) for name in self.classes]

    @property
    def complete(self) -> list[str]:
        """Methods that were run on all folds."""
        return list(self.pieces)

    def scores(self, name: str) -> list[dict[str, float]]:
        """All measures of a method, one dict for each fold."""
        if name not in self._scores:
            self._scores[name] = [
                measure(self.codes[test], piece.labels, piece.proba, len(self.classes))
                for piece, (_, test) in zip(self.pieces[name], self.splits, strict=True)
            ]
        return self._scores[name]

    def pooled(self, name: str) -> tuple[Array, Array, Array | None]:
        """True codes, codes that a method said, and its probabilities, over all test parts."""
        tests = [test for _, test in self.splits]
        found = self.pieces[name]
        proba = [piece.proba for piece in found]
        return (
            self.codes[np.concatenate(tests)],
            np.concatenate([piece.labels for piece in found]),
            None if any(part is None for part in proba) else np.concatenate(proba),  # type: ignore[arg-type]
        )


def compare(
    X: Any,
    y: Any,
    *,
    methods: Iterable[str] | None = None,
    protocol: Protocol | None = None,
    time_limit: float | None = None,
    keep: Path | None = None,
    on_piece: Callable[[str, int, int], None] | None = None,
) -> Comparison:
    """Run methods on the same folds.

    Preprocessing is fitted to the training part of each fold, and hyper-parameters are chosen by
    cross-validation within it.

    Parameters
    ----------
    X : DataFrame
    y : Series or array-like
        Labels of any kind.
    methods : iterable of str, optional
        Keys of ``CANDIDATES``.
    protocol : Protocol, optional
    time_limit : float, optional
        Seconds, after which no further fold is begun and the present one is given up.
    keep : Path, optional
        A folder for finished folds; those that are there already are not done again.
    on_piece : callable, optional
        Called with a method, the number of pieces that are done and the number of all of them.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.datasets import load_breast_cancer
    >>> data = load_breast_cancer(as_frame=True)
    >>> X = data.data[["mean radius", "mean texture"]]
    >>> found = compare(X, data.target, methods=["weights"])
    >>> found.complete
    ['logistic', 'weights']
    """
    protocol = protocol or Protocol()
    classes, codes = _classes(y)
    schema = describe_columns(X)
    names, left_out = choose_candidates(methods, len(classes), len(codes), protocol.metric)
    splits = protocol.splits(codes)
    found = Comparison(protocol, X, schema, classes, codes, splits, left_out=left_out)
    prepared = _Prepared(X, schema, splits)
    kept = Kept(keep, _identity(X, codes, classes, protocol))
    end = None if time_limit is None else time.monotonic() + time_limit
    done, total = 0, len(names) * len(splits)
    for name in names:
        pieces: list[Piece] = []
        for fold, (train, _) in enumerate(splits):
            if on_piece is not None:
                on_piece(name, done, total)
            piece = kept.load(name, fold)
            if piece is None:
                try:
                    with _until(end):
                        piece = _piece(name, *prepared.fold(fold), codes[train], protocol)
                except TimeoutError:
                    left_out[name] = "not finished within the time limit"
                    break
                except ValueError as error:
                    if name == PLAIN:
                        raise
                    left_out[name] = f"failed: {str(error).splitlines()[0]}"
                    break
                kept.save(name, fold, piece)
            pieces.append(piece)
            done += 1
        else:
            found.pieces[name] = pieces
    if on_piece is not None:
        on_piece("", done, total)
    if not found.pieces:
        raise TimeoutError("not even plain logistic regression was done within the time limit")
    return found


def _classes(y: Any) -> tuple[Array, Array]:
    labels = as_labels(y)
    classes, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    if len(classes) < 2:
        raise WrongCall(
            f"the target has one class only, {str(classes[0])!r}: nothing to tell apart"
        )
    if len(classes) > MOST_CLASSES:
        raise WrongCall(
            f"the target has {len(classes)} different values, more than {MOST_CLASSES}: "
            "is it a number rather than a class?"
        )
    if counts.min() < FEWEST:
        rare = [str(name) for name in classes[counts < FEWEST]]
        raise WrongCall(
            f"every class needs at least {FEWEST} rows; {', '.join(map(repr, rare[:5]))} "
            f"{'has' if len(rare) == 1 else 'have'} fewer: leave them out or put them together"
        )
    return classes, codes


def _identity(X: Any, codes: Array, classes: Array, protocol: Protocol) -> str:
    """Of everything that a piece depends on."""
    from pandas.util import hash_pandas_object

    digest = hashlib.sha256()
    for name in X.columns:
        column = X[name].astype(str) if X[name].dtype == object else X[name]  # of mixed types
        digest.update(hash_pandas_object(column, index=False).to_numpy().tobytes())
    digest.update(repr((list(X.columns), [str(name) for name in classes])).encode())
    digest.update(codes.astype(np.int64).tobytes())
    digest.update(repr((protocol, LAMS, POWERS, INNER_FOLDS, __version__)).encode())
    return digest.hexdigest()[:16]


class _Prepared:
    """Features of each fold, prepared once for all methods."""

    def __init__(self, X: Any, schema: Schema, splits: Sequence[tuple[Array, Array]]) -> None:
        self._X, self._schema, self._splits = X, schema, splits
        self._ready: dict[int, tuple[Array, Array]] = {}

    def fold(self, number: int) -> tuple[Array, Array]:
        if number not in self._ready:
            train, test = self._splits[number]
            steps = prepare(self._schema)
            parts = steps.fit_transform(self._X.iloc[train]), steps.transform(self._X.iloc[test])
            self._ready[number] = parts
        return self._ready[number]


def make_candidate(name: str, y: Array, protocol: Protocol) -> Any:
    """An estimator that chooses its hyper-parameters within the samples that it is fitted to."""
    candidate = CANDIDATES[name]
    selection = Selection(
        folds=INNER_FOLDS,
        trials=3,
        scoring=METRICS[protocol.metric].scorer,
        lams=LAMS,
        powers=POWERS,
    )
    return make_estimator(candidate.model, candidate.method, y, selection, {}, protocol.seed)


def _piece(name: str, X: Array, X_test: Array, y: Array, protocol: Protocol) -> Piece:
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a grid's corners that do not converge
        model = make_candidate(name, y, protocol).fit(X, y)
        labels = np.asarray(model.predict(X_test))
        proba = model.predict_proba(X_test) if CANDIDATES[name].proba else None
    return Piece(labels, proba, time.perf_counter() - start, describe_choice(model))


@contextmanager
def _until(end: float | None) -> Iterator[None]:
    """Raise TimeoutError when the time is over, also within a fit if this is the main thread."""
    if end is None:
        yield
        return
    left = end - time.monotonic()
    if left <= 0:
        raise TimeoutError
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "SIGALRM"):
        yield
        return

    def over(*_: Any) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, left)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
