"""Class counts from labels."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from torch import Tensor
from torch.utils.data import ConcatDataset, Dataset, Subset, TensorDataset

from immax.arrays import Array, Vector

__all__ = ["LabelSource", "as_counts", "class_counts", "labels_of"]

LabelSource: TypeAlias = "Dataset[object] | Tensor | ArrayLike"
"""A data set or an array of labels; where it says so, class counts."""


def class_counts(source: LabelSource, num_classes: int | None = None) -> NDArray[np.int64]:
    """Count the samples of each class.

    Parameters
    ----------
    source : Dataset, Tensor or array-like of labels
        The labels of a data set are read from ``targets``, ``labels``, the last tensor of a
        ``TensorDataset``, or the parts of a ``Subset`` or ``ConcatDataset``, without decoding a
        sample; if there is none of these, from the samples themselves.
    num_classes : int, optional
        The number of classes; the highest label plus one by default.

    Returns
    -------
    ndarray of int64, shape (num_classes,)

    Raises
    ------
    ValueError
        If the labels are not class numbers, or not below ``num_classes``.

    Examples
    --------
    >>> import torch
    >>> class_counts(torch.tensor([0, 0, 2, 1, 0]))
    array([3, 1, 1])
    """
    labels = labels_of(source)
    if labels.ndim != 1 or labels.size == 0 or labels.dtype.kind not in "iub":
        raise ValueError(
            "labels must be a non-empty, one-dimensional array of class numbers; "
            f"got shape {labels.shape} and dtype {labels.dtype}"
        )
    labels = labels.astype(np.int64)
    if labels.min() < 0:
        raise ValueError(f"labels must not be negative; got {labels.min()}")
    counts = np.bincount(labels, minlength=num_classes or 0)
    if num_classes is not None and counts.size > num_classes:
        raise ValueError(f"labels go up to {labels.max()}; num_classes is {num_classes}")
    return counts


def labels_of(source: LabelSource) -> Array:
    """Return the labels of a data set or an array.

    Parameters
    ----------
    source : Dataset, Tensor or array-like of labels
        As in ``class_counts``.

    Returns
    -------
    ndarray
    """
    if isinstance(source, Subset):
        return labels_of(source.dataset)[np.asarray(source.indices, dtype=np.intp)]
    if isinstance(source, ConcatDataset):
        return np.concatenate([labels_of(part) for part in source.datasets])
    if isinstance(source, TensorDataset):
        return labels_of(source.tensors[-1])
    for name in ("targets", "labels"):
        if hasattr(source, name):
            return labels_of(getattr(source, name))
    if isinstance(source, Tensor):
        return source.detach().cpu().numpy()
    if isinstance(source, Dataset):
        return np.array([int(source[i][1]) for i in range(len(source))])  # type: ignore
    return np.asarray(source)


def as_counts(source: LabelSource) -> Vector:
    """Return class counts, given as such or as labels.

    Parameters
    ----------
    source : Dataset, Tensor or array-like
        Class counts or labels. Counts are positive: integers with a zero among them are labels.

    Returns
    -------
    ndarray of shape (C,)
    """
    values = None if isinstance(source, Dataset) else labels_of(source)
    if values is not None and not (values.dtype.kind in "iub" and (values == 0).any()):
        return values.astype(np.float64)
    return class_counts(source if values is None else values).astype(np.float64)
