"""Subsamples of labelled data with imbalanced classes."""

from __future__ import annotations

import sys
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import check_random_state

from immax.arrays import Array
from immax.validation import check_choice

__all__ = ["class_shares", "keep_shares", "long_tailed", "step_imbalanced", "subset"]

Indices = NDArray[np.intp]
D = TypeVar("D")

KINDS = ("long_tailed", "step", "none")
MISSING = ("nan", "NaT", "<NA>")  # missing values as NumPy and pandas print them


def long_tailed(
    y: ArrayLike,
    ratio: float,
    random_state: int | np.random.RandomState | None = None,
    *,
    order: ArrayLike | None = None,
) -> Indices:
    """Select a subsample whose class sizes decrease exponentially.

    With c classes, class k keeps about ``n * ratio^(-k / (c - 1))`` of its samples, where n is
    the size of the smallest class, so that the first class is ``ratio`` times as large as the
    last. Every class keeps at least one sample.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels of any kind.
    ratio : float
        Largest class size over smallest, at least 1.
    random_state : int, RandomState instance or None, default=None
        Determines which samples are kept; an integer makes the result reproducible.
    order : array-like of labels, optional
        The classes from most to least frequent; by default in the order of their labels.

    Returns
    -------
    ndarray of int
        Indices to keep, in ascending order.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.repeat([0, 1, 2], 100)
    >>> np.bincount(y[long_tailed(y, ratio=100, random_state=0)])
    array([100,  10,   1])
    >>> np.bincount(y[long_tailed(y, ratio=100, order=[2, 0, 1], random_state=0)])
    array([ 10,   1, 100])
    """
    shares = class_shares(_class_count(y), "long_tailed", ratio)
    return keep_shares(y, shares, order=order, random_state=random_state)


