"""How hyper-parameters are selected inside a training set."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["LAMS", "POWERS", "Selection"]

LAMS: tuple[float, ...] = tuple(float(lam) for lam in np.logspace(-6, 1, 8))
"""Values of lambda that are tried unless others are given."""

POWERS: tuple[float, ...] = tuple(float(t) for t in np.linspace(-0.5, 1.0, 10).round(10))
"""Powers of the class counts that are tried unless others are given."""


@dataclass(frozen=True)
class Selection:
    """How hyper-parameters are selected, inside the training set.

    Attributes
    ----------
    folds : int
        Of the inner cross-validation.
    use_folds : int
        How many of them are run; 0 for all.
    trials : int
        The most grid points of a method; 0 for all.
    scoring : str
        A scorer of scikit-learn.
    lams, powers : tuple of float
        Values that are tried; empty for ``LAMS`` and ``POWERS``.
    """

    folds: int = 5
    use_folds: int = 0
    trials: int = 0
    scoring: str = "accuracy"
    lams: tuple[float, ...] = ()
    powers: tuple[float, ...] = ()
