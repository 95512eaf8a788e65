"""Samples of known distributions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.linalg import helmert
from scipy.special import ndtr, softmax
from sklearn.utils import check_random_state

from immax.arrays import Array
from immax.datasets.imbalance import check_whole, class_shares
from immax.validation import check_positive

__all__ = ["SphericalMixture", "gaussian_mixture", "separable_pair", "sparse_text"]

WORDS_PER_TEXT = 40
TOPIC_SHARE = 0.3  # share of the words of a text that depend on its class
DRAWS_AT_ONCE = 2**14


def separable_pair(
    n: int,
    ratio: float,
    margin: float = 0.5,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[Array, Array]:
    """Draw two separable classes in the plane with a known geometric margin.

    The line where the first coordinate is zero separates them with the largest margin: its
    distance from the nearest sample of each class, the first one, is ``margin``.

    Parameters
    ----------
    n : int
        Number of samples, at least 2.
    ratio : float
        Size of class 0 over that of class 1, at least 1.
    margin : float, default=0.5
        Distance of the separating line from the nearest samples.
    random_state : int, RandomState instance or None, default=None
        Determines the sample; an integer makes it reproducible.

    Returns
    -------
    X : ndarray of shape (n, 2)
        The samples: class 0 on the left of the line, class 1 on the right.
    y : ndarray of shape (n,)
        Labels, first those of class 0.

    Examples
    --------
    >>> X, y = separable_pair(110, ratio=10, margin=0.5, random_state=0)
    >>> np.bincount(y).tolist(), float(np.abs(X[:, 0]).min())
    ([100, 10], 0.5)
    """
    check_positive("margin", margin)
    sizes = _sizes(n, class_shares(2, "long_tailed", ratio))
    rng = check_random_state(random_state)
    clouds = []
    for side, size in zip((-1, 1), sizes, strict=True):
        points = rng.standard_normal((size, 2))
        points[0] = 0
        points[:, 0] = side * (margin + np.abs(points[:, 0]))
        clouds.append(points)
    return np.vstack(clouds), np.repeat([0, 1], sizes)


@dataclass(frozen=True, eq=False)
class SphericalMixture:
    """Mixture of normal distributions that differ in their means; the covariance is the identity.

    Parameters
    ----------
    means : ndarray of shape (c, d)
        The mean of each class.
    priors : ndarray of shape (c,)
        The probability of each class.
    """

    means: Array
    priors: Array

    def sample(
        self, counts: ArrayLike, random_state: int | np.random.RandomState | None = None
    ) -> tuple[Array, Array]:
        """Draw a given number of samples of each class.

        Parameters
        ----------
        counts : array-like of int, shape (c,)
            Number of samples of each class.
        random_state : int, RandomState instance or None, default=None
            Determines the sample.

        Returns
        -------
        X : ndarray of shape (n, d)
            The samples, class by class.
        y : ndarray of shape (n,)
            Their labels.
        """
        rng = check_random_state(random_state)
        y = np.repeat(np.arange(len(self.means)), np.asarray(counts))
        return self.means[y] + rng.standard_normal((len(y), self.means.shape[1])), y

    def posterior(self, X: ArrayLike) -> Array:
        """Return the exact class probabilities.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Samples.

        Returns
        -------
        ndarray of shape (n, c)
        """
        intercepts = np.log(self.priors) - 0.5 * (self.means**2).sum(axis=1)
        return np.asarray(softmax(np.asarray(X) @ self.means.T + intercepts, axis=1))

    def bayes_error(
        self, n: int = 200_000, random_state: int | np.random.RandomState | None = 0
    ) -> tuple[float, float]:
        """Compute the Bayes error: the lowest error that any classifier can have.

        Exact for two classes, and estimated by simulation for more.

        Parameters
        ----------
        n : int, default=200_000
            Number of draws of the simulation.
        random_state : int, RandomState instance or None, default=0
            Determines the draws.

        Returns
        -------
        error : float
            The Bayes error.
        standard_error : float
            The standard error of the estimate; 0 for two classes.
        """
        if len(self.means) == 2:
            return self._exact_error(), 0.0
        check_whole("n", n, 2)
        rng = check_random_state(random_state)
        # Only the space that the means span matters, whatever the number of features.
        _, coordinates = np.linalg.qr(self.means.T)
        projected = SphericalMixture(coordinates.T, self.priors)
        errors = np.empty(n)
        for begin in range(0, n, DRAWS_AT_ONCE):
            block = errors[begin : begin + DRAWS_AT_ONCE]
            X, _ = projected.sample(rng.multinomial(block.size, self.priors), rng)
            block[:] = 1 - projected.posterior(X).max(axis=1)
        return float(errors.mean()), float(errors.std(ddof=1) / np.sqrt(n))

    def _exact_error(self) -> float:
        negative, positive = self.priors
        distance = np.linalg.norm(self.means[1] - self.means[0])
        # The point between the means where the posteriors are equal.
        border = distance / 2 - np.log(positive / negative) / distance
        return float(negative * ndtr(-border) + positive * ndtr(border - distance))


def gaussian_mixture(
    counts: ArrayLike,
    d: int,
    separation: float,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[Array, Array, SphericalMixture]:
    """Draw a sample of normally distributed classes.

    All means are ``separation`` apart if d is at least the number of classes minus one. Otherwise
    only neighbours are: the means lie on a circle, or on a line if d is 1.

    Parameters
    ----------
    counts : array-like of int, shape (c,)
        Number of samples of each class; their shares are the priors.
    d : int
        Number of features.
    separation : float
        Distance of the means in standard deviations.
    random_state : int, RandomState instance or None, default=None
        Determines the sample; an integer makes it reproducible.

    Returns
    -------
    X : ndarray of shape (n, d)
        The samples, class by class.
    y : ndarray of shape (n,)
        Their labels.
    mixture : SphericalMixture
        The distribution, with exact posteriors and the Bayes error.

    Examples
    --------
    >>> X, y, mixture = gaussian_mixture([90, 10], d=5, separation=2.0, random_state=0)
    >>> X.shape, mixture.posterior(X).shape
    ((100, 5), (100, 2))
    >>> round(mixture.bayes_error()[0], 4)
    0.0701
    """
    check_whole("d", d, 1)
    sizes = np.asarray(counts)
    if sizes.ndim != 1 or sizes.size < 2 or sizes.dtype.kind not in "iu" or sizes.min() < 1:
        raise ValueError(f"counts must be two or more positive whole numbers; got {counts!r}")
    check_positive("separation", separation)
    mixture = SphericalMixture(_means(sizes.size, d, separation), sizes / sizes.sum())
    X, y = mixture.sample(sizes, random_state)
    return X, y, mixture


def _means(c: int, d: int, separation: float) -> Array:
    means = np.zeros((c, d))
    if d >= c - 1:
        means[:, : c - 1] = separation / np.sqrt(2) * helmert(c).T
    elif d == 1:
        means[:, 0] = separation * (np.arange(c) - (c - 1) / 2)
    else:
        angles = 2 * np.pi * np.arange(c) / c
        radius = separation / (2 * np.sin(np.pi / c))
        means[:, :2] = radius * np.column_stack([np.cos(angles), np.sin(angles)])
    return means


def sparse_text(
    n: int,
    d: int,
    n_classes: int,
    ratio: float,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[sparse.csr_matrix, Array]:
    """Draw bags of words with long-tailed classes.

    Words follow Zipf's law. A share of the words of each text follows the law of its class, in
    which other words are frequent.

    Parameters
    ----------
    n : int
        Number of texts, at least n_classes.
    d : int
        Size of the vocabulary.
    n_classes : int
        Number of classes.
    ratio : float
        Largest class size over smallest, at least 1.
    random_state : int, RandomState instance or None, default=None
        Determines the sample; an integer makes it reproducible.

    Returns
    -------
    X : csr_matrix of shape (n, d)
        Number of occurrences of each word.
    y : ndarray of shape (n,)
        Labels; class sizes decrease exponentially from class 0 on.

    Examples
    --------
    >>> X, y = sparse_text(111, 500, n_classes=3, ratio=100, random_state=0)
    >>> X.shape, np.bincount(y).tolist()
    ((111, 500), [100, 10, 1])
    """
    check_whole("d", d, 1)
    rng = check_random_state(random_state)
    sizes = _sizes(n, class_shares(n_classes, "long_tailed", ratio))
    y = rng.permutation(np.repeat(np.arange(n_classes), sizes))
    zipf = 1 / np.arange(1, d + 1)
    zipf /= zipf.sum()
    lengths = 1 + rng.poisson(WORDS_PER_TEXT - 1, size=n)
    words = np.empty(lengths.sum(), np.intp)
    texts = np.repeat(np.arange(n), lengths)
    label = y[texts]
    for k in range(n_classes):
        law = (1 - TOPIC_SHARE) * zipf + TOPIC_SHARE * rng.permutation(zipf)
        of_class = np.flatnonzero(label == k)
        words[of_class] = rng.choice(d, size=of_class.size, p=law / law.sum())
    X = sparse.coo_matrix((np.ones(words.size), (texts, words)), shape=(n, d)).tocsr()
    return X, y


def _sizes(n: int, shares: Array) -> list[int]:
    """Return positive integers that add up to n and are nearly proportional to the shares."""
    check_whole("n", n, shares.size)
    exact = shares * n / shares.sum()
    sizes = np.maximum(1, np.floor(exact).astype(int))
    while sizes.sum() != n:
        step = 1 if sizes.sum() < n else -1
        sizes[np.argmax(step * (exact - sizes) - (sizes + step < 1) * n)] += step
    return sizes.tolist()
