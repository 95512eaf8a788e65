"""Samplers that draw rare classes more often than they come."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch.utils.data import WeightedRandomSampler

from immax.torch.counts import class_counts, labels_of

__all__ = ["class_balanced_sampler", "square_root_sampler"]


def class_balanced_sampler(
    source: Any, num_samples: int | None = None, generator: torch.Generator | None = None
) -> WeightedRandomSampler:
    """Every class is drawn equally often. ``source`` is a data set or an array of labels.

    Examples
    --------
    >>> sampler = class_balanced_sampler([0, 0, 0, 1])
    >>> sampler.weights.tolist()
    [0.3333333333333333, 0.3333333333333333, 0.3333333333333333, 1.0]
    """
    return _sampler(source, 1.0, num_samples, generator)


def square_root_sampler(
    source: Any, num_samples: int | None = None, generator: torch.Generator | None = None
) -> WeightedRandomSampler:
    """Class k is drawn in proportion to the square root of its count."""
    return _sampler(source, 0.5, num_samples, generator)


def _sampler(
    source: Any, power: float, num_samples: int | None, generator: torch.Generator | None
) -> WeightedRandomSampler:
    counts = class_counts(source)
    labels = labels_of(source).astype(np.intp)
    weights = counts[labels].astype(np.float64) ** -power
    return WeightedRandomSampler(
        weights.tolist(), labels.size if num_samples is None else num_samples, generator=generator
    )
