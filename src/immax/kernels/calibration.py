"""Folds for the calibration of a kernel machine's scores."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state

from immax.arrays import Array
from immax.validation import Sample

__all__ = ["calibration_folds"]

FOLDS = 5


def calibration_folds(sample: Sample, random_state: int | np.random.RandomState | None) -> Array:
    """Return a fold for each sample, with a share of every class in each.

    Parameters
    ----------
    sample : Sample
        Labels and weights; samples without weight are spread over the folds too.
    random_state : int, RandomState instance or None
        Seed of the assignment. None is a fixed seed.

    Returns
    -------
    ndarray of int, shape (n,)
        Numbers from 0 to 4, or fewer where the smallest class has fewer samples.

    Raises
    ------
    ValueError
        If a class has a single sample.
    """
    labels, has_weight = sample.labels, sample.weight > 0
    smallest = int(np.bincount(labels[has_weight]).min())
    if smallest < 2:
        raise ValueError("calibrated=True needs two samples or more of every class, for its folds")
    rng = check_random_state(0 if random_state is None else random_state)
    order = rng.permutation(labels.size)
    order = order[np.lexsort([labels[order], has_weight[order]])]
    folds = np.empty(labels.size, dtype=int)
    folds[order] = np.arange(labels.size) % min(FOLDS, smallest)
    return folds
