"""The labels of data sets, loaders and arrays, without decoding samples where that can be done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from inspect import getattr_static
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from torch import Tensor
from torch.utils.data import (
    BatchSampler,
    ConcatDataset,
    DataLoader,
    Dataset,
    IterableDataset,
    RandomSampler,
    SequentialSampler,
    StackDataset,
    Subset,
    SubsetRandomSampler,
    TensorDataset,
)
from torch.utils.data.distributed import DistributedSampler

from immax.arrays import Array

__all__ = ["LabelSource", "check_draws_once", "is_data", "labels_of"]

LabelSource: TypeAlias = "Dataset[Any] | DataLoader[Any] | Tensor | ArrayLike"
"""A data set, a loader, or an array of labels."""

NAMES = ("targets", "labels", "_labels")  # of attributes that hold a label per sample
PAIRS = ("samples", "_samples", "imgs")  # of attributes that hold pairs (path, label)
KEYS = ("label", "labels", "target", "targets", "y")  # of samples that are dicts, and of columns
WAY_OUT = "pass labels= (one class number per sample) or counts= (one number per class) instead"


def is_data(source: object) -> bool:
    """Return whether something is a data set or a loader, and not an array.

    Parameters
    ----------
    source : object

    Returns
    -------
    bool
    """
    return isinstance(source, (Dataset, DataLoader)) or hasattr(source, "column_names")


def labels_of(source: LabelSource) -> Array:
    """Return the labels of a data set, a loader or an array.

    Parameters
    ----------
    source : Dataset, DataLoader, Tensor or array-like of labels
        As in ``class_counts``.

    Returns
    -------
    ndarray

    Raises
    ------
    TypeError
        If there is no label to be found; the message names the alternatives.
    """
    if isinstance(source, Tensor):
        return source.detach().cpu().numpy()
    if isinstance(source, DataLoader):
        return _labels_of_loader(source)
    if isinstance(source, IterableDataset):
        raise TypeError(
            f"{type(source).__name__} can only be iterated over, so its labels are not known "
            f"before training; {WAY_OUT}"
        )
    if isinstance(source, Subset):
        return labels_of(source.dataset)[np.asarray(source.indices, dtype=np.intp)]
    if isinstance(source, ConcatDataset):
        return np.concatenate([labels_of(part) for part in source.datasets])
    if isinstance(source, TensorDataset):
        return labels_of(source.tensors[-1])
    if isinstance(source, StackDataset):
        return labels_of(_last_part(source))
    if isinstance(source, Mapping):
        raise TypeError(f"labels cannot be read from a dict; {WAY_OUT}")
    attribute = next((name for name in NAMES if getattr(source, name, None) is not None), None)
    if attribute is not None:
        return _as_yielded(source, attribute, labels_of(getattr(source, attribute)))
    columns = getattr(source, "column_names", None)
    if columns is not None:
        return _as_yielded(source, "column_names", _labels_of_column(source, columns))
    if isinstance(source, Dataset):
        return _labels_of_samples(source)
    return np.asarray(source)


def _last_part(source: StackDataset[Any]) -> Any:
    """Return the part that holds the labels: the one with their name, or the last one."""
    parts = source.datasets
    if isinstance(parts, Mapping):
        key = next((key for key in KEYS if key in parts), None)
        if key is None:
            raise TypeError(
                f"the parts of the StackDataset are called {', '.join(map(str, parts))}; none of "
                f"{', '.join(KEYS)} is among them; {WAY_OUT}"
            )
        return parts[key]
    return parts[-1]


def _labels_of_loader(loader: DataLoader[Any]) -> Array:
    """Return the labels of what a loader draws from, if each sample is drawn once in a pass."""
    if isinstance(loader.dataset, IterableDataset):
        return labels_of(loader.dataset)
    refused = _repeating_sampler(loader)
    if refused is not None:
        raise TypeError(
            f"the loader draws by {refused}, which may give classes other shares than the data set "
            "has; pass dataset=loader.dataset for the counts of the data set, or counts= for those "
            "of the draws"
        )
    if isinstance(loader.sampler, SubsetRandomSampler):
        return labels_of(loader.dataset)[np.asarray(loader.sampler.indices, dtype=np.intp)]
    return labels_of(loader.dataset)


def check_draws_once(loader: DataLoader[Any]) -> None:
    """Raise a TypeError if a loader may draw a sample more than once in a pass.

    Parameters
    ----------
    loader : DataLoader
        Loaders of data that can only be iterated over are taken as they are.
    """
    if isinstance(loader.dataset, IterableDataset):
        return
    refused = _repeating_sampler(loader)
    if refused is not None:
        raise TypeError(
            f"the loader draws by {refused}, which may repeat samples and give classes other "
            "shares than the data set has; pass a loader without a sampler of its own, "
            "DataLoader(loader.dataset, batch_size=256)"
        )


def _repeating_sampler(loader: DataLoader[Any]) -> str | None:
    """Return the name of a sampler that need not draw each sample once; None for the others."""
    sampler, batches = loader.sampler, loader.batch_sampler
    if batches is not None and type(batches) is not BatchSampler:
        return type(batches).__name__
    once = isinstance(sampler, (SequentialSampler, SubsetRandomSampler, DistributedSampler)) or (
        isinstance(sampler, RandomSampler) and not sampler.replacement
    )
    return None if once else type(sampler).__name__


def _labels_of_column(source: Any, columns: Sequence[str]) -> Array:
    """Return the column of labels of a table such as a data set of Hugging Face."""
    key = next((key for key in KEYS if key in columns), None)
    if key is None:
        raise TypeError(
            f"none of the columns {', '.join(map(str, columns))} is called {', '.join(KEYS)}; "
            f"{WAY_OUT}"
        )
    return np.asarray(source[key])


def _as_yielded(source: Any, attribute: str, labels: Array) -> Array:
    """Return labels that a data set holds as its samples have them.

    They are read from the samples if the attribute is one of another data set, to which
    ``__getattr__`` forwards, or if there are more or fewer samples than labels.
    """
    is_its_own = getattr_static(source, attribute, None) is not None
    if not is_its_own or (hasattr(source, "__len__") and len(source) != len(labels)):
        return _read_samples(source)
    transform = getattr(source, "target_transform", None)
    if transform is None:
        return labels
    if labels.ndim != 1 or labels.dtype.kind not in "iub":
        return _read_samples(source)
    transformed = [transform(int(label)) for label in labels]
    wrong = next((k for k, label in enumerate(transformed) if not _is_class(label)), None)
    if wrong is not None:
        raise TypeError(
            f"target_transform of {type(source).__name__} makes {transformed[wrong]!r} of label "
            f"{labels[wrong]}, which is not a class number; {WAY_OUT}"
        )
    return np.array([int(label) for label in transformed])


def _labels_of_samples(source: Any) -> Array:
    """Return the labels of pairs (path, label), or else of the samples themselves."""
    for attribute in PAIRS:
        pairs = getattr(source, attribute, None)
        if isinstance(pairs, Sequence) and pairs and _is_pair(pairs[0]):
            return _as_yielded(source, attribute, np.array([int(label) for _, label in pairs]))
    return _read_samples(source)


def _read_samples(source: Any) -> Array:
    """Return the labels of the samples, each of which is read."""
    name = type(source).__name__
    try:
        n = len(source)
    except TypeError as error:
        raise TypeError(f"{name} has no length and no list of labels; {WAY_OUT}") from error
    return np.array([_label_of(source[i], i, name) for i in range(n)])


def _is_pair(sample: object) -> bool:
    return isinstance(sample, (tuple, list)) and len(sample) == 2 and _is_class(sample[1])


def _is_class(label: object) -> bool:
    if isinstance(label, Tensor):
        return label.numel() == 1 and not (label.is_floating_point() or label.is_complex())
    return isinstance(label, (int, np.integer))


def _label_of(sample: Any, number: int, name: str) -> int:
    if isinstance(sample, Mapping):
        label = next((sample[key] for key in KEYS if key in sample), None)
        kind = f"a dict with the keys {', '.join(map(str, sample))}"
    else:
        label = sample[1] if isinstance(sample, (tuple, list)) and len(sample) > 1 else None
        kind = f"{type(sample).__name__}"
    if not _is_class(label):
        raise TypeError(
            f"sample {number} of {name} is {kind}, without a class number in second place; "
            f"{WAY_OUT}"
        )
    return int(label)  # type: ignore[arg-type]
