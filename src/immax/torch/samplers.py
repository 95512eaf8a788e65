"""Samplers that draw rare classes more often than they occur."""

from __future__ import annotations

import numpy as np
import torch
from torch.utils.data import WeightedRandomSampler

from immax.torch.counts import class_counts
from immax.torch.labels import LabelSource, labels_of

__all__ = ["class_balanced_sampler", "square_root_sampler"]


def class_balanced_sampler(
    source: LabelSource, num_samples: int | None = None, generator: torch.Generator | None = None
) -> WeightedRandomSampler:
    """Return a sampler that draws every class equally often.

    Parameters
    ----------
    source : Dataset, DataLoader, Tensor or array-like of labels
        As in ``class_counts``.
    num_samples : int, optional
        The number of draws; as many as there are samples by default.
    generator : torch.Generator, optional
        The source of the draws.

    Returns
    -------
    WeightedRandomSampler

    Examples
    --------
    >>> sampler = class_balanced_sampler([0, 0, 0, 1])
    >>> sampler.weights.tolist()
    [0.3333333333333333, 0.3333333333333333, 0.3333333333333333, 1.0]
    """
    return _sampler(source, 1.0, num_samples, generator)


def square_root_sampler(
    source: LabelSource, num_samples: int | None = None, generator: torch.Generator | None = None
) -> WeightedRandomSampler:
    """Return a sampler that draws class k in proportion to the square root of its count.

    Parameters
    ----------
    source, num_samples, generator
        As in ``class_balanced_sampler``.

    Returns
    -------
    WeightedRandomSampler
    """
    return _sampler(source, 0.5, num_samples, generator)


def _sampler(
    source: LabelSource, power: float, num_samples: int | None, generator: torch.Generator | None
) -> WeightedRandomSampler:
    counts = class_counts(source)
    labels = labels_of(source).astype(np.intp)
    weights = counts[labels].astype(np.float64) ** -power
    return WeightedRandomSampler(
        weights.tolist(), labels.size if num_samples is None else num_samples, generator=generator
    )
