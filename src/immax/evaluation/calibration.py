"""Calibration of the probabilities of each class.

The expected calibration error looks at the probability of the predicted label only. Where a class
is rare that label is hardly ever the rare one, and a model that predicts the rare class with 30 %
on average where 2.5 % is true can have a small error. Here every class is looked at by itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from immax.arrays import Array, Vector

__all__ = ["BINS", "ClassCalibration", "calibrate_classes"]

BINS = 10


@dataclass(frozen=True, eq=False)
class ClassCalibration:
    """How the predicted probabilities of a class compare with its shares.

    Attributes
    ----------
    code : int
        The column of the class.
    share : float
        The share of the samples that are of the class.
    predicted : float
        The mean of its predicted probabilities, which should be the share.
    error : float
        The mean gap between predicted probabilities and shares over bins of equally many samples.
    means, shares, counts : ndarray of shape (n_bins,)
        The mean probability, the share and the number of samples of each bin.
    """

    code: int
    share: float
    predicted: float
    error: float
    means: Vector
    shares: Vector
    counts: Array


def calibrate_classes(
    proba: ArrayLike, y: ArrayLike, bins: int = BINS
) -> tuple[ClassCalibration, ...]:
    """Compare the predicted probabilities of each class with what is observed.

    Parameters
    ----------
    proba : array-like of shape (n, c)
    y : array-like of shape (n,)
        Codes of the true classes.
    bins : int, default=10
        Of equally many samples, as far as probabilities differ.

    Returns
    -------
    tuple of ClassCalibration
        The rarest class first.

    Examples
    --------
    Class weights on data of which one in ten is positive:

    >>> proba = np.tile([0.6, 0.4], (20, 1))
    >>> rare, common = calibrate_classes(proba, [1, 1] + [0] * 18)
    >>> rare.code, rare.share, round(rare.predicted, 3), round(rare.error, 3)
    (1, 0.1, 0.4, 0.3)
    """
    p, codes = np.asarray(proba, dtype=np.float64), np.asarray(y)
    counts = np.bincount(codes, minlength=p.shape[1])
    order = np.argsort(counts, kind="stable")
    return tuple(_calibrate(p[:, k], codes == k, int(k), bins) for k in order)


def _calibrate(p: Vector, own: Vector, code: int, bins: int) -> ClassCalibration:
    edges = np.unique(np.quantile(p, np.linspace(0, 1, bins + 1)[1:-1]))
    which = np.searchsorted(edges, p, side="right")
    counts = np.bincount(which, minlength=edges.size + 1)
    used = counts > 0
    means, shares = (
        np.bincount(which, weights=values, minlength=counts.size)[used] / counts[used]
        for values in (p, own)
    )
    error = float(counts[used] @ np.abs(means - shares) / len(p))
    return ClassCalibration(
        code, float(own.mean()), float(p.mean()), error, means, shares, counts[used]
    )
