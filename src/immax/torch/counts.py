"""Class counts, from labels or as they are given."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import torch.distributed as dist
from numpy.typing import ArrayLike, NDArray
from torch import Tensor, tensor
from torch.utils.data import DataLoader, Dataset

from immax.arrays import Vector
from immax.class_labels import by_label
from immax.class_vectors import class_vector, positive_number
from immax.torch.labels import LabelSource, is_data, labels_of

__all__ = ["Counts", "Data", "class_counts", "counts_of"]

Counts: TypeAlias = "Tensor | ArrayLike | Mapping[int, float]"
"""One number per class, or a dict or Series from class number to count."""

Data: TypeAlias = "Dataset[Any] | DataLoader[Any]"


def class_counts(
    source: LabelSource,
    num_classes: int | None = None,
    *,
    ignore_index: int | None = None,
    group: dist.ProcessGroup | None = None,
) -> NDArray[np.int64]:
    """Count the samples of each class.

    Parameters
    ----------
    source : Dataset, DataLoader, Tensor or array-like of labels
        The labels of a data set are read from ``targets``, ``labels``, ``samples`` (pairs of a
        path and a label), a column of that name, the last tensor of a ``TensorDataset``, or the
        parts of a ``Subset``, ``ConcatDataset`` or ``StackDataset``, without decoding a sample,
        and go through its ``target_transform``. If there is none of these, if there are more or
        fewer of them than samples, or if they are those of another data set to which
        ``__getattr__`` forwards, they are read from the samples themselves. A loader counts as
        its data set.
    num_classes : int, optional
        The number of classes; the highest label plus one by default.
    ignore_index : int, optional
        A label that does not count.
    group : ProcessGroup, optional
        Add the counts of all processes of the group, each of which has its own part of the data;
        ``torch.distributed.group.WORLD`` for all processes. By default the counts are those of
        this process.

    Returns
    -------
    ndarray of int64, shape (num_classes,)

    Raises
    ------
    TypeError
        If the source has no labels that could be read.
    ValueError
        If the labels are not class numbers, or not below ``num_classes``.

    Examples
    --------
    >>> import torch
    >>> class_counts(torch.tensor([0, 0, 2, 1, 0]))
    array([3, 1, 1])
    """
    labels = labels_of(source)
    if labels.ndim != 1 or (labels.size and labels.dtype.kind not in "iub"):
        raise ValueError(
            "labels must be a non-empty, one-dimensional array of class numbers; "
            f"got shape {labels.shape} and dtype {labels.dtype} (flatten labels of pixels or "
            "tokens, and take the argmax of one-hot rows)"
        )
    labels = labels.astype(np.int64)
    if ignore_index is not None:
        labels = labels[labels != ignore_index]
    if labels.size == 0 and group is None:
        raise ValueError("labels must be a non-empty array of class numbers; got none that count")
    if labels.size and labels.min() < 0:
        raise ValueError(f"labels must not be negative; got {labels.min()}")
    counts = np.bincount(labels, minlength=num_classes or 0)
    if num_classes is not None and counts.size > num_classes:
        raise ValueError(f"labels go up to {labels.max()}; num_classes is {num_classes}")
    return counts if group is None else _summed(counts, group)


def _summed(counts: NDArray[np.int64], group: dist.ProcessGroup) -> NDArray[np.int64]:
    """Return the sum over a group, whose processes may know different numbers of classes."""
    device = "cuda" if dist.get_backend(group) == "nccl" else "cpu"
    most = tensor(counts.size, device=device)
    dist.all_reduce(most, dist.ReduceOp.MAX, group=group)
    padded = np.pad(counts, (0, int(most) - counts.size))
    total = tensor(padded, device=device)
    dist.all_reduce(total, group=group)
    return np.asarray(total.cpu().numpy())


def counts_of(
    counts: Counts | None = None,
    labels: Tensor | ArrayLike | None = None,
    dataset: Data | None = None,
    num_classes: int | None = None,
    minimum: float | None = None,
    ignore_index: int | None = None,
) -> Vector | None:
    """Return the positive class counts that a loss is given in one of three ways.

    Parameters
    ----------
    counts : array-like of shape (C,), or dict or Series from class number to count, optional
        The counts themselves.
    labels : array-like of int, optional
        Labels to be counted.
    dataset : Dataset or DataLoader, optional
        Data whose labels are counted, as in ``class_counts``.
    num_classes : int, optional
        The number of classes, if the highest ones may have no samples.
    minimum : float, optional
        The count that classes with fewer samples are given.
    ignore_index : int, optional
        A label that does not count.

    Returns
    -------
    ndarray of shape (C,), or None if none of the three is given

    Raises
    ------
    TypeError, ValueError
        If more than one of the three is given, or a class has no samples and there is no
        ``minimum``.
    """
    given = [
        name
        for name, value in (("counts", counts), ("labels", labels), ("dataset", dataset))
        if value is not None
    ]
    if len(given) > 1:
        raise ValueError(f"only one of counts, labels and dataset can be given; got {given}")
    if not given:
        return None
    if counts is not None and is_data(counts):
        warnings.warn(
            "a data set as counts is deprecated: pass it as dataset=",
            FutureWarning,
            stacklevel=5,
        )
        counts, dataset = None, counts
    if labels is not None and is_data(labels):
        raise TypeError(
            f"labels must be an array of labels; pass {type(labels).__name__} as dataset="
        )
    if dataset is not None and not is_data(dataset):
        raise TypeError(
            f"dataset must be a Dataset or a DataLoader; got {type(dataset).__name__} (counts= "
            "takes one number per class, labels= one class number per sample)"
        )
    if counts is None:
        source: Any = labels if dataset is None else dataset
        counted = class_counts(source, num_classes, ignore_index=ignore_index)
        numbers = counted.astype(np.float64)
    else:
        numbers = _given_counts(counts, num_classes)
    if minimum is not None:
        numbers = np.maximum(numbers, positive_number(minimum, "minimum"))
    empty = np.flatnonzero(numbers == 0)
    if empty.size:
        hint = " If these are labels, pass them as labels=." if counts is not None else ""
        raise ValueError(
            f"class {empty[0]} has no samples, so its count is 0; pass minimum=1 to give such "
            f"classes a count of 1, or leave them out of the network.{hint}"
        )
    return class_vector(numbers, "counts")


def _given_counts(given: Counts, num_classes: int | None) -> Vector:
    counts = by_label(given)
    if isinstance(counts, Mapping):
        n = len(counts) if num_classes is None else num_classes
        wrong = [
            key for key in counts if not isinstance(key, (int, np.integer)) or not 0 <= key < n
        ]
        if wrong:
            raise ValueError(
                f"counts as a dict must have the class numbers 0 to {n - 1} as keys; got "
                f"{wrong[0]!r} (num_classes= says how many classes there are)"
            )
        return np.array([float(counts.get(k, 0)) for k in range(n)])
    values = counts.detach().cpu().numpy() if isinstance(counts, Tensor) else np.asarray(counts)
    if values.ndim != 1 or values.dtype.kind not in "iuf":
        raise ValueError(
            "counts must be one number per class, such as [500, 20], a 1-D array; got shape "
            f"{values.shape} and dtype {values.dtype}"
        )
    numbers = values.astype(np.float64)
    if num_classes is not None and numbers.size > num_classes:
        raise ValueError(f"counts has {numbers.size} entries; num_classes is {num_classes}")
    bad = np.flatnonzero(~(np.isfinite(numbers) & (numbers >= 0)))
    if bad.size:
        raise ValueError(
            f"counts of class {bad[0]} is {numbers[bad[0]]:g}; it must be a positive, finite number"
        )
    return np.pad(numbers, (0, (num_classes or numbers.size) - numbers.size))
