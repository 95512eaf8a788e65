"""The risk that IMMAX minimises, for every surrogate and form."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from immax.arrays import Array, Vector
from immax.losses.exponential_risks import ExponentialRisk
from immax.losses.margin_risks import MarginRisk
from immax.losses.max_risks import MaxRisk
from immax.losses.softmax_risks import SoftmaxRisk
from immax.losses.spec import LossSpec
from immax.losses.surrogates import SURROGATES

__all__ = ["IMMAXRisk", "immax_risk"]

IMMAXRisk: TypeAlias = MarginRisk | SoftmaxRisk | ExponentialRisk | MaxRisk


def immax_risk(loss: str, form: str, y: Array, rho: Vector, weight: Array) -> IMMAXRisk:
    """Return the weighted mean IMMAX loss of a sample, a function of its scores.

    With two classes and the single score h of class 1 the loss is ``Psi(h / rho_1)`` on class 1
    and ``Psi(-h / rho_0)`` on class 0. With more classes it is ``log sum_j exp((h_j - h_y) /
    rho_y)`` or ``sum_{j != y} exp((h_j - h_y) / rho_y)`` in the sum form, and ``max_{j != y}
    Psi((h_y - h_j) / rho_y)`` in the max form.

    Parameters
    ----------
    loss : {"logistic", "hinge", "exponential"}
        The surrogate Psi.
    form : {"auto", "sum", "max"}
        With three classes or more; "auto" is the maximum for the hinge, else the sum.
    y : ndarray of int, shape (n,)
        Class indices.
    rho : ndarray of shape (n_classes,)
        The margins, as they are given.
    weight : ndarray of shape (n,)
        Weights that sum to one. Their dtype is that of the computation.

    Returns
    -------
    MarginRisk, SoftmaxRisk, ExponentialRisk or MaxRisk

    References
    ----------
    *Balancing the Scales*, eqs. (binary) and (alg-gen).

    Examples
    --------
    >>> risk = immax_risk("hinge", "auto", np.array([0, 1]), np.ones(2), np.full(2, 0.5))
    >>> risk.value(np.array([[-2.0], [0.5]]))
    0.25
    """
    surrogate = SURROGATES[loss]
    if rho.size == 2:
        slope = np.array([-1 / rho[0], 1 / rho[1]], dtype=weight.dtype)[y]
        return MarginRisk(surrogate, slope, np.zeros_like(weight), weight)
    if form == "max" or loss == "hinge":
        return MaxRisk(surrogate, y, rho, weight)
    if loss == "logistic":
        return SoftmaxRisk(LossSpec(rho, name="immax"), y, weight, None)
    return ExponentialRisk(y, rho, weight)
