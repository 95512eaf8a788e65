"""Class counts (and radii, and costs) to confidence margins.

The theory's margins are ``rho_k ∝ m_k^(1/3) r_k^(2/3)``: the values that make the
complexity term of the margin bound smallest among all margins of a given sum
(paper, eq. optimal-separable and Lemma D3).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from immax.arrays import Array, Vector

__all__ = [
    "class_radii",
    "class_vector",
    "positive_number",
    "power_margins",
    "resolve_margins",
    "search_box",
    "share_tail",
    "theory_margins",
]


def class_vector(values: ArrayLike, name: str, n_classes: int | None = None) -> Vector:
    """Return ``values`` as one positive, finite float per class, or say what is wrong.

    Parameters
    ----------
    values : array-like of shape (n_classes,)
    name : str
        What to call the argument in an error message.
    n_classes : int, optional
        The length that is expected; by default any length of two or more.
    """
    try:
        vector = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} must be one number per class, such as [500, 20]; got {values!r}"
        ) from error
    if vector.ndim != 1:
        raise ValueError(
            f"{name} must be one number per class, a 1-D array; got shape {vector.shape}"
        )
    if n_classes is None and vector.size < 2:
        raise ValueError(
            f"{name} must have an entry for each of two or more classes; got {vector.tolist()}"
        )
    if n_classes is not None and vector.size != n_classes:
        raise ValueError(
            f"{name} must have an entry for each of the {n_classes} classes; got {vector.size}"
        )
    bad = np.flatnonzero(~(np.isfinite(vector) & (vector > 0)))
    if bad.size:
        k = int(bad[0])
        raise ValueError(
            f"{name} of class {k} is {vector[k]:g}; it must be a positive, finite number"
        )
    return vector


def positive_number(value: float, name: str) -> float:
    """Return ``value`` as a float, or say by its name what is wrong with it."""
    number = float(value)
    if not (np.isfinite(number) and number > 0):
        raise ValueError(f"{name} must be a positive, finite number; got {value!r}")
    return number


def _scaled_to(vector: Vector, total: float) -> Vector:
    return vector * (positive_number(total, "total") / vector.sum())


def class_radii(norms: ArrayLike, y: ArrayLike, n_classes: int) -> Vector:
    """``r_k``, the largest of the samples' norms in each class; zero where there is no sample.

    Examples
    --------
    >>> class_radii([3.0, 5.0, 2.0], [0, 0, 1], 2)
    array([5., 2.])
    """
    radii = np.zeros(n_classes)
    np.maximum.at(radii, np.asarray(y), np.asarray(norms, dtype=np.float64))
    return radii


def theory_margins(
    counts: ArrayLike,
    radii: ArrayLike | None = None,
    costs: ArrayLike | None = None,
    total: float = 1.0,
) -> Vector:
    """The margins that the theory prescribes for a separable sample.

    ``rho_k ∝ costs_k^(2/3) m_k^(1/3) r_k^(2/3)``, scaled to sum to ``total``. They
    minimise the complexity term ``sum_k costs_k^2 m_k r_k^2 / rho_k^2`` among all
    margins of that sum. ``costs = 1/counts`` aims at the balanced error instead of
    the plain one, and gives frequent classes the *smaller* margins.

    Parameters
    ----------
    counts : array-like of shape (n_classes,)
        Number (or total weight) of training samples per class, ``m_k``.
    radii : array-like of shape (n_classes,), optional
        ``r_k``, the largest feature norm within each class. Equal by default.
    costs : array-like of shape (n_classes,), optional
        Weight of an error on each class in the target loss. Equal by default.
    total : float, default=1.0
        What the margins sum to. 1 is the paper's scaling; ``n_classes`` gives mean one.

    Returns
    -------
    ndarray of shape (n_classes,)

    References
    ----------
    *Balancing the Scales*, eq. (optimal-separable) and Lemma D3.

    Examples
    --------
    >>> theory_margins([8000, 1000])
    array([0.66666667, 0.33333333])
    """
    m = class_vector(counts, "counts")
    rho = np.cbrt(m)
    if radii is not None:
        rho = rho * np.cbrt(class_vector(radii, "radii", m.size)) ** 2
    if costs is not None:
        rho = rho * np.cbrt(class_vector(costs, "costs", m.size)) ** 2
    return _scaled_to(rho, total)


def power_margins(counts: ArrayLike, power: float, total: float = 1.0) -> Vector:
    """Margins ``rho_k ∝ m_k^power``, scaled to sum to ``total``.

    Power 0 is cross-entropy, 1/3 the theory's optimum for the plain error, and
    -1/3 its optimum for the balanced error.

    Examples
    --------
    >>> power_margins([8000, 1000], 0.0)
    array([0.5, 0.5])
    >>> power_margins([8000, 1000], 1 / 3)
    array([0.66666667, 0.33333333])
    """
    m = class_vector(counts, "counts")
    if not np.isfinite(power):
        raise ValueError(f"power must be a finite number; got {power!r}")
    exponent = float(power) * np.log(m)
    rho = np.exp(exponent - exponent.max())
    if not rho.all():
        raise ValueError(f"power {power!r} makes the margins of some classes vanish")
    return _scaled_to(rho, total)


def search_box(rho: ArrayLike, width: float = 0.8, n: int = 10) -> Vector:
    """The paper's search box: ``n`` values per class around each margin.

    Class k gets ``n`` equally spaced values in ``[rho_k - d_k, rho_k + d_k]`` with
    ``d_k = width * rho_k``.

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


def resolve_margins(
    margins: Any, classes: Array, counts: ArrayLike, radii: ArrayLike | None = None
) -> Vector:
    """What an estimator's ``margins`` argument means for its data.

    Parameters
    ----------
    margins : "theory", "equal", array-like of shape (n_classes,), or dict by class label
        The first two sum to one; margins that are given are taken as they are.
    classes : ndarray of shape (n_classes,)
        The labels, in order.
    counts, radii : array-like of shape (n_classes,)

    Examples
    --------
    >>> resolve_margins({"ham": 2.0, "spam": 1.0}, np.array(["ham", "spam"]), [80, 20])
    array([2., 1.])
    """
    n_classes = len(classes)
    if isinstance(margins, str):
        if margins == "theory":
            return theory_margins(counts, radii)
        if margins == "equal":
            return np.full(n_classes, 1 / n_classes)
        raise ValueError(
            "margins must be 'theory', 'equal', an array with one margin per class, or a dict "
            f"from class label to margin; got {margins!r}"
        )
    if isinstance(margins, Mapping):
        labels = classes.tolist()
        unknown = [label for label in margins if label not in labels]
        absent = [label for label in labels if label not in margins]
        if unknown or absent:
            raise ValueError(
                f"margins must have one entry for each of the classes {labels}; "
                f"unknown labels: {unknown}, classes without a margin: {absent}"
            )
        margins = [margins[label] for label in labels]
    return class_vector(margins, "margins", n_classes).copy()
