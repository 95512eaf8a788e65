"""Confidence margins from class counts (and radii, and costs).

The theory's margins are ``rho_k ∝ m_k^(1/3) r_k^(2/3)``: the values that make the complexity
term of the margin bound smallest among all margins of a given sum (paper, eq. optimal-separable
and Lemma D3).

Margins have **mean one** by default, here and in every estimator and loss of this package. Equal
margins are then all one, and make IMMAX the plain method with the same lambda: cross-entropy,
logistic regression or the support vector machine, for two classes as for a thousand. With two
classes and a single score h, that of class 1, the loss is ``Psi(h / rho_1)`` on class 1 and
``Psi(-h / rho_0)`` on class 0. The paper's margins sum to one: ``total=1`` gives these. Margins
that a user passes are never rescaled.
"""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from immax.arrays import Array, Vector
from immax.class_labels import by_label
from immax.class_vectors import class_vector, in_class_order, positive_number

__all__ = [
    "class_radii",
    "class_vector",
    "positive_number",
    "power_margins",
    "resolve_margins",
    "scale_margins",
    "search_box",
    "share_tail",
    "tail_margins",
    "theory_margins",
]


def scale_margins(rho: ArrayLike, total: float | None = None) -> Vector:
    """Rescale margins to a sum, or to mean one.

    Parameters
    ----------
    rho : array-like of shape (n_classes,)
        Margins of any scale.
    total : float, optional
        The sum of the scaled margins. By default their mean is one; 1 is the paper's scaling.

    Returns
    -------
    ndarray of shape (n_classes,)

    Examples
    --------
    >>> scale_margins([2.0, 1.0, 1.0])
    array([1.5 , 0.75, 0.75])
    >>> scale_margins([2.0, 1.0, 1.0], total=1)
    array([0.5 , 0.25, 0.25])
    """
    vector = class_vector(rho, "rho")
    wanted = float(vector.size) if total is None else positive_number(total, "total")
    return np.asarray(vector * (wanted / vector.sum()))


def class_radii(norms: ArrayLike, y: ArrayLike, n_classes: int) -> Vector:
    """Return ``r_k``, the largest norm of the samples of each class.

    Parameters
    ----------
    norms : array-like of shape (n,)
        Norms of the samples.
    y : array-like of int, shape (n,)
        Class indices.
    n_classes : int
        The number of classes.

    Returns
    -------
    ndarray of shape (n_classes,)
        Zero for classes without samples.

    Examples
    --------
    >>> class_radii([3.0, 5.0, 2.0], [0, 0, 1], 2)
    array([5., 2.])
    """
    labels, lengths = np.asarray(y), np.asarray(norms, dtype=np.float64)
    if labels.shape != lengths.shape or labels.ndim != 1:
        raise ValueError(
            f"norms and y must have one entry per sample; got shapes {lengths.shape} and "
            f"{labels.shape}"
        )
    if labels.size and (labels.dtype.kind not in "iub" or not 0 <= labels.min() <= labels.max()):
        raise ValueError("y must be class indices, whole numbers from 0")
    if labels.size and labels.max() >= n_classes:
        raise ValueError(f"y goes up to {labels.max()}; there are {n_classes} classes")
    radii = np.zeros(n_classes)
    np.maximum.at(radii, labels.astype(np.intp), lengths)
    return radii


def theory_margins(
    counts: ArrayLike,
    radii: ArrayLike | None = None,
    costs: ArrayLike | None = None,
    total: float | None = None,
) -> Vector:
    """Return the margins that the theory prescribes for a separable sample.

    ``rho_k ∝ costs_k^(2/3) m_k^(1/3) r_k^(2/3)``, with mean one or the sum ``total``. They
    minimise the complexity term ``sum_k costs_k^2 m_k r_k^2 / rho_k^2`` among all margins of
    their sum. ``costs = 1/counts`` aims at the balanced error instead of the plain one, and
    gives frequent classes the *smaller* margins.

    Parameters
    ----------
    counts : array-like of shape (n_classes,)
        Number (or total weight) of training samples per class, ``m_k``.
    radii : array-like of shape (n_classes,), optional
        ``r_k``, the largest feature norm within each class. Equal by default.
    costs : array-like of shape (n_classes,), optional
        Weight of an error on each class in the target loss. Equal by default.
    total : float, optional
        The sum of the margins. By default their mean is one; 1 is the paper's scaling.

    Returns
    -------
    ndarray of shape (n_classes,)

    References
    ----------
    *Balancing the Scales*, eq. (optimal-separable) and Lemma D3.

    Examples
    --------
    >>> theory_margins([8000, 1000])
    array([1.33333333, 0.66666667])
    >>> theory_margins([8000, 1000], total=1)
    array([0.66666667, 0.33333333])
    """
    m = class_vector(counts, "counts")
    rho = np.cbrt(m)
    if radii is not None:
        rho = rho * np.cbrt(class_vector(radii, "radii", m.size)) ** 2
    if costs is not None:
        rho = rho * np.cbrt(class_vector(costs, "costs", m.size)) ** 2
    return scale_margins(rho, total)


def power_margins(counts: ArrayLike, power: float, total: float | None = None) -> Vector:
    """Return margins ``rho_k ∝ m_k^power``.

    Power 0 is cross-entropy, 1/3 the theory's optimum for the plain error, and
    -1/3 its optimum for the balanced error.

    Parameters
    ----------
    counts : array-like of shape (n_classes,)
        Number (or total weight) of training samples per class, ``m_k``.
    power : float
        The exponent.
    total : float, optional
        The sum of the margins. By default their mean is one; 1 is the paper's scaling.

    Returns
    -------
    ndarray of shape (n_classes,)

    Examples
    --------
    >>> power_margins([8000, 1000], 0.0)
    array([1., 1.])
    >>> power_margins([8000, 1000], 1 / 3)
    array([1.33333333, 0.66666667])
    """
    m = class_vector(counts, "counts")
    if not (isinstance(power, Real) and np.isfinite(power)):
        raise ValueError(f"power must be a finite number; got {power!r}")
    exponent = float(power) * np.log(m)
    rho = np.exp(exponent - exponent.max())
    if not rho.all():
        raise ValueError(f"power {power!r} makes the margins of some classes vanish")
    return scale_margins(rho, total)


