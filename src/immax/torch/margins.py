"""Margins of the losses from class counts."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from torch import Tensor

from immax.arrays import Vector
from immax.class_vectors import class_vector
from immax.margins import power_margins, share_tail

__all__ = ["count_margins"]


def count_margins(
    counts: ArrayLike | None,
    rho: ArrayLike | Tensor | None = None,
    total: float | Literal["mean"] | None = None,
    power: float = 1 / 3,
    groups: int | ArrayLike | Tensor | None = None,
    radii: ArrayLike | Tensor | None = None,
) -> Vector:
    """Return margins proportional to ``count^power``, of mean one by default.

    Parameters
    ----------
    counts : array-like of shape (C,), or None
        Positive class counts.
    rho, total, power, groups, radii
        As in ``immax.torch.IMMAXLoss``.

    Returns
    -------
    ndarray of shape (C,)

    Raises
    ------
    ValueError
        If an argument is wrong, or neither counts nor margins are given.
    """
    if rho is not None:
        return class_vector(_detached(rho), "rho")
    if counts is None:
        raise ValueError("one of counts, labels, dataset and rho must be given")
    m = class_vector(counts, "counts")
    if radii is not None:
        m = m * class_vector(_detached(radii), "radii", m.size) ** 2
    if groups is not None:
        given = np.asarray(_detached(groups))
        number = share_tail(m, int(given)) if given.ndim == 0 else given
        if number.shape != m.shape:
            raise ValueError(
                f"groups must be a number, or have shape ({m.size},), a group for each class; "
                f"got shape {number.shape}"
            )
        m = (np.bincount(number, m) / np.maximum(np.bincount(number), 1))[number]
    if isinstance(total, str) and total != "mean":
        raise ValueError(f"total must be a positive number or 'mean'; got {total!r}")
    scale = float(m.size) if total is None or isinstance(total, str) else total
    return power_margins(m, power, total=scale)


def _detached(values: ArrayLike | Tensor) -> ArrayLike:
    return values.detach().cpu().numpy() if isinstance(values, Tensor) else values
