"""Features and labels of a head, and the parts of them that a search fits and scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from immax.arrays import Array, Vector

__all__ = ["HeadData", "HeldOut", "Selection", "checked_features", "pool_selection"]

HeldOut: TypeAlias = "tuple[Any, Any] | Sequence[tuple[Any, Any, Any, Any]]"
"""Held-out (features, y), or folds of (features, y, held-out features, held-out y)."""


@dataclass(frozen=True)
class HeadData:
    """Samples that a head is fitted to.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        Features.
    y : ndarray of int64, shape (n,)
        Class numbers, every class at least once.
    counts : ndarray of shape (c,)
        Number of samples of each class.
    """

    X: Array
    y: NDArray[np.int64]
    counts: Vector


@dataclass(frozen=True)
class Selection:
    """Samples of a search, and its folds.

    Attributes
    ----------
    X, y : ndarray
        All samples of all folds.
    cv : int, splitter or list of (train, test), or None
        The folds; None leaves them to the search.
    kind : {"folds", "held-out", "cross-fitted"}
        Where the samples that cells are scored on come from.
    """

    X: Array
    y: NDArray[np.int64]
    cv: Any
    kind: str


def checked_features(
    features: ArrayLike | Tensor,
    y: ArrayLike | Tensor,
    num_classes: int | None = None,
    names: tuple[str, str] = ("features", "y"),
) -> HeadData:
    """Return features and class numbers as arrays.

    Parameters
    ----------
    features : array-like or Tensor of shape (n, d)
    y : array-like or Tensor of int, shape (n,)
    num_classes : int, optional
        The number of classes; the highest label plus one by default.
    names : pair of str
        The names of the arguments in messages.

    Returns
    -------
    HeadData
        Counts may be zero.

    Raises
    ------
    ValueError
        If the shapes do not fit, or labels are not class numbers.
    """
    X = features.detach().float().cpu().numpy() if isinstance(features, Tensor) else features
    labels = np.asarray(y.detach().cpu().numpy() if isinstance(y, Tensor) else y)
    X = X if isinstance(X, np.ndarray) else np.asarray(X)
    if X.ndim != 2 or X.dtype.kind not in "iuf":
        raise ValueError(
            f"{names[0]} must be numbers of shape (n, d); got shape {X.shape} and dtype {X.dtype}"
        )
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float32)
    if labels.shape != (len(X),) or labels.dtype.kind not in "iub":
        raise ValueError(
            f"{names[1]} must be {len(X)} class numbers, one for each row of {names[0]}; got shape "
            f"{labels.shape} and dtype {labels.dtype}"
        )
    labels = labels.astype(np.int64)
    if not labels.size:
        raise ValueError(f"{names[0]} must have at least one row; got none")
    most = num_classes if num_classes is not None else int(labels.max()) + 1
    wrong = labels[(labels < 0) | (labels >= most)]
    if wrong.size:
        raise ValueError(f"{names[1]} holds {wrong[0]}; classes go from 0 to {most - 1}")
    return HeadData(X, labels, np.bincount(labels, minlength=most).astype(np.float64))


def check_classes_present(data: HeadData, name: str = "y") -> None:
    """Raise a ValueError if there are fewer than two classes, or a class has no samples.

    Parameters
    ----------
    data : HeadData
    name : str, default="y"
        The name of the argument.
    """
    if data.counts.size < 2:
        raise ValueError(f"{name} must have two classes or more; got one")
    empty = np.flatnonzero(data.counts == 0)
    if empty.size:
        raise ValueError(
            f"class {empty[0]} has no samples in {name}, so that its row of the head cannot be "
            "fitted; add samples of it, or fit the head to the training features and pass the "
            "held-out ones as selection="
        )


def pool_selection(data: HeadData, selection: HeldOut | None, cv: Any = None) -> Selection:
    """Return the samples and folds of a search.

    Parameters
    ----------
    data : HeadData
        The samples that the head is fitted to.
    selection : tuple, list of tuples, or None
        Held-out samples, (features, y), on which fits to ``data`` are scored; or folds,
        (features, y, held-out features, held-out y), each with features of a network of its own.
        None is cross-validation within ``data``.
    cv : optional
        The folds if there is no ``selection``.

    Returns
    -------
    Selection

    Raises
    ------
    TypeError, ValueError
        If the selection is something else, or of another number of features.
    """
    if selection is None:
        return Selection(data.X, data.y, cv, "folds")
    if cv is not None:
        raise ValueError("only one of cv and selection can be given")
    c = data.counts.size
    if isinstance(selection, tuple) and len(selection) == 2:
        features, y = selection
        held = checked_features(features, y, c, ("features of selection", "y of selection"))
        folds, kind = [(data, held)], "held-out"
    else:
        folds, kind = [], "cross-fitted"
        for number, fold in enumerate(_as_folds(selection)):
            own = f"features of fold {number}", f"y of fold {number}"
            train = checked_features(fold[0], fold[1], c, own)
            check_classes_present(train, own[1])
            folds.append((train, checked_features(fold[2], fold[3], c, own)))
    pairs, begin = [], 0
    for train, held in folds:
        for part in (train, held):
            if part.X.shape[1] != data.X.shape[1] and kind == "held-out":
                raise ValueError(
                    f"features of selection must have {data.X.shape[1]} columns, as features; got "
                    f"{part.X.shape[1]}"
                )
        middle, end = begin + len(train.y), begin + len(train.y) + len(held.y)
        pairs.append((np.arange(begin, middle), np.arange(middle, end)))
        begin = end
    parts = [part for fold in folds for part in fold]
    if len({part.X.shape[1] for part in parts}) > 1:
        raise ValueError("all folds of selection must have the same number of features")
    X = np.concatenate([part.X for part in parts])
    return Selection(X, np.concatenate([part.y for part in parts]), pairs, kind)


def _as_folds(selection: Any) -> list[Any]:
    folds = list(selection) if isinstance(selection, Sequence) else []
    if not folds or not all(isinstance(fold, (tuple, list)) and len(fold) == 4 for fold in folds):
        raise TypeError(
            "selection must be (features, y) of held-out samples, or a list of folds (features, y, "
            f"held-out features, held-out y); got {type(selection).__name__}"
        )
    return folds
