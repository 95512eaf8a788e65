"""How hyper-parameters are selected inside a training set."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["LAMS", "POWERS", "Selection"]

LAMS: tuple[float, ...] = tuple(float(lam) for lam in np.logspace(-6, 1, 8))
"""The values of lambda that are tried by default."""

POWERS: tuple[float, ...] = tuple(float(t) for t in np.linspace(-0.5, 1.0, 10).round(10))
"""The powers of the class counts that are tried by default."""


@dataclass(frozen=True)
class Selection:
    """How hyper-parameters are selected inside a training set.

    Attributes
    ----------
    folds : int, default=5
        The number of folds of the inner cross-validation.
    use_folds : int, default=0
        The number of these folds that are run; 0 for all.
    trials : int, default=0
        The maximum number of grid points of a method; 0 for no limit.
    scoring : str, default="accuracy"
        The name of a scikit-learn scorer, or of a metric of ``immax.evaluation.metrics``.
    aims : tuple of str, default=()
        Names of metrics. If there are any, each method is tuned for each of them in place of
        ``scoring``, and each has a test of its own.
    each : bool, default=False
        Whether every point of a network's grid is trained in every run and reported by itself, and
        nothing is selected. The grid may then have values of ``epochs`` and ``lr`` too.
    lams, powers : tuple of float, default=()
        The values that are tried; ``LAMS`` and ``POWERS`` if empty.
    """

    folds: int = 5
    use_folds: int = 0
    trials: int = 0
    scoring: str = "accuracy"
    lams: tuple[float, ...] = ()
    powers: tuple[float, ...] = ()
    aims: tuple[str, ...] = ()
    each: bool = False
