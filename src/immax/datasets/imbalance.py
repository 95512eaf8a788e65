"""Make a labelled sample imbalanced."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

__all__ = ["long_tailed"]


def long_tailed(y: ArrayLike, ratio: float, random_state: Any = None) -> NDArray[np.intp]:
    """Indices of a subsample whose class sizes fall off exponentially.

    With c classes in the order of their labels, class k keeps about
    ``n * ratio^(-k / (c - 1))`` of its samples, where n is the size of the smallest class, so
    that the first class is ``ratio`` times as large as the last. Every class keeps at least
    one sample.

    Parameters
    ----------
    y : array-like of shape (n,)
    ratio : float
        Largest class size over smallest, at least 1.
    random_state : int, RandomState instance or None

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
    """
    labels = np.asarray(y)
    if labels.ndim != 1 or labels.size == 0:
        raise ValueError(f"y must be a 1-D array of labels, not empty; got shape {labels.shape}")
    if not (np.isfinite(ratio) and ratio >= 1):
        raise ValueError(f"ratio must be a finite number of at least 1; got {ratio!r}")
    classes, codes, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    if classes.size < 2:
        raise ValueError(f"y must hold at least two classes; got {classes.tolist()}")
    rng = check_random_state(random_state)
    keep = []
    for k in range(classes.size):
        size = max(1, round(sizes.min() * ratio ** (-k / (classes.size - 1))))
        keep.append(rng.permutation(np.flatnonzero(codes == k))[:size])
    return np.sort(np.concatenate(keep))
