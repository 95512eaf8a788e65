"""The separable case: the geometric margin, how to split it, and what a split costs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linprog, nnls
from scipy.special import logsumexp

from immax.arrays import Array, Vector
from immax.class_vectors import class_vector, positive_number
from immax.margins import class_radii, theory_margins
from immax.theory.rademacher import row_norms

__all__ = [
    "Hyperplane",
    "complexity_term",
    "geometric_margin",
    "hyperplanes",
    "ldam_split",
    "optimal_split",
    "renyi_divergence",
    "renyi_excess",
]


@dataclass(frozen=True)
class Hyperplane:
    """``normal · x + offset = 0`` with a unit normal; class 1 is where it is not negative.

    Parameters
    ----------
    normal : ndarray of shape (d,)
        A unit vector.
    offset : float
    """

    normal: Array
    offset: float

    def distances(self, X: ArrayLike) -> Array:
        """Return the signed distances of points from the hyperplane.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The points.

        Returns
        -------
        ndarray of shape (n,)
            Positive on the side of class 1.
        """
        return np.asarray(X, dtype=np.float64) @ self.normal + self.offset

    def predict(self, X: ArrayLike) -> Array:
        """Return the classes of points.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The points.

        Returns
        -------
        ndarray of int, shape (n,)
            1 where the distance is not negative, else 0.
        """
        return (self.distances(X) >= 0).astype(np.intp)


def geometric_margin(X: ArrayLike, y: ArrayLike) -> tuple[float, Hyperplane]:
    """Return the largest distance that all samples can have from a hyperplane, and that hyperplane.

    A sample that no hyperplane separates is refused.

    Parameters
    ----------
    X : array-like of shape (m, d)
        Features.
    y : array-like of shape (m,)
        Labels, 0 and 1.

    Returns
    -------
    margin : float
    plane : Hyperplane
    """
    features = np.asarray(X, dtype=np.float64)
    labels = np.asarray(y)
    if features.ndim != 2 or labels.shape != features.shape[:1]:
        raise ValueError(
            f"X must have shape (m, d) and y shape (m,); got {features.shape} and {labels.shape}"
        )
    if not np.isfinite(features).all():
        raise ValueError("X must be finite; got NaN or infinity")
    if set(np.unique(labels).tolist()) != {0, 1}:
        raise ValueError("y must hold the classes 0 and 1, both of them")
    signs = np.where(labels == 1, 1.0, -1.0)
    signed = signs[:, None] * np.column_stack([features, np.ones(len(features))])
    solution = linprog(
        np.zeros(signed.shape[1]), A_ub=-signed, b_ub=-np.ones(len(signed)), bounds=(None, None)
    )
    if solution.status != 0:
        raise ValueError(
            "no hyperplane separates the two classes; the separable case does not apply: use "
            "immax.theory.margin_bound, and IMMAXClassifier to fit"
        )
    plane = _widest(features, signs)
    distances = signs * plane.distances(features)
    # Rounding and the solver's tolerance: the middle between the nearest of either class.
    shift = (distances[labels == 1].min() - distances[labels == 0].min()) / 2
    plane = Hyperplane(plane.normal, plane.offset - float(shift))
    return float((signs * plane.distances(features)).min()), plane


def _widest(X: Array, signs: Array) -> Hyperplane:
    """Return the hyperplane of the largest margin.

    By Lawson and Hanson's least-distance programming, ``min ||v|| with G v >= 1`` is a
    non-negative least-squares problem. Here v is (w, b), and b should not be penalised: the data
    are shifted until the best b is zero, where its penalty is zero.
    """
    centre = (X[signs > 0].mean(axis=0) + X[signs < 0].mean(axis=0)) / 2
    scale = float(np.abs(X - centre).max()) or 1.0
    Z = (X - centre) / scale
    moved = np.zeros(X.shape[1])
    goal = np.append(np.zeros(X.shape[1] + 1), 1.0)
    for _ in range(50):
        G = signs[:, None] * np.column_stack([Z + moved, np.ones(len(Z))])
        E = np.vstack([G.T, np.ones(len(G))])
        multipliers, _ = nnls(E, goal, maxiter=50 * len(G))
        rest = E @ multipliers - goal
        v = -rest[:-1] / rest[-1]
        w, b = v[:-1], float(v[-1])
        moved = moved + b * w / (w @ w)
        if abs(b) <= 1e-12 * float(np.linalg.norm(w)):
            break
    length = float(np.linalg.norm(w))
    normal = w / length
    offset = float(normal @ moved) * scale - float(normal @ centre)
    return Hyperplane(normal, offset)


def optimal_split(margin: float, counts: ArrayLike, radii: ArrayLike | None = None) -> Vector:
    """Return ``rho_k ∝ m_k^{1/3} r_k^{2/3}`` with the sum ``2 margin``.

    Equation (optimal-separable).

    Parameters
    ----------
    margin : float
        The geometric margin.
    counts : array-like of shape (n_classes,)
        Number of samples per class, ``m_k``.
    radii : array-like of shape (n_classes,), optional
        ``r_k``, the largest norm within each class. Equal by default.

    Returns
    -------
    ndarray of shape (n_classes,)

    Examples
    --------
    >>> optimal_split(1.5, [8, 1])
    array([2., 1.])
    """
    return theory_margins(counts, radii, total=2 * margin)


def ldam_split(margin: float, counts: ArrayLike) -> Vector:
    """Return LDAM's split, the other way round: ``rho_k ∝ m_other^{1/4}``, two classes.

    Parameters
    ----------
    margin : float
        The geometric margin.
    counts : array-like of shape (2,)
        Number of samples per class.

    Returns
    -------
    ndarray of shape (2,)

    Examples
    --------
    >>> ldam_split(1.5, [16, 1])
    array([1., 2.])
    """
    shares = class_vector(counts, "counts", 2)[::-1] ** 0.25
    return np.asarray(shares * (2 * positive_number(margin, "margin") / shares.sum()))


def hyperplanes(X: ArrayLike, y: ArrayLike, use_radii: bool = False) -> dict[str, Hyperplane]:
    """Return the SVM's, LDAM's and IMMAX's hyperplane of a separable sample.

    All have the SVM's normal; they stand where the two margins are as each one splits them.

    Parameters
    ----------
    X : array-like of shape (m, d)
        Features.
    y : array-like of shape (m,)
        Labels, 0 and 1, that a hyperplane separates.
    use_radii : bool, default=False
        Whether IMMAX's split takes the radii of the classes into account.

    Returns
    -------
    dict of str to Hyperplane
    """
    margin, svm = geometric_margin(X, y)
    labels = np.asarray(y).astype(np.intp)
    counts = np.bincount(labels, minlength=2)
    radii = class_radii(row_norms(X), labels, 2) if use_radii else None
    splits = {"LDAM": ldam_split(margin, counts), "IMMAX": optimal_split(margin, counts, radii)}
    planes = {"SVM": svm}
    for name, (_, positive) in splits.items():
        # The nearest positive samples are at a distance `margin`; they should be at `positive`.
        planes[name] = Hyperplane(svm.normal, svm.offset + float(positive) - margin)
    return planes


def renyi_divergence(p: ArrayLike, q: ArrayLike, order: float) -> float:
    """Return ``log(sum_k p_k^order q_k^(1 - order)) / (order - 1)``, or its limit.

    Order 0 is ``-log`` of what q has on the support of p, order 1 the relative entropy, and
    order infinity ``log max_k p_k / q_k``.

    Parameters
    ----------
    p, q : array-like of shape (n,)
        Distributions.
    order : float
        The order, 0 or more; infinity is an order too.

    Returns
    -------
    float

    Examples
    --------
    >>> round(renyi_divergence([0.5, 0.5], [0.9, 0.1], 3), 4)
    1.269
    >>> round(renyi_divergence([0.9, 0.1], [0.5, 0.5], float("inf")), 4)  # log 1.8
    0.5878
    """
    a, b = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
    if a.shape != b.shape or a.ndim != 1 or (a < 0).any() or (b < 0).any():
        raise ValueError("p and q must be vectors of one length, of numbers of at least 0")
    if not (np.isclose(a.sum(), 1) and np.isclose(b.sum(), 1)):
        raise ValueError(f"p and q must sum to one; got {a.sum()} and {b.sum()}")
    if not order >= 0:
        raise ValueError(f"order must be a number of at least 0, or infinity; got {order!r}")
    held = a > 0
    if order >= 1 and (b[held] == 0).any():
        return float("inf")
    a, b = a[held], b[held]
    if order == 0:
        return float(-np.log(b.sum())) + 0.0 if b.any() else float("inf")
    if order == 1:
        return float(np.sum(a * np.log(a / b)))
    if order == np.inf:
        return float(np.log((a / b).max()))
    shared = b > 0
    if not shared.any():
        return float("inf")
    terms = order * np.log(a[shared]) + (1 - order) * np.log(b[shared])
    return float(logsumexp(terms)) / (order - 1)


def complexity_term(rho: ArrayLike, counts: ArrayLike, radii: ArrayLike | None = None) -> float:
    """Return ``sum_k m_k r_k^2 / rho_k^2``, the term under the root in the bounds.

    By Lemma D3 it is ``(r_bar / rho)^2 exp(2 D_3(r || rho_k / rho))`` with
    ``r_bar = (sum_k m_k^{1/3} r_k^{2/3})^{3/2}``, ``rho = sum_k rho_k``, and r the theory's
    margins of sum one.

    Parameters
    ----------
    rho : array-like of shape (n_classes,)
        Margins.
    counts : array-like of shape (n_classes,)
        Number of samples per class, ``m_k``.
    radii : array-like of shape (n_classes,), optional
        ``r_k``, the largest norm within each class. Equal by default.

    Returns
    -------
    float
    """
    m = class_vector(counts, "counts")
    margins = class_vector(rho, "rho", m.size)
    r = np.ones(m.size) if radii is None else class_vector(radii, "radii", m.size)
    return float(np.sum(m * r**2 / margins**2))


def renyi_excess(rho: ArrayLike, counts: ArrayLike, radii: ArrayLike | None = None) -> float:
    """Return the share by which rho's complexity exceeds that of the best margins of its sum.

    The complexity is the root of ``complexity_term``, so that this is
    ``exp(D_3(r || rho / sum rho)) - 1``: 0 is the optimum, 1 is twice its complexity.

    Parameters
    ----------
    rho : array-like of shape (n_classes,)
        Margins.
    counts : array-like of shape (n_classes,)
        Number of samples per class, ``m_k``.
    radii : array-like of shape (n_classes,), optional
        ``r_k``, the largest norm within each class. Equal by default.

    Returns
    -------
    float

    Examples
    --------
    >>> renyi_excess([2.0, 1.0], [8, 1])
    0.0
    >>> round(renyi_excess([1.0, 1.0], [8, 1]), 3)
    0.155
    """
    margins = class_vector(rho, "rho")
    best = theory_margins(counts, radii, total=float(margins.sum()))
    ratio = complexity_term(margins, counts, radii) / complexity_term(best, counts, radii)
    return max(float(np.sqrt(ratio)) - 1, 0.0)
