"""Comparisons of methods: ranks over data sets, paired tests and intervals.

Ranks and their tests follow Demšar, *Statistical comparisons of classifiers over multiple data
sets*, JMLR 7 (2006).
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from immax.arrays import Array, Vector

__all__ = [
    "PairedComparison",
    "PairedGain",
    "average_ranks",
    "compare_to",
    "critical_difference",
    "friedman",
    "holm",
    "paired_gain",
    "paired_interval",
    "paired_p",
]

TIE = 2e-6
"""Smaller differences over data sets are ties: metrics of result files have six digits."""

ROUNDING = 1e-9
"""Smaller differences of folds, which are computed on the spot, are rounding errors."""

FOLD_WEIGHT = 0.5
"""How much of the correction of Nadeau and Bengio is added to the variance over test samples.

``python benchmarks/verdict.py`` shows the error rates of 0, 1/2 and 1: with 0 they are up to five
times the nominal one where there is nothing to learn, and with 1 there is little power left.
"""


def average_ranks(values: ArrayLike) -> Vector:
    """Return the mean rank of each method over the data sets, where rank 1 is the best.

    Parameters
    ----------
    values : array-like of shape (n_data_sets, n_methods)
        A measure of which higher values are better.

    Returns
    -------
    ndarray of shape (n_methods,)
        Tied methods share the mean of their ranks.

    Examples
    --------
    >>> average_ranks([[0.9, 0.8, 0.8], [0.7, 0.6, 0.5]]).tolist()
    [1.0, 2.25, 2.75]
    """
    return np.asarray(stats.rankdata(-_tied(values), axis=1).mean(axis=0))


def _tied(values: ArrayLike) -> Vector:
    """Return the values of each row with those that tie replaced by the lowest of them."""
    table = np.asarray(values, dtype=np.float64)
    order = np.argsort(table, axis=1)
    ascending = np.take_along_axis(table, order, axis=1)
    begins = np.diff(ascending, axis=1, prepend=-np.inf) >= TIE
    lowest = np.maximum.accumulate(np.where(begins, ascending, -np.inf), axis=1)
    tied = np.empty_like(table)
    np.put_along_axis(tied, order, lowest, axis=1)
    return tied


def friedman(values: ArrayLike) -> float:
    """Return the p-value of Friedman's test that all methods perform alike.

    Parameters
    ----------
    values : array-like of shape (n_data_sets, n_methods)
        With two methods, Wilcoxon's signed-rank test takes the place of Friedman's.

    Returns
    -------
    float

    Examples
    --------
    >>> friedman([[0.9, 0.9, 0.9], [0.8, 0.8, 0.8]])
    1.0
    """
    table = _tied(values)
    if (np.ptp(table, axis=1) == 0).all():
        return 1.0
    if table.shape[1] < 3:
        return _wilcoxon_p(table[:, 0] - table[:, 1])
    return float(stats.friedmanchisquare(*table.T).pvalue)


class PairedComparison(NamedTuple):
    """How a method compares with another over data sets.

    Attributes
    ----------
    wins, ties, losses : int
        The number of data sets on which the method is better, as good, and worse.
    mean : float
        The mean of the differences.
    p : float
        The p-value of Wilcoxon's signed-rank test.
    """

    wins: int
    ties: int
    losses: int
    mean: float
    p: float


def compare_to(values: ArrayLike, other: ArrayLike) -> PairedComparison:
    """Compare a method with another over the same data sets.

    Parameters
    ----------
    values, other : array-like of shape (n_data_sets,)
        A measure of which higher values are better, for the method and for the other one.

    Returns
    -------
    PairedComparison

    Examples
    --------
    >>> compare_to([0.9, 0.8, 0.7], [0.8, 0.8, 0.8])[:3]
    (1, 1, 1)
    """
    difference = np.asarray(values, dtype=np.float64) - np.asarray(other, dtype=np.float64)
    difference[np.abs(difference) < TIE] = 0
    wins, losses = int((difference > 0).sum()), int((difference < 0).sum())
    return PairedComparison(
        wins=wins,
        ties=difference.size - wins - losses,
        losses=losses,
        mean=float(difference.mean()),
        p=_wilcoxon_p(difference),
    )


def _wilcoxon_p(difference: Array) -> float:
    if not difference.any():
        return 1.0
    with warnings.catch_warnings():
        # Earlier versions of SciPy warn of small samples.
        warnings.filterwarnings("ignore", "Sample size too small", UserWarning)
        return float(stats.wilcoxon(difference, zero_method="zsplit", method="approx").pvalue)


def holm(p_values: ArrayLike) -> Vector:
    """Return p-values adjusted for multiple comparisons by Holm's procedure.

    Parameters
    ----------
    p_values : array-like of shape (n_tests,)

    Returns
    -------
    ndarray of shape (n_tests,)

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p)
    scaled = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(scaled, 1)
    return adjusted