def search_box(rho: ArrayLike, width: float = 0.8, n: int = 10) -> Vector:
    """Return the paper's search box: ``n`` values per class around each margin.

    Class k gets ``n`` equally spaced values in ``[rho_k - d_k, rho_k + d_k]`` with
    ``d_k = width * rho_k``.

    Parameters
    ----------
    rho : array-like of shape (n_classes,)
        The centre of the box, such as ``theory_margins(counts)``.
    width : float, default=0.8
        Half the width of the box as a share of the margin, strictly between 0 and 1.
    n : int, default=10
        Values per class, at least two.

    Returns
    -------
    ndarray of shape (n_classes, n)

    References
    ----------
    *Balancing the Scales*, appendix "Experimental details", hyper-parameter search.

    Examples
    --------
    >>> search_box([0.5, 0.25], width=0.8, n=3)
    array([[0.1 , 0.5 , 0.9 ],
           [0.05, 0.25, 0.45]])
    """
    centre = class_vector(rho, "rho")
    if not 0 < width < 1:
        raise ValueError(f"width must lie strictly between 0 and 1; got {width!r}")
    if int(n) != n or n < 2:
        raise ValueError(f"n must be a whole number of at least 2; got {n!r}")
    return np.linspace(centre * (1 - width), centre * (1 + width), int(n), axis=1)


def share_tail(counts: ArrayLike, n_groups: int) -> NDArray[np.intp]:
    """Group the classes so that frequent ones stand alone and the rarest share a group.

    The ``n_groups - 1`` most frequent classes get the groups 0, 1, … in the order of
    their frequency (the lower index first among equals); all others get the last group.

    Parameters
    ----------
    counts : array-like of shape (n_classes,)
        Number of training samples per class.
    n_groups : int
        The number of groups, from 1 to the number of classes.

    Returns
    -------
    ndarray of int, shape (n_classes,)
        The group of each class.

    Examples
    --------
    >>> share_tail([5, 900, 30, 8, 200], 3)
    array([2, 0, 2, 2, 1])
    """
    m = class_vector(counts, "counts")
    if int(n_groups) != n_groups or not 1 <= n_groups <= m.size:
        raise ValueError(
            f"n_groups must be a whole number from 1 to the {m.size} classes; got {n_groups!r}"
        )
    groups = np.full(m.size, int(n_groups) - 1, dtype=np.intp)
    by_frequency = np.argsort(-m, kind="stable")
    groups[by_frequency[: int(n_groups) - 1]] = np.arange(int(n_groups) - 1)
    return groups


def tail_margins(
    counts: ArrayLike,
    n_groups: int,
    radii: ArrayLike | None = None,
    total: float | None = None,
) -> Vector:
    """Return the theory's margins with a single one for all rare classes.

    The ``n_groups - 1`` most frequent classes have the theory's margins, and all others the mean
    of theirs, as in the paper's search for many classes or step imbalance.

    Parameters
    ----------
    counts : array-like of shape (n_classes,)
        Number of training samples per class, ``m_k``.
    n_groups : int
        The number of different margins, from 1 to the number of classes.
    radii, total
        As in ``theory_margins``.

    Returns
    -------
    ndarray of shape (n_classes,)

    Examples
    --------
    >>> tail_margins([8000, 1000, 125], 2)
    array([1.71428571, 0.64285714, 0.64285714])
    """
    rho = theory_margins(counts, radii, total=total)
    groups = share_tail(counts, n_groups)
    means = np.bincount(groups, rho) / np.bincount(groups)
    return np.asarray(means[groups])


def resolve_margins(
    margins: str | ArrayLike | Mapping[Any, float],
    classes: Array,
    counts: ArrayLike,
    radii: ArrayLike | None = None,
) -> Vector:
    """Return the margins that an estimator's ``margins`` argument stands for.

    Parameters
    ----------
    margins : "theory", "equal", array-like of shape (n_classes,), dict or Series by class label
        The first two have mean one; margins that are given are taken as they are.
    classes : ndarray of shape (n_classes,)
        The labels, in order.
    counts : array-like of shape (n_classes,)
        Number (or total weight) of training samples per class.
    radii : array-like of shape (n_classes,), optional
        The largest feature norm within each class, for "theory".

    Returns
    -------
    ndarray of shape (n_classes,)

    Raises
    ------
    ValueError
        If there is not one positive margin for each class.

    Examples
    --------
    >>> resolve_margins("equal", np.array(["ham", "spam"]), [80, 20])
    array([1., 1.])
    >>> resolve_margins({"ham": 2.0, "spam": 1.0}, np.array(["ham", "spam"]), [80, 20])
    array([2., 1.])
    """
    if isinstance(margins, str):
        if margins == "theory":
            return theory_margins(counts, radii)
        if margins == "equal":
            return np.ones(len(classes))
        raise ValueError(
            "margins must be 'theory', 'equal', an array with one margin per class, or a dict "
            f"from class label to margin; got {margins!r}"
        )
    given = by_label(margins)
    if isinstance(given, Mapping):
        given = in_class_order(given, classes, "margins", "margin")
    return class_vector(given, "margins", len(classes)).copy()
