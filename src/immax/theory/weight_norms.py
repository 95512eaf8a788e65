"""Complexities of linear hypotheses with other norms than l2 and l1 over all weights.

With a weight vector ``w_k`` for each class, the score of class k is ``w_k . x``. The supremum over
a ball is the radius times the dual norm of ``sum_i eps_i x_i / rho_{y_i}``, and each function
bounds the expectation of this norm.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from immax.arrays import Array, Features
from immax.class_vectors import class_vector, positive_number
from immax.theory.complexities import Complexity
from immax.theory.rademacher import row_norms, sample_labels

__all__ = ["rademacher_group", "rademacher_per_class"]


def rademacher_per_class(
    X: Features, y: ArrayLike, rho: ArrayLike, norm: float, order: float = 2
) -> Complexity:
    """Return an upper bound on the complexity of ``{w_k · x : ||w_k||_order <= norm for each k}``.

    Each class has a ball of its own, so the suprema add up: with q the dual order,
    ``(c norm / m) E || sum_i eps_i x_i / rho_{y_i} ||_q``. The expectation is at most
    ``sqrt(sum_i ||x_i||_2^2 / rho^2)`` for order 2; ``sqrt(2 log(2 d) max_j sum_i x_ij^2 / rho^2)``
    for order 1; and in between, where ``q > 2``, the smaller of the latter times ``d^(1/q)`` and
    ``sqrt((q - 1) sum_i ||x_i||_q^2 / rho^2)``, by the smoothness of the q-norm. Above 2, where
    ``q < 2``, it is at most ``(sum_j (sum_i x_ij^2 / rho^2)^(q/2))^(1/q)``, by Jensen's inequality.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (m, d)
        Features.
    y : array-like of int, shape (m,)
        Class numbers.
    rho : array-like of shape (c,)
        Margins.
    norm : float
        The radius of each class's ball.
    order : float, default=2
        The order of the norm, 1 or more.

    Returns
    -------
    Complexity
        For scores of shape (m, c).

    Examples
    --------
    >>> X, y = [[3.0, 4.0], [0.0, 1.0]], [1, 0]
    >>> rademacher_per_class(X, y, [1.0, 1.0], norm=2.0)
    10.198039027185569
    """
    if not order >= 1:
        raise ValueError(f"order must be a number of at least 1; got {order!r}")
    margins = class_vector(rho, "rho")
    rows = _weighed(X, y, margins)
    squares = rows.multiply(rows)
    columns = np.asarray(squares.sum(axis=0)).ravel()
    d = columns.size
    if order == 2:
        spread = float(np.sqrt(columns.sum()))
    elif order > 2:
        dual = 1.0 if order == np.inf else order / (order - 1)
        spread = float(np.sum(columns ** (dual / 2)) ** (1 / dual))
    else:
        dual = np.inf if order == 1 else order / (order - 1)
        largest = float(np.sqrt(2 * np.log(2 * d) * columns.max()))
        spread = largest * d ** (0.0 if dual == np.inf else 1 / dual)
        if dual < np.inf:
            powers = np.asarray((abs(rows) ** dual).sum(axis=1)).ravel() ** (2 / dual)
            spread = min(spread, float(np.sqrt((dual - 1) * powers.sum())))
    c = margins.size
    value = c * positive_number(norm, "norm") * spread / rows.shape[0]
    return Complexity(value, c, margins)


def rademacher_group(
    X: Features, y: ArrayLike, rho: ArrayLike, norm: float, groups: str = "features"
) -> Complexity:
    """Return an upper bound on the complexity of weights with a bounded group norm.

    The norm is ``sum_g ||W_g||_2`` over groups of weights, which makes whole groups zero: the
    weights of a feature in all classes, or those of a class. The dual norm is
    ``max_g ||V_g||_2`` with ``V = sum_i eps_i x_i' / rho_{y_i}``. With ``s_g^2`` the mean square of
    ``||V_g||``, its norm is a convex function of the signs with the Lipschitz constant ``l_g``, so
    that the expectation of the maximum over G groups is at most
    ``max_g s_g + 2 sqrt(2 log G) max_g l_g``; it is also at most ``sqrt(2 log(2 G)) max_g s_g``.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (m, d)
        Features.
    y : array-like of int, shape (m,)
        Class numbers.
    rho : array-like of shape (c,)
        Margins.
    norm : float
        The radius of the ball.
    groups : {"features", "classes"}, default="features"
        What the weights of a group have in common.

    Returns
    -------
    Complexity
        For scores of shape (m, c).

    Examples
    --------
    >>> X, y = [[3.0, 4.0], [0.0, 1.0]], [1, 0]
    >>> round(rademacher_group(X, y, [1.0, 1.0], norm=2.0), 3)
    9.709
    """
    if groups not in ("features", "classes"):
        raise ValueError(f"groups must be 'features' or 'classes'; got {groups!r}")
    margins = class_vector(rho, "rho")
    rows = _weighed(X, y, margins)
    c, d = margins.size, rows.shape[1]
    columns = np.asarray(rows.multiply(rows).sum(axis=0)).ravel()
    if groups == "features":  # V_j has an entry for each class
        n_groups, mean, slope = d, np.sqrt(c * columns.max()), np.sqrt(columns.max())
    else:  # V_k has an entry for each feature; its slope is the largest singular value of the rows
        n_groups, mean = c, np.sqrt(columns.sum())
        slope = np.sqrt(_largest_eigenvalue(rows))
    spread = min(
        mean + 2 * np.sqrt(2 * np.log(n_groups)) * slope, np.sqrt(2 * np.log(2 * n_groups)) * mean
    )
    return Complexity(positive_number(norm, "norm") * float(spread) / rows.shape[0], c, margins)


def _weighed(X: Features, y: ArrayLike, rho: Array) -> sparse.csr_array:
    """Return the rows ``x_i / rho_{y_i}``."""
    norms = row_norms(X)  # checks X
    labels = sample_labels(y, rho, norms.size)
    rows = sparse.csr_array(X if sparse.issparse(X) else np.asarray(X, dtype=np.float64))
    rows = sparse.csr_array(sparse.diags_array(1 / rho[labels]) @ rows)
    rows.sum_duplicates()
    return rows


def _largest_eigenvalue(rows: sparse.csr_array) -> float:
    """Return that of the Gram matrix of the features, or of the rows if they are fewer."""
    gram = rows.T @ rows if rows.shape[1] <= rows.shape[0] else rows @ rows.T
    if gram.shape[0] > 2000:
        return float((rows.multiply(rows)).sum())  # the trace, which is not less
    return float(np.linalg.eigvalsh(gram.toarray())[-1])
