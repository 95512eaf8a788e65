"""Class counts from whatever holds the labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils.data import ConcatDataset, Subset, TensorDataset

from immax.arrays import Array, Vector

__all__ = ["as_counts", "class_counts", "labels_of"]


def class_counts(source: Any, num_classes: int | None = None) -> NDArray[np.int64]:
    """How many samples each class has.

    Parameters
    ----------
    source : Dataset, Tensor or array-like of labels
        Of a data set the labels are read from ``targets``, ``labels``, the last tensor of a
        ``TensorDataset``, or what a ``Subset`` or ``ConcatDataset`` holds, without decoding a
        sample; where there is none of these, from the samples themselves.
    num_classes : int, optional
        The highest label plus one, by default.

    Examples
    --------
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


def labels_of(source: Any) -> Array:
    """The labels that a data set or an array holds."""
    if isinstance(source, Subset):
        return labels_of(source.dataset)[np.asarray(source.indices, dtype=np.intp)]
    if isinstance(source, ConcatDataset):
        return np.concatenate([labels_of(part) for part in source.datasets])
    if isinstance(source, TensorDataset):
        return labels_of(source.tensors[-1])
    for name in ("targets", "labels"):
        if hasattr(source, name):
            return labels_of(getattr(source, name))
    if isinstance(source, torch.Tensor):
        return source.detach().cpu().numpy()
    if isinstance(source, torch.utils.data.Dataset):
        return np.array([int(source[i][1]) for i in range(len(source))])  # type: ignore[arg-type]
    return np.asarray(source)


def as_counts(source: Any) -> Vector:
    """Counts as they are, or counted. Counts are positive, and labels begin with 0."""
    is_dataset = isinstance(source, torch.utils.data.Dataset)
    values = None if is_dataset else labels_of(source)
    if values is not None and not (values.dtype.kind in "iub" and (values == 0).any()):
        return values.astype(np.float64)
    return class_counts(source if values is None else values).astype(np.float64)
