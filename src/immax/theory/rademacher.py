"""The empirical class-sensitive Rademacher complexity: closed forms and estimates.

For two classes and a single score, ``(1/m) E sup_h sum_i sigma_i h(x_i) / rho_{y_i}``; for more,
``(1/m) E sup_h sum_i sum_y eps_iy h(x_i, y) / rho_{y_i}``. The hypotheses are ``w . x`` with a
bounded norm of w. With several classes w holds a weight vector for each, and ``Phi(x, y)`` is x
in the block of y, so that ``||Phi(x, y)|| = ||x||``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.extmath import row_norms as euclidean_norms

from immax.arrays import Array, Features
from immax.class_vectors import class_vector, positive_number
from immax.margins import class_radii
from immax.theory.complexities import Complexity

__all__ = [
    "Estimate",
    "estimate_kernel",
    "estimate_linear",
    "rademacher_kernel",
    "rademacher_l1",
    "rademacher_linear",
    "row_norms",
]

STEPS = ("sample", "classes", "radius")


def sample_labels(y: ArrayLike, rho: Array, size: int) -> Array:
    """Return class numbers, one for each of ``size`` samples.

    Parameters
    ----------
    y : array-like of int, shape (size,)
    rho : ndarray of shape (c,)
        Margins of the classes.
    size : int

    Returns
    -------
    ndarray of int, shape (size,)
    """
    labels = np.asarray(y)
    if labels.shape != (size,) or size == 0:
        raise ValueError(f"y must have shape ({size},), one label per sample; got {labels.shape}")
    if labels.dtype.kind not in "iu" or labels.min() < 0 or labels.max() >= rho.size:
        raise ValueError(f"y must hold class numbers from 0 to {rho.size - 1}, as rho does")
    return labels


def _finite(values: Array) -> None:
    if not np.isfinite(values).all():
        raise ValueError("X must be finite; got NaN or infinity")


def _draws(n_draws: int) -> Array:
    if n_draws < 2:
        raise ValueError(f"n_draws must be at least 2; got {n_draws!r}")
    return np.empty(n_draws)


def row_norms(X: Features, order: float = 2) -> Array:
    """Return the norms of the rows of a dense or sparse matrix, of order 2 or infinity.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (m, d)
        The matrix.
    order : {2, inf}, default=2
        The order of the norm.

    Returns
    -------
    ndarray of shape (m,)
    """
    if sparse.issparse(X):
        rows = sparse.csr_array(X, dtype=np.float64, copy=True)
        rows.sum_duplicates()
        _finite(rows.data)
    else:
        rows = np.asarray(X, dtype=np.float64)
        if rows.ndim != 2:
            raise ValueError(f"X must have two dimensions; got shape {rows.shape}")
        _finite(rows)
    if order == 2:
        return np.asarray(euclidean_norms(rows))
    largest = abs(rows).max(axis=1)
    return largest.toarray().ravel() if sparse.issparse(largest) else largest


def second_moment(norms: Array, labels: Array, rho: Array, step: str) -> float:
    """Return ``sum_i ||x_i||^2 / rho^2``, or what the proof bounds it by.

    Parameters
    ----------
    norms : ndarray of shape (m,)
    labels : ndarray of int, shape (m,)
    rho : ndarray of shape (c,)
    step : {"sample", "classes", "radius"}

    Returns
    -------
    float
    """
    if step not in STEPS:
        raise ValueError(f"step must be one of {', '.join(STEPS)}; got {step!r}")
    if step == "classes":
        norms = class_radii(norms, labels, rho.size)[labels]
    elif step == "radius":
        norms = np.full(labels.size, norms.max())
    return float(np.sum((norms / rho[labels]) ** 2))


def rademacher_linear(
    X: Features,
    y: ArrayLike,
    rho: ArrayLike,
    norm: float,
    multiclass: bool | None = None,
    step: str = "classes",
) -> Complexity:
    """Return an upper bound on the complexity of ``{w · x : ||w||_2 <= norm}``.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (m, d)
    y : array-like of int, shape (m,)
        Class numbers.
    rho : array-like of shape (c,)
    norm : float
        The radius Lambda of the ball of weights.
    multiclass : bool, optional
        One weight vector per class (Theorem rad-kernel-2 with the features of this file's
        introduction) rather than a single one (Theorem rad-linear). By default, whether rho
        has more than two entries.
    step : {"sample", "classes", "radius"}
        How far to follow the proof: the sum of the samples' own squared norms, which is the
        tightest; the radius of each class, as the theorems say; or one radius for all.

    Returns
    -------
    Complexity

    Examples
    --------
    >>> rademacher_linear([[3.0, 4.0], [0.0, 1.0]], [1, 0], [1.0, 1.0], norm=2.0)
    5.0990195135927845
    """
    return rademacher_kernel(row_norms(X) ** 2, y, rho, norm, multiclass, step)


def rademacher_kernel(
    diagonal: ArrayLike,
    y: ArrayLike,
    rho: ArrayLike,
    norm: float,
    multiclass: bool | None = None,
    step: str = "classes",
) -> Complexity:
    """Return the same bound for a kernel, given the diagonal of its Gram matrix.

    ``step="sample"`` is the trace of the Gram matrix, weighed by ``1 / rho^2`` (Theorem
    rad-kernel-2).

    Parameters
    ----------
    diagonal : array-like of shape (m,)
        Kernel values of the samples with themselves.
    y : array-like of int, shape (m,)
        Class numbers.
    rho : array-like of shape (c,)
        Margins.
    norm : float
        The radius of the ball of weights.
    multiclass : bool, optional
        As in ``rademacher_linear``.
    step : {"sample", "classes", "radius"}, default="classes"
        As in ``rademacher_linear``.

    Returns
    -------
    Complexity
    """
    margins = class_vector(rho, "rho")
    squares = np.asarray(diagonal, dtype=np.float64)
    if squares.ndim != 1 or not np.isfinite(squares).all() or (squares < 0).any():
        raise ValueError("diagonal must be a one-dimensional array of numbers of at least 0")
    labels = sample_labels(y, margins, squares.size)
    several = margins.size > 2 if multiclass is None else multiclass
    moment = second_moment(np.sqrt(squares), labels, margins, step)
    scores = margins.size if several else 1
    value = positive_number(norm, "norm") * float(np.sqrt(scores * moment)) / labels.size
    return Complexity(value, scores, margins)


def rademacher_l1(
    X: Features,
    y: ArrayLike,
    rho: ArrayLike,
    norm: float,
    multiclass: bool | None = None,
    step: str = "classes",
) -> Complexity:
    """Return an upper bound on the complexity of ``{w · x : ||w||_1 <= norm}``.

    Theorem rad-kernel-1.

    ``norm sqrt(2 c sum_k m_k r_k^2 / rho_k^2 log(2 D)) / m`` with radii in the maximum norm and D
    weights in all; for two classes and a single weight vector there is no factor c.
    ``step="sample"`` uses that a coordinate of ``Phi(x, y)`` is not zero for one y only: the
    factor c goes, and the largest column sum of squares takes the place of the radii.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (m, d)
        Features.
    y : array-like of int, shape (m,)
        Class numbers.
    rho : array-like of shape (c,)
        Margins.
    norm : float
        The radius of the ball of weights.
    multiclass : bool, optional
        As in ``rademacher_linear``.
    step : {"sample", "classes", "radius"}, default="classes"
        As in ``rademacher_linear``.

    Returns
    -------
    Complexity
    """
    margins = class_vector(rho, "rho")
    norms = row_norms(X, np.inf)
    labels = sample_labels(y, margins, norms.size)
    several = margins.size > 2 if multiclass is None else multiclass
    scores = margins.size if several else 1
    weights = scores * X.shape[1] if hasattr(X, "shape") else scores * len(X[0])
    if step == "sample":
        weighed = sparse.diags_array(1 / margins[labels]) @ X
        squares = weighed.multiply(weighed) if sparse.issparse(weighed) else weighed**2
        moment = float(np.asarray(squares.sum(axis=0)).max())
    else:
        moment = scores * second_moment(norms, labels, margins, step)
    spread = float(np.sqrt(2 * moment * np.log(2 * weights)))
    return Complexity(positive_number(norm, "norm") * spread / labels.size, scores, margins)


@dataclass(frozen=True)
class Estimate:
    """A Monte-Carlo estimate: the mean of the draws, and an interval that holds the truth.

    The interval is normal, of the asked confidence.
    """

    mean: Complexity
    low: Complexity
    high: Complexity
    n_draws: int


def _summary(draws: Array, confidence: float, n_scores: int, rho: Array) -> Estimate:
    from scipy.stats import norm as normal

    if not 0 < confidence < 1:
        raise ValueError(f"confidence must be strictly between 0 and 1; got {confidence!r}")
    half = float(normal.ppf(0.5 + confidence / 2) * draws.std(ddof=1) / np.sqrt(draws.size))
    mean = float(draws.mean())
    middle, low, high = (
        Complexity(value, n_scores, rho) for value in (mean, max(mean - half, 0.0), mean + half)
    )
    return Estimate(middle, low, high, draws.size)


def estimate_linear(
    X: Features,
    y: ArrayLike,
    rho: ArrayLike,
    norm: float,
    order: int = 2,
    multiclass: bool | None = None,
    n_draws: int = 200,
    confidence: float = 0.95,
    random_state: int | np.random.RandomState | None = None,
) -> Estimate:
    """Return the complexity of ``{w · x : ||w||_order <= norm}`` by random signs; order 1 or 2.

    The supremum over the ball is explicit: the dual norm of the weighed sum of features.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (m, d)
        Features.
    y : array-like of int, shape (m,)
        Class numbers.
    rho : array-like of shape (c,)
        Margins.
    norm : float
        The radius of the ball of weights.
    order : {1, 2}, default=2
        The order of the norm.
    multiclass : bool, optional
        As in ``rademacher_linear``.
    n_draws : int, default=200
        The number of draws of random signs.
    confidence : float, default=0.95
        The confidence of the interval.
    random_state : int, RandomState instance or None, default=None
        Seed of the signs.

    Returns
    -------
    Estimate
    """
    if order not in (1, 2):
        raise ValueError(f"order must be 1 or 2; got {order!r}")
    margins = class_vector(rho, "rho")
    features = X if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    _finite(X.data if sparse.issparse(X) else np.asarray(features))
    labels = sample_labels(y, margins, features.shape[0])
    several = margins.size > 2 if multiclass is None else multiclass
    rng = check_random_state(random_state)
    draws = _draws(n_draws)
    for draw in range(n_draws):
        signs = rng.choice([-1.0, 1.0], (labels.size, margins.size if several else 1))
        total = features.T @ (signs / margins[labels][:, None])
        draws[draw] = np.sqrt(np.sum(total**2)) if order == 2 else np.abs(total).max()
    draws *= positive_number(norm, "norm") / labels.size
    return _summary(draws, confidence, margins.size if several else 1, margins)


def estimate_kernel(
    gram: ArrayLike,
    y: ArrayLike,
    rho: ArrayLike,
    norm: float,
    multiclass: bool | None = None,
    n_draws: int = 200,
    confidence: float = 0.95,
    random_state: int | np.random.RandomState | None = None,
) -> Estimate:
    """Return the complexity of the ball of a kernel's weights by random signs.

    Parameters
    ----------
    gram : array-like of shape (m, m)
        The Gram matrix.
    y : array-like of int, shape (m,)
        Class numbers.
    rho : array-like of shape (c,)
        Margins.
    norm : float
        The radius of the ball of weights.
    multiclass : bool, optional
        As in ``rademacher_linear``.
    n_draws : int, default=200
        The number of draws of random signs.
    confidence : float, default=0.95
        The confidence of the interval.
    random_state : int, RandomState instance or None, default=None
        Seed of the signs.

    Returns
    -------
    Estimate
    """
    margins = class_vector(rho, "rho")
    K = np.asarray(gram, dtype=np.float64)
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise ValueError(f"gram must be a square matrix; got shape {K.shape}")
    _finite(K)
    labels = sample_labels(y, margins, K.shape[0])
    several = margins.size > 2 if multiclass is None else multiclass
    rng = check_random_state(random_state)
    draws = _draws(n_draws)
    for draw in range(n_draws):
        signs = rng.choice([-1.0, 1.0], (labels.size, margins.size if several else 1))
        weighed = signs / margins[labels][:, None]
        draws[draw] = np.sqrt(max(float(np.einsum("ij,ij->", weighed, K @ weighed)), 0.0))
    draws *= positive_number(norm, "norm") / labels.size
    return _summary(draws, confidence, margins.size if several else 1, margins)
