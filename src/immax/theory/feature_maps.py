"""Complexities for a general feature map ``Phi(x, y)``, as the paper states its theorems.

The score of class y is ``w . Phi(x, y)`` with one weight vector for all classes. A weight vector
per class is the map that puts x into the block of y, for which ``rademacher_linear`` and
``rademacher_l1`` are shorter.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from immax.class_vectors import class_vector, positive_number
from immax.theory.complexities import Complexity
from immax.theory.rademacher import sample_labels, second_moment

__all__ = ["rademacher_features"]


def rademacher_features(
    features: ArrayLike,
    y: ArrayLike,
    rho: ArrayLike,
    norm: float,
    order: int = 2,
    step: str = "classes",
) -> Complexity:
    """Return an upper bound on the complexity of ``{w · Phi(x, y) : ||w||_order <= norm}``.

    Theorem rad-kernel-2 for order 2,
    ``norm sqrt(c sum_k m_k r_k^2 / rho_k^2) / m`` with ``r_k`` the largest ``||Phi(x_i, y)||_2``
    over the samples of class k and all y; and Theorem rad-kernel-1 for order 1,
    ``norm sqrt(2 c sum_k m_k r_k^2 / rho_k^2 log(2 d)) / m`` with radii in the maximum norm.

    Parameters
    ----------
    features : array-like of shape (m, c, d)
        ``Phi(x_i, y)`` for each sample and class.
    y : array-like of int, shape (m,)
        Class numbers.
    rho : array-like of shape (c,)
        Margins.
    norm : float
        The radius of the ball of weights.
    order : {1, 2}, default=2
        The order of the norm.
    step : {"sample", "classes", "radius"}, default="classes"
        How far to follow the proof: "sample" keeps the sums over samples, classes and (for order
        1) each coordinate, which is the tightest; "classes" is as the theorems say, and "radius"
        has one radius for all.

    Returns
    -------
    Complexity
        For scores of shape (m, c).

    Examples
    --------
    >>> phi = np.zeros((2, 2, 4))
    >>> phi[:, 0, :2] = phi[:, 1, 2:] = [[3.0, 4.0], [0.0, 1.0]]  # a weight vector per class
    >>> rademacher_features(phi, [1, 0], [1.0, 1.0], norm=2.0)
    7.211102550927978
    """
    margins = class_vector(rho, "rho")
    maps = np.asarray(features, dtype=np.float64)
    if maps.ndim != 3 or maps.shape[1] != margins.size:
        raise ValueError(
            f"features must have shape (m, {margins.size}, d), Phi(x, y) for each sample and "
            f"class; got {maps.shape}"
        )
    if not np.isfinite(maps).all():
        raise ValueError("features must be finite; got NaN or infinity")
    if order not in (1, 2):
        raise ValueError(f"order must be 1 or 2; got {order!r}")
    labels = sample_labels(y, margins, maps.shape[0])
    c, d = margins.size, maps.shape[2]
    if step == "sample":
        squares = ((maps / margins[labels][:, None, None]) ** 2).sum(axis=(0, 1))
        moment = squares.sum() if order == 2 else squares.max()
    else:
        norms = (np.sqrt((maps**2).sum(axis=2)) if order == 2 else np.abs(maps).max(axis=2)).max(
            axis=1
        )
        moment = c * second_moment(norms, labels, margins, step)
    spread = np.sqrt(moment if order == 2 else 2 * moment * np.log(2 * d))
    return Complexity(positive_number(norm, "norm") * float(spread) / labels.size, c, margins)