def step_imbalanced(
    y: ArrayLike,
    ratio: float,
    minority: float = 0.5,
    *,
    order: ArrayLike | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> Indices:
    """Select a subsample with frequent classes of one size and rare classes of another.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels of any kind.
    ratio : float
        Size of a frequent class over that of a rare one, at least 1.
    minority : float, default=0.5
        Share of the classes that are rare, between 0 and 1. The number of rare classes is rounded;
        there is at least one rare and one frequent class, and the rare ones come last.
    order : array-like of labels, optional
        The classes from most to least frequent; by default in the order of their labels.
    random_state : int, RandomState instance or None, default=None
        Determines which samples are kept; an integer makes the result reproducible.

    Returns
    -------
    ndarray of int
        Indices to keep, in ascending order.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.repeat([0, 1, 2, 3], 100)
    >>> np.bincount(y[step_imbalanced(y, ratio=10, minority=0.25, random_state=0)])
    array([100, 100, 100,  10])
    """
    shares = class_shares(_class_count(y), "step", ratio, minority)
    return keep_shares(y, shares, order=order, random_state=random_state)


def class_shares(n_classes: int, kind: str, ratio: float, minority: float = 0.5) -> Array:
    """Return class sizes relative to the largest, from the most to the least frequent class.

    Parameters
    ----------
    n_classes : int
        Number of classes, at least 2.
    kind : {"long_tailed", "step", "none"}
        As in `long_tailed` or `step_imbalanced`, or all classes of one size.
    ratio : float
        Largest class size over smallest, at least 1; ignored if kind is "none".
    minority : float, default=0.5
        Share of the classes that are rare if kind is "step".

    Returns
    -------
    ndarray of shape (n_classes,)

    Examples
    --------
    >>> class_shares(3, "long_tailed", ratio=100)
    array([1.  , 0.1 , 0.01])
    >>> class_shares(4, "step", ratio=10)
    array([1. , 1. , 0.1, 0.1])
    """
    check_choice("kind", kind, KINDS)
    check_whole("n_classes", n_classes, 2)
    if not (np.isfinite(ratio) and ratio >= 1):
        raise ValueError(f"ratio must be a finite number of at least 1; got {ratio!r}")
    if not 0 < minority < 1:
        raise ValueError(f"minority must be a number between 0 and 1; got {minority!r}")
    if kind == "long_tailed":
        return np.asarray(float(ratio) ** (-np.arange(n_classes) / (n_classes - 1)))
    shares = np.ones(n_classes)
    if kind == "step":
        rare = min(max(1, round(minority * n_classes)), n_classes - 1)
        shares[-rare:] = 1 / ratio
    return shares


def keep_shares(
    y: ArrayLike,
    shares: ArrayLike,
    *,
    order: ArrayLike | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> Indices:
    """Select a subsample with a given share of every class.

    Class k keeps about ``shares[k] * n`` samples, where n is the size of the smallest class in y,
    and at least one. The same shares reduce a training and a test set alike.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels of any kind.
    shares : array-like of shape (c,)
        One number in (0, 1] for each class, as `class_shares` gives them.
    order : array-like of labels, optional
        The classes that the shares are for; by default in the order of their labels.
    random_state : int, RandomState instance or None, default=None
        Determines which samples are kept; an integer makes the result reproducible.

    Returns
    -------
    ndarray of int
        Indices to keep, in ascending order.

    Examples
    --------
    >>> import numpy as np
    >>> shares = class_shares(2, "long_tailed", ratio=10)
    >>> train, test = np.repeat([0, 1], 50), np.repeat([0, 1], 20)
    >>> [np.bincount(y[keep_shares(y, shares, random_state=0)]).tolist() for y in (train, test)]
    [[50, 5], [20, 2]]
    """
    labels = _labels(y)
    classes, codes, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    if classes.size < 2:
        raise ValueError(f"y must hold at least two classes; got {classes.tolist()}")
    fractions = np.asarray(shares, dtype=np.float64)
    if fractions.shape != classes.shape:
        raise ValueError(
            f"shares must hold one number for each of the {classes.size} classes; "
            f"got shape {fractions.shape}"
        )
    if not ((fractions > 0) & (fractions <= 1)).all():
        raise ValueError(f"shares must lie in (0, 1]; got {fractions.tolist()}")
    rng = check_random_state(random_state)
    keep = []
    for code, share in zip(_order_codes(order, classes), fractions.tolist(), strict=True):
        size = max(1, round(share * int(sizes.min())))
        keep.append(rng.permutation(np.flatnonzero(codes == code))[:size])
    return np.sort(np.concatenate(keep))


def subset(data: D, indices: ArrayLike) -> D:
    """Select samples by their indices, from data of any kind.

    Parameters
    ----------
    data : DataFrame, Series, array, sparse matrix, tensor, PyTorch Dataset, or a tuple or list of \
those
        For a Dataset, a ``torch.utils.data.Subset`` is returned; if the Dataset has an attribute
        ``targets`` or ``labels``, the Subset has an array ``targets``.
    indices : array-like of int
        Indices of the samples to select.

    Returns
    -------
    object
        The selected samples, as the same kind of data.

    Raises
    ------
    TypeError
        If the data is of another kind.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = subset((np.eye(3), np.array(["a", "b", "c"])), [0, 2])
    >>> y.tolist()
    ['a', 'c']
    """
    rows = np.asarray(indices)
    if rows.ndim != 1 or (rows.size and rows.dtype.kind not in "iu"):
        raise ValueError(
            f"indices must be a 1-D array of whole numbers; got {rows.dtype} of shape {rows.shape}"
        )
    return cast("D", _subset(data, rows.astype(np.intp)))


def _subset(data: Any, rows: Indices) -> Any:
    if isinstance(data, (tuple, list)):
        parts = [_subset(part, rows) for part in data]
        return type(data)(*parts) if hasattr(data, "_fields") else type(data)(parts)
    if hasattr(data, "iloc"):
        return data.iloc[rows]
    if sparse.issparse(data):
        return data.tocsr()[rows]
    if isinstance(data, np.ndarray):
        return np.asarray(data[rows])
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(data, torch.Tensor):
        return data[torch.from_numpy(rows).to(data.device)]
    if torch is not None and isinstance(data, torch.utils.data.Dataset):
        part = torch.utils.data.Subset(data, rows.tolist())
        targets = getattr(data, "targets", getattr(data, "labels", None))
        if targets is not None:
            part.targets = _array(targets)[rows]
        return part
    raise TypeError(
        "data must be a DataFrame, a Series, an array, a sparse matrix, a tensor, a PyTorch "
        f"Dataset, or a tuple or list of those; got {type(data).__name__}"
    )


def check_whole(name: str, value: object, least: int) -> None:
    """Raise ValueError if a parameter is not a whole number of at least some size."""
    if not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}; got {value!r}")


def _array(values: ArrayLike) -> Array:
    return np.asarray(values.detach().cpu() if hasattr(values, "detach") else values)


def _labels(y: ArrayLike) -> Array:
    labels = _array(y)
    if labels.ndim != 1 or labels.size == 0:
        raise ValueError(f"y must be a 1-D array of labels, not empty; got shape {labels.shape}")
    if labels.dtype.kind in "fO":
        missing = sum(map(_missing, labels.tolist()))
        if missing:
            raise ValueError(f"y must hold a label for every sample; {missing} are missing")
    return labels


def _missing(label: object) -> bool:
    return label is None or (not isinstance(label, str) and str(label) in MISSING)


def _class_count(y: ArrayLike) -> int:
    classes = np.unique(_labels(y))
    if classes.size < 2:
        raise ValueError(f"y must hold at least two classes; got {classes.tolist()}")
    return int(classes.size)


def _order_codes(order: ArrayLike | None, classes: Array) -> list[int]:
    if order is None:
        return list(range(classes.size))
    labels = list(order) if isinstance(order, str) else _array(order).tolist()
    codes = {label: code for code, label in enumerate(classes.tolist())}
    if len(labels) != len(codes) or set(labels) != set(codes):
        raise ValueError(
            f"order must name each of the classes {list(codes)} once; got {list(labels)}"
        )
    return [codes[label] for label in labels]
