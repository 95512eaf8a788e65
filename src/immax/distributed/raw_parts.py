"""Parts as they are read: features that are checked, labels of any kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets

from immax.arrays import Array, Features, Vector
from immax.distributed.row_hashes import fold_numbers
from immax.distributed.row_part import RowPart
from immax.linear import feature_norms

__all__ = ["Encoding", "RawPart", "Summary", "encode_part", "read_part", "summarise_part"]

FLOATS = [np.float64, np.float32]


class RawPart(NamedTuple):
    """Rows before the classes of all parts are known."""

    number: int
    X: Features
    y: Array
    weight: Array | None


class PartSize(NamedTuple):
    """The numbers of rows of a part, and of those with a weight."""

    rows: int
    weighted: int


@dataclass(frozen=True, eq=False)
class Summary:
    """What the first round finds out."""

    labels: Array  # sorted
    counts: Mapping[Any, float]  # total weight by label
    radii: Mapping[Any, float]  # the largest norm by label
    sizes: Mapping[int, PartSize]  # by number of the part
    entries: int  # stored entries of the features
    widths: frozenset[int]  # numbers of features
    double: bool  # whether some features are in double precision
    sparse: bool  # whether some are a sparse matrix

    def __add__(self, other: Summary) -> Self:
        """Return the summary of the rows of both."""
        labels = {**self.counts, **other.counts}
        return type(self)(
            _union(self.labels, other.labels),
            {label: self.counts.get(label, 0.0) + other.counts.get(label, 0.0) for label in labels},
            {
                label: max(self.radii.get(label, 0.0), other.radii.get(label, 0.0))
                for label in labels
            },
            {**self.sizes, **other.sizes},
            self.entries + other.entries,
            self.widths | other.widths,
            self.double or other.double,
            self.sparse or other.sparse,
        )


def _union(labels: Array, others: Array) -> Array:
    if not (labels.size and others.size):
        return labels if labels.size else others
    if (labels.dtype.kind in "OUS") != (others.dtype.kind in "OUS"):
        raise ValueError(
            f"y must hold labels of one kind; got {labels.tolist()[0]!r} and {others.tolist()[0]!r}"
        )
    return np.unique(np.concatenate([labels, others]))


class Encoding(NamedTuple):
    """How parts are encoded once the classes are known."""

    classes: Array
    firsts: Mapping[int, tuple[int, int]]  # first row of a part, and first among the weighted
    dtype: np.dtype[np.float32 | np.float64]
    n_folds: int = 0
    seed: int = 0

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self.classes)


def read_part(number: int, X: Any, y: Any, weight: Any = None) -> RawPart:
    """Check the rows of a part.

    Parameters
    ----------
    number : int
        The part's number.
    X : {array-like, sparse matrix, data frame} of shape (n, d)
        Features.
    y : array-like of shape (n,)
        Labels.
    weight : array-like of shape (n,), optional
        Sample weights.

    Returns
    -------
    RawPart

    Raises
    ------
    ValueError
        If lengths differ, or values are missing or infinite.
    """
    try:
        X = check_array(X, accept_sparse="csr", dtype=FLOATS, ensure_min_samples=0, input_name="X")
        labels = np.asarray(y)
        if labels.dtype.kind == "f" and not np.isfinite(labels).all():
            raise ValueError("Input y contains NaN or infinity.")
        if labels.dtype == object and any(own is None or own != own for own in labels):
            raise ValueError("Input y contains missing labels.")
        if labels.size:
            check_classification_targets(labels)
        weights = None if weight is None else np.asarray(weight, dtype=np.float64)
        lengths = {X.shape[0], len(labels)} | (set() if weights is None else {len(weights)})
        if len(lengths) > 1:
            raise ValueError(
                f"X, y and sample_weight have different lengths: {sorted(lengths)}; they must be "
                "in the same partitions, with the same rows in each"
            )
        if weights is not None and not (np.isfinite(weights).all() and (weights >= 0).all()):
            raise ValueError("sample_weight must be finite and not negative")
    except ValueError as error:
        raise ValueError(f"partition {number}: {error}") from error
    if not sparse.issparse(X) and not (X.flags.c_contiguous or X.flags.f_contiguous):
        X = np.ascontiguousarray(X)
    return RawPart(number, X, labels, weights)


def summarise_part(part: RawPart, radii: bool = False) -> Summary:
    """Return what the first round finds out from a part.

    Parameters
    ----------
    part : RawPart
        The rows.
    radii : bool, default=False
        Whether the largest norms are wanted.

    Returns
    -------
    Summary
    """
    classes, codes = np.unique(part.y, return_inverse=True)
    codes = codes.ravel()
    totals = np.bincount(codes, part.weight, len(classes)).astype(float)
    norms: Vector = np.zeros(len(classes))
    if radii and len(codes):
        rows = np.flatnonzero(np.ones(len(codes)) if part.weight is None else part.weight)
        np.maximum.at(norms, codes[rows], feature_norms(part.X)[rows])
    labels = classes.tolist()
    n = len(part.y)
    weighted = n if part.weight is None else int(np.count_nonzero(part.weight))
    entries = part.X.nnz if sparse.issparse(part.X) else part.X.size
    return Summary(
        classes,
        dict(zip(labels, totals.tolist(), strict=True)),
        dict(zip(labels, norms.tolist(), strict=True)),
        {part.number: PartSize(n, weighted)},
        int(entries),
        frozenset([part.X.shape[1]]),
        bool(n and part.X.dtype == np.float64),
        bool(sparse.issparse(part.X)),
    )


def encode_part(part: RawPart, encoding: Encoding) -> RowPart:
    """Return the rows that have a weight, with class indices for labels.

    Parameters
    ----------
    part : RawPart
        The rows.
    encoding : Encoding
        The classes of all parts, and where this part begins.

    Returns
    -------
    RowPart
    """
    first, first_weighted = encoding.firsts[part.number]
    codes = np.searchsorted(encoding.classes, part.y).astype(np.intp)
    weight = np.ones(len(codes)) if part.weight is None else part.weight
    X = part.X.astype(encoding.dtype, copy=False)
    rows = np.arange(first, first + len(codes))
    if not weight.all():
        weighted = np.flatnonzero(weight)
        X, codes, weight, rows = X[weighted], codes[weighted], weight[weighted], rows[weighted]
    folds = fold_numbers(rows, encoding.n_folds, encoding.seed) if encoding.n_folds else None
    places = np.arange(first_weighted, first_weighted + len(codes))
    return RowPart(X, codes, weight, places, folds)
