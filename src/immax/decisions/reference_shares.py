"""The class shares that probabilities refer to.

Probabilities of a model refer to the class shares of its training data. Class weights, resampling
and held-out samples of other shares make them differ from those of the labels at hand; rules in
closed form would then decide for shares that nobody asked for.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import chi2

from immax.arrays import Array

__all__ = ["estimate_reference_shares"]

LEAST_FACTOR = 2.0  # by which odds must be off: training data have chance in their shares, too
SIGNIFICANCE = 1e-4
SMALLEST = 0.05  # times a class's share; less than that, as the zeros of forests, says little
MAX_STEPS = 30
SMALL_STEP = 1e-3  # of Newton's method, which leaves an error of about its square


def estimate_reference_shares(
    proba: Array, codes: Array, weight: Array, shares: Array
) -> Array | None:
    """Return the class shares that probabilities refer to, if they are not those of the labels.

    If they are ``q``, the probabilities ``p_k shares_k / q_k``, normalised, are right for the
    labels, and so expect as many samples of each class as there are. Their logarithms are the
    biases of largest likelihood; a likelihood-ratio test says whether they are needed.

    Parameters
    ----------
    proba : ndarray of shape (n, c)
        Probabilities of held-out samples.
    codes : ndarray of int, shape (n,)
        Their classes.
    weight : ndarray of shape (n,)
        Sample weights.
    shares : ndarray of shape (c,)
        Weighted shares of the classes, all positive.

    Returns
    -------
    ndarray of shape (c,) or None
        None if the probabilities agree with the labels, within a factor of two of the odds or
        within chance (p > 1e-4).

    Examples
    --------
    A model of balanced classes, on data of which a tenth are positive:

    >>> rng = np.random.default_rng(0)
    >>> y = (rng.random(5000) < 0.1).astype(int)
    >>> p = 1 / (1 + np.exp(2 - 2 * (rng.normal(size=5000) + 2 * y)))
    >>> shares = np.bincount(y) / 5000
    >>> estimate_reference_shares(np.c_[1 - p, p], y, np.ones(5000), shares).round(1)
    array([0.5, 0.5])
    """
    floored = np.maximum(proba, SMALLEST * shares)
    weight = weight / weight.sum()
    biases = np.zeros(len(shares))
    start, expected = _evaluate(floored, codes, weight, biases)
    likelihood = start
    for _ in range(MAX_STEPS):
        mean = weight @ expected
        curvature = np.diag(mean) - (expected * weight[:, None]).T @ expected
        # A constant added to all biases changes nothing, so that one of them can stay.
        step = np.zeros(len(shares))
        step[1:] = np.linalg.lstsq(curvature[1:, 1:], (shares - mean)[1:], rcond=None)[0]
        step *= min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-300))
        biases = biases + step
        likelihood, expected = _evaluate(floored, codes, weight, biases)
        if np.abs(step).max() < SMALL_STEP:
            break
    ratio = 2 * len(codes) * (likelihood - start)
    reference = shares * np.exp(biases.min() - biases)
    reference /= reference.sum()
    odds = np.log(reference / shares)
    if ratio < chi2.isf(SIGNIFICANCE, len(shares) - 1) or np.ptp(odds) < np.log(LEAST_FACTOR):
        return None
    return np.asarray(reference)


def _evaluate(positive: Array, codes: Array, weight: Array, biases: Array) -> tuple[float, Array]:
    """Return the mean log-likelihood with biases, and the probabilities."""
    expected = positive * np.exp(biases)
    expected /= (expected @ np.ones(len(biases)))[:, None]
    return float(weight @ np.log(expected[np.arange(len(codes)), codes])), expected