def paired_interval(
    differences: ArrayLike, level: float = 0.95, overlap: float = 0.0
) -> tuple[float, float]:
    """Return a confidence interval of the mean of paired differences.

    The interval is based on Student's t-distribution.

    Parameters
    ----------
    differences : array-like of shape (n,)
    level : float, default=0.95
        The confidence level.
    overlap : float, default=0.0
        The ratio of test samples to training samples if the differences are those of folds of a
        cross-validation, whose training sets overlap. The variance is then corrected after Nadeau
        and Bengio, *Inference for the generalization error*, Machine Learning 52 (2003).

    Returns
    -------
    low, high : float
        Infinite for a single difference.

    Examples
    --------
    >>> low, high = paired_interval([0.1, 0.2, 0.3])
    >>> round(low, 3), round(high, 3)
    (-0.048, 0.448)
    """
    d = np.asarray(differences, dtype=np.float64)
    if d.size < 2:
        return -np.inf, np.inf
    half = stats.t.ppf((1 + level) / 2, d.size - 1) * _standard_error(d, overlap)
    return float(d.mean() - half), float(d.mean() + half)


def paired_p(differences: ArrayLike, overlap: float = 0.0) -> float:
    """Return the two-sided p-value of the t-test that paired differences have mean zero.

    Parameters
    ----------
    differences : array-like of shape (n,)
    overlap : float, default=0.0
        As for ``paired_interval``: p is below 0.05 if and only if the interval of level 0.95
        excludes zero.

    Returns
    -------
    float
        One for a single difference.

    Examples
    --------
    >>> round(paired_p([0.1, 0.2, 0.3]), 3)
    0.074
    """
    d = np.asarray(differences, dtype=np.float64)
    d = np.where(np.abs(d) < ROUNDING, 0, d)
    error = _standard_error(d, overlap) if d.size > 1 else 0.0
    if not error:
        return 1.0 if d.size < 2 or not d.any() else 0.0
    return float(2 * stats.t.sf(abs(d.mean()) / error, d.size - 1))


class PairedGain(NamedTuple):
    """The mean of paired differences of folds, and how certain it is.

    Attributes
    ----------
    mean, error : float
        The mean difference and its standard error.
    low, high : float
        The confidence interval.
    p : float
        The two-sided p-value of no difference.
    """

    mean: float
    error: float
    low: float
    high: float
    p: float


def paired_gain(
    folds: ArrayLike, left_out: ArrayLike, n_parts: int, level: float = 0.95
) -> PairedGain:
    """Return the mean of differences of folds, with an interval that uses the test samples.

    A few folds say little about the variance of a difference: with five of them there are four
    degrees of freedom. The test samples say more. Their part of the variance is estimated by
    leaving out one group of samples after the other (the delete-a-group jackknife); half of the
    variance between folds that Nadeau and Bengio (2003) add for the overlap of training sets comes
    on top. Degrees of freedom follow Satterthwaite, with fewer for heavy tails: if a handful of
    rare samples decides, the interval knows it.

    Parameters
    ----------
    folds : array-like of shape (n_folds,)
        The difference in each fold.
    left_out : array-like of shape (n_groups, n_folds)
        The same with one group of samples left out.
    n_parts : int
        The number of folds that the samples are split into; a repeated split has more folds.
    level : float, default=0.95

    Returns
    -------
    PairedGain

    Examples
    --------
    >>> samples = np.random.default_rng(0).normal(0.5, 1, (20, 10, 5))  # groups, rows, folds
    >>> total, own = samples.sum(axis=(0, 1)), samples.sum(axis=1)
    >>> gain = paired_gain(total / 200, (total - own) / 190, n_parts=5)
    >>> round(gain.mean, 2), round(gain.low, 2), round(gain.high, 2)
    (0.45, 0.33, 0.57)
    """
    d, groups = np.asarray(folds, dtype=np.float64), np.asarray(left_out, dtype=np.float64)
    mean = float(d.mean())
    means = groups.mean(axis=1)
    deviations = means - means.mean()
    n = len(deviations)
    squares = deviations**2
    of_samples = float((n - 1) / n * squares.sum())
    between = float(d.var(ddof=1)) if d.size > 1 else 0.0
    of_folds = FOLD_WEIGHT * between / (n_parts - 1)
    variance = of_samples + of_folds
    if variance <= ROUNDING**2:
        return PairedGain(mean, 0.0, mean, mean, float(abs(mean) < ROUNDING))
    tails = float(squares.sum() ** 2 / (squares**2).sum()) if of_samples > 0 else 1.0
    freedom_samples = min(n - 1.0, max(3 * tails - 1, 1.0))  # 3: the kurtosis of the normal
    freedom = variance**2 / (of_samples**2 / freedom_samples + of_folds**2 / max(d.size - 1, 1))
    error = float(np.sqrt(variance))
    half = float(stats.t.ppf((1 + level) / 2, freedom)) * error
    p = float(2 * stats.t.sf(abs(mean) / error, freedom))
    return PairedGain(mean, error, mean - half, mean + half, p)


def _standard_error(d: Vector, overlap: float) -> float:
    """Return the standard error of the mean."""
    return float(d.std(ddof=1) * np.sqrt(1 / d.size + overlap))


def critical_difference(n_methods: int, n_sets: int, level: float = 0.05) -> float:
    """Return the critical difference of Nemenyi's test.

    Mean ranks that differ by less are not significantly different.

    Parameters
    ----------
    n_methods, n_sets : int
        The numbers of methods and of data sets.
    level : float, default=0.05
        The significance level.

    Returns
    -------
    float

    Examples
    --------
    >>> round(critical_difference(5, 30), 2)
    1.11
    """
    q = float(stats.studentized_range.ppf(1 - level, n_methods, np.inf)) / np.sqrt(2)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6 * n_sets)))
