"""The parameters that kernel machines and their searches share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from scipy import sparse

from immax.arrays import Array, Features
from immax.kernels.gram import KERNELS
from immax.kernels.machine import MachineOptions
from immax.validation import check_choice, check_positive

__all__ = ["KernelLike", "check_parameters", "resolve_gamma"]

KernelLike: TypeAlias = str | Callable[[Features, Features], Features]


def check_parameters(
    kernel: KernelLike,
    gamma: str | float,
    multiclass: str,
    options: MachineOptions,
    C: float = 1.0,
    lam: float | None = None,
    degree: float = 3,
    coef0: float = 0.0,
) -> None:
    """Check the parameters of a kernel machine.

    Parameters
    ----------
    kernel, gamma, multiclass, C, lam, degree, coef0
        As in IMMAXSVC.
    options : MachineOptions
        Options of the solvers.

    Raises
    ------
    ValueError
        If a parameter is out of its range; the message names it.
    """
    if not callable(kernel):
        check_choice("kernel", kernel, (*KERNELS, "precomputed"))
    if isinstance(gamma, str):
        check_choice("gamma", gamma, ("scale", "auto"))
    else:
        check_positive("gamma", gamma)
    numbers = (int, float, np.number)
    if not isinstance(degree, numbers) or not 0 <= degree < 2**31 or degree != int(degree):
        raise ValueError(f"degree must be a whole number that is not negative; got {degree!r}")
    if not isinstance(coef0, numbers) or not np.isfinite(coef0):
        raise ValueError(f"coef0 must be a finite number; got {coef0!r}")
    check_positive("C", C)
    if lam is not None:
        check_positive("lam", lam)
    check_positive("tol", options.tol)
    check_positive("cache_size", options.cache_size)
    check_choice("multiclass", multiclass, ("max", "ovo"))
    whole = isinstance(options.max_iter, (int, np.integer))
    if not whole or (options.max_iter < 1 and options.max_iter != -1):
        raise ValueError(
            f"max_iter must be a positive whole number, or -1; got {options.max_iter!r}"
        )


def resolve_gamma(gamma: str | float, X: Features, weight: Array) -> float:
    """Return the number that ``gamma`` stands for, as in scikit-learn's SVC.

    Parameters
    ----------
    gamma : {"scale", "auto"} or float
        ``1 / (d Var(X))``, ``1 / d``, or the number itself.
    X : {ndarray, sparse matrix} of shape (n, d)
        The samples.
    weight : ndarray of shape (n,)
        Their weights; a weight of two counts as two samples.

    Returns
    -------
    float
    """
    d = X.shape[1]
    if gamma == "auto":
        return 1.0 / d
    if gamma == "scale":
        share = weight / (weight.sum() * d)
        mean = np.sum(share @ X)
        if sparse.issparse(X):
            variance = float(np.sum(share @ X.multiply(X)) - mean**2)
        else:
            variance = float(np.sum(share @ (X - mean) ** 2))  # exact for large means too
        return 1.0 / (d * variance) if variance > 0 else 1.0
    return float(gamma)
