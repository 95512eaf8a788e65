"""Probabilities under class shares that differ from those of training."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from immax.arrays import Array
from immax.class_labels import check_class_order
from immax.decisions.rules import check_proba
from immax.validation import check_positive

__all__ = ["PriorEstimate", "adjust_prior", "check_shares", "estimate_prior"]


def check_shares(values: ArrayLike, name: str, n_classes: int) -> Array:
    """Return class shares that sum to one, or say what is wrong with them.

    Parameters
    ----------
    values : array-like of shape (c,)
        Shares or counts, positive.
    name : str
        What they are called in errors.
    n_classes : int

    Returns
    -------
    ndarray of shape (c,)
    """
    check_class_order(values, name)
    shares = np.asarray(values, dtype=np.float64)
    if shares.shape != (n_classes,):
        raise ValueError(
            f"{name} must be {n_classes} shares, one per class; got shape {shares.shape}"
        )
    if not (np.isfinite(shares) & (shares > 0)).all():
        raise ValueError(f"{name} must be positive and finite; got {shares.tolist()}")
    return np.asarray(shares / shares.sum())


def adjust_prior(proba: ArrayLike, trained: ArrayLike, actual: ArrayLike) -> Array:
    """Return probabilities for class shares other than those of the training data.

    ``p'_k ∝ p_k actual_k / trained_k``, which is Bayes' rule where the classes themselves look
    the same and only their shares differ. It also undoes resampling and class weights:
    ``trained`` are then the shares after resampling, or the counts times the class weights.

    Parameters
    ----------
    proba : array-like of shape (n, c)
    trained : array-like of shape (c,)
        Class shares, or counts, that the model was trained with.
    actual : array-like of shape (c,)
        Class shares, or counts, in use.

    Returns
    -------
    ndarray of shape (n, c)

    Examples
    --------
    A model of a resampled, balanced training set says 0.5 where 1 % are positive:

    >>> adjust_prior([[0.5, 0.5]], trained=[1, 1], actual=[0.99, 0.01])
    array([[0.99, 0.01]])
    """
    p = check_proba(proba)
    odds = check_shares(actual, "actual", p.shape[1]) / check_shares(trained, "trained", p.shape[1])
    adjusted = p * odds
    return np.asarray(adjusted / adjusted.sum(axis=1, keepdims=True))


class PriorEstimate(NamedTuple):
    """Class shares of unlabelled data, with 95 % intervals.

    Attributes
    ----------
    shares : ndarray of shape (c,)
        The estimates.
    low, high : ndarray of shape (c,)
        The ends of the intervals; NaN if there are none.
    """

    shares: Array
    low: Array
    high: Array


def estimate_prior(
    proba: ArrayLike,
    trained: ArrayLike,
    *,
    tol: float = 1e-8,
    max_iter: int = 10_000,
    n_bootstrap: int = 100,
    random_state: int = 0,
) -> PriorEstimate:
    """Estimate the class shares of unlabelled data from a model's probabilities.

    The maximum likelihood estimate by expectation maximisation (Saerens, Latinne and Decaestecker,
    2002), for a model whose probabilities are right for its own training data. Intervals are
    percentiles over bootstrap samples of the rows; they do not know of errors of the model, and are
    too narrow where a class has a handful of samples.

    Parameters
    ----------
    proba : array-like of shape (n, c)
        Of the unlabelled data.
    trained : array-like of shape (c,)
        Class shares, or counts, that the model was trained with.
    tol : float, default=1e-8
        The largest change of a share at which the iteration stops.
    max_iter : int, default=10_000
    n_bootstrap : int, default=100
        Zero for no intervals: they are then NaN.
    random_state : int, default=0

    Returns
    -------
    PriorEstimate
        ``shares``, ``low`` and ``high``, each of shape (c,).

    Warns
    -----
    ConvergenceWarning
        If ``max_iter`` steps were not enough.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = np.r_[rng.normal(0, 1, 700), rng.normal(2, 1, 300)]
    >>> p = 1 / (1 + np.exp(2 - 2 * x))  # right where both classes are equally frequent
    >>> estimate_prior(np.c_[1 - p, p], [0.5, 0.5]).shares.round(1)
    array([0.7, 0.3])
    """
    p = check_proba(proba)
    if not len(p):
        raise ValueError("proba has no rows: there is nothing to estimate from")
    check_positive("tol", tol)
    if max_iter < 1 or n_bootstrap < 0:
        raise ValueError(
            "max_iter must be at least 1, and n_bootstrap at least 0; got "
            f"{max_iter!r} and {n_bootstrap!r}"
        )
    start = check_shares(trained, "trained", p.shape[1])
    shares, converged = _maximise(p / start, start, np.ones(len(p)), tol, max_iter)
    if not converged:
        warnings.warn(
            f"the shares still moved by more than tol={tol:g} after max_iter={max_iter} steps",
            ConvergenceWarning,
            stacklevel=2,
        )
    if not n_bootstrap:
        nothing = np.full_like(shares, np.nan)
        return PriorEstimate(shares, nothing, nothing)
    rng = np.random.default_rng(random_state)
    samples = [
        _maximise(
            p / start, shares, rng.multinomial(len(p), np.full(len(p), 1 / len(p))), tol, max_iter
        )[0]
        for _ in range(n_bootstrap)
    ]
    low, high = np.percentile(samples, [2.5, 97.5], axis=0)
    return PriorEstimate(shares, low, high)


def _maximise(
    likelihood: Array, shares: Array, weight: Array, tol: float, max_iter: int
) -> tuple[Array, bool]:
    """Return the shares of the largest likelihood, and whether the iteration converged."""
    for _ in range(max_iter):
        joint = likelihood * shares
        posterior = joint / joint.sum(axis=1, keepdims=True)
        new = weight @ posterior / weight.sum()
        moved = float(np.abs(new - shares).max())
        shares = new
        if moved <= tol:
            return shares, True
    return shares, False
