"""Machines of two classes, solved by libsvm.

``min over w, b of 1/2 ||w||^2 + sum_i C_i max(0, 1 - y_i f(x_i) / rho_y)`` is an SVM with one
margin for both classes, weights and a shifted bias. Let ``s = (rho_0 + rho_1) / 2`` be the mean
margin. With ``f = s g + (rho_1 - rho_0) / 2`` the objective is ``s^2`` times ``1/2 ||w_g||^2 +
sum_i C_i / (s rho_y) max(0, 1 - y_i g(x_i))``. Margins of one leave SVC's own problem.
"""

from __future__ import annotations

import warnings
from dataclasses import asdict

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from immax.arrays import Array, Vector
from immax.kernels.machine import Machine, MachineOptions
from immax.kernels.samples import Data

__all__ = ["binary_machine"]

SMALL = 256  # samples that are solved to the precision of the arithmetic
EXACT = 1e-10
DEFAULTS = MachineOptions()


def binary_machine(
    data: Data,
    y: Array,
    limits: Array,
    rho: Vector,
    options: MachineOptions = DEFAULTS,
) -> Machine:
    """Solve the machine of two classes by libsvm.

    Parameters
    ----------
    data : Data
        The m samples.
    y : ndarray of int, shape (m,)
        Labels, 0 or 1; scores are those of class 1.
    limits : ndarray of shape (m,)
        The weights C_i of the losses.
    rho : ndarray of shape (2,)
        The margins of the two classes.
    options : MachineOptions
        As in scikit-learn's SVC. Small problems are solved to the precision of the arithmetic if
        possible, which takes little time.

    Returns
    -------
    Machine
    """
    kernel, X = data.libsvm
    svc = SVC(C=1.0, **asdict(options), **kernel)
    weight = limits / (rho.mean() * rho[y])
    with warnings.catch_warnings():
        # libsvm's warning does not say how far the optimum is.
        warnings.simplefilter("ignore", ConvergenceWarning)
        if y.size <= SMALL and options.max_iter == -1:
            exact = clone(svc).set_params(tol=min(options.tol, EXACT), max_iter=100 * SMALL)
            exact.fit(X, y, sample_weight=weight)
            if exact.fit_status_ == 0:
                return _machine(exact, data, y, limits, rho)
        svc.fit(X, y, sample_weight=weight)
    return _machine(svc, data, y, limits, rho)


def _machine(svc: SVC, data: Data, y: Array, limits: Array, rho: Vector) -> Machine:
    """Return libsvm's solution as a machine with unequal margins, and its gap."""
    dual = svc.dual_coef_.toarray() if sparse.issparse(svc.dual_coef_) else svc.dual_coef_
    coefficients = np.zeros((1, y.size))
    mean = float(rho.mean())
    coefficients[0, svc.support_] = mean * dual[0]
    bias = mean * float(svc.intercept_[0]) + (rho[1] - rho[0]) / 2
    products = data.combine(coefficients)[0]
    signs = np.where(y == 1, 1.0, -1.0)
    norm = float(coefficients[0] @ products)
    slack = np.maximum(0, 1 - signs * (products + bias) / rho[y])
    primal = norm / 2 + float(limits @ slack)
    dual_value = mean * float(np.abs(coefficients).sum()) - norm / 2
    return Machine(
        coefficients,
        np.array([bias]),
        primal,
        max(primal - dual_value, 0.0),
        int(np.sum(svc.n_iter_)),
        svc.fit_status_ == 0,
    )
