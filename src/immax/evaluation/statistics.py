"""Methods on many data sets: ranks, and tests of their differences.

After Demšar, *Statistical comparisons of classifiers over multiple data sets*, JMLR 7 (2006).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from immax.arrays import Array

__all__ = [
    "Comparison",
    "average_ranks",
    "compare_to",
    "critical_difference",
    "friedman",
    "holm",
    "paired_interval",
    "paired_p",
]

TIE = 1e-9  # differences that are rounding


def average_ranks(values: ArrayLike) -> Array:
    """The mean rank of each method, 1 the best; ties share their ranks.

    Parameters
    ----------
    values : array-like of shape (n_data_sets, n_methods)
        The higher, the better.

    Examples
    --------
    >>> average_ranks([[0.9, 0.8, 0.8], [0.7, 0.6, 0.5]]).tolist()
    [1.0, 2.25, 2.75]
    """
    rounded = np.round(np.asarray(values, dtype=np.float64), 9)
    return np.asarray(stats.rankdata(-rounded, axis=1).mean(axis=0))


def friedman(values: ArrayLike) -> float:
    """The p-value of Friedman's test that all methods are alike."""
    table = np.round(np.asarray(values, dtype=np.float64), 9)
    if (np.ptp(table, axis=1) == 0).all():
        return 1.0
    if table.shape[1] < 3:
        return _wilcoxon(table[:, 0] - table[:, 1])
    return float(stats.friedmanchisquare(*table.T).pvalue)


class Comparison(NamedTuple):
    """A method beside another, over data sets."""

    wins: int
    ties: int
    losses: int
    mean: float  # of the differences
    p: float  # of Wilcoxon's signed-rank test


def compare_to(values: ArrayLike, other: ArrayLike) -> Comparison:
    """How the values of a method, one for each data set, compare with another's.

    Examples
    --------
    >>> compare_to([0.9, 0.8, 0.7], [0.8, 0.8, 0.8])[:3]
    (1, 1, 1)
    """
    difference = np.asarray(values, dtype=np.float64) - np.asarray(other, dtype=np.float64)
    difference[np.abs(difference) < TIE] = 0
    wins, losses = int((difference > 0).sum()), int((difference < 0).sum())
    return Comparison(
        wins,
        difference.size - wins - losses,
        losses,
        float(difference.mean()),
        _wilcoxon(difference),
    )


def _wilcoxon(difference: Array) -> float:
    if not difference.any():
        return 1.0
    return float(stats.wilcoxon(difference, zero_method="zsplit", method="approx").pvalue)


def holm(p_values: ArrayLike) -> Array:
    """p-values corrected for their number, by Holm's procedure.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p)
    scaled = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    corrected = np.empty_like(p)
    corrected[order] = np.minimum(scaled, 1)
    return corrected


def paired_interval(
    differences: ArrayLike, level: float = 0.95, overlap: float = 0.0
) -> tuple[float, float]:
    """A confidence interval of the mean of paired differences, by Student's distribution.

    Parameters
    ----------
    differences : array-like of shape (n,)
    level : float
    overlap : float
        For folds of a cross-validation, whose training sets overlap: the size of a test part over
        that of its training part. It is the correction of Nadeau and Bengio, *Inference for the
        generalization error*, Machine Learning 52 (2003).

    Examples
    --------
    >>> low, high = paired_interval([0.1, 0.2, 0.3])
    >>> round(low, 3), round(high, 3)
    (-0.048, 0.448)
    """
    d = np.asarray(differences, dtype=np.float64)
    if d.size < 2:
        return -np.inf, np.inf
    half = stats.t.ppf((1 + level) / 2, d.size - 1) * _mean_error(d, overlap)
    return float(d.mean() - half), float(d.mean() + half)


def paired_p(differences: ArrayLike, overlap: float = 0.0) -> float:
    """The p-value that belongs to ``paired_interval``: of differences with mean zero."""
    d = np.asarray(differences, dtype=np.float64)
    d = np.where(np.abs(d) < TIE, 0, d)
    error = _mean_error(d, overlap) if d.size > 1 else 0.0
    if not error:
        return 1.0 if d.size < 2 or not d.any() else 0.0
    return float(2 * stats.t.sf(abs(d.mean()) / error, d.size - 1))


def _mean_error(d: Array, overlap: float) -> float:
    return float(d.std(ddof=1) * np.sqrt(1 / d.size + overlap))


def critical_difference(n_methods: int, n_sets: int, level: float = 0.05) -> float:
    """Nemenyi's: mean ranks that differ by less are not significantly different.

    Examples
    --------
    >>> round(critical_difference(5, 30), 2)
    1.11
    """
    q = float(stats.studentized_range.ppf(1 - level, n_methods, np.inf)) / np.sqrt(2)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6 * n_sets)))
