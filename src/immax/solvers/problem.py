"""What a solver is given, and what it gives back."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np
from scipy import sparse

from immax.arrays import Array
from immax.losses.risks import KinkedRisk, SmoothRisk
from immax.solvers.row_parts import RowParts

__all__ = ["Problem", "Solution"]

R = TypeVar("R", bound="SmoothRisk | KinkedRisk")


@dataclass(frozen=True)
class Problem(Generic[R]):
    """``min over W, b of lam ||W||^2 + risk(X W^T + b)``.

    Parameters ``theta`` have shape (k, d), or (k, d + 1) with the biases as the last
    column; the biases are not penalised. Scores have shape (n, k) and lie in memory by
    class, where the kernels are fastest.
    """

    X: Any  # ndarray or CSR matrix, float32 or float64, (n, d)
    risk: R
    lam: float
    fit_intercept: bool = True

    @property
    def shape(self) -> tuple[int, int]:
        """Of ``theta``."""
        return self.risk.n_outputs, self.X.shape[1] + self.fit_intercept

    @property
    def dtype(self) -> Any:
        return self.X.dtype

    @property
    def is_sparse(self) -> bool:
        return bool(sparse.issparse(self.X))

    def with_risk(self, risk: SmoothRisk) -> Problem[SmoothRisk]:
        return Problem(self.X, risk, self.lam, self.fit_intercept)

    @cached_property
    def _parts(self) -> RowParts:
        return RowParts(self.X)

    def zeros(self) -> Array:
        return np.zeros(self.shape, dtype=self.dtype)

    def weights(self, theta: Array) -> Array:
        """The penalised part of theta, a view of shape (k, d)."""
        return theta[:, : self.X.shape[1]]

    def scores(self, theta: Array) -> Array:
        """``X W^T + b``, shape (n, k), in Fortran order."""
        W = self.weights(theta)
        if self.is_sparse:
            scores = np.asfortranarray(self._parts.product(W.T))
        elif W.shape[0] == 1:
            scores = (self.X @ W[0])[:, None]
        else:
            scores = (W @ self.X.T).T
        if self.fit_intercept:
            scores += theta[:, -1]
        return scores

    def pull_back(self, residuals: Array) -> Array:
        """Gradient in theta of ``sum_ij residuals_ij scores_ij``."""
        gradient = np.empty(self.shape, dtype=self.dtype)
        W = self.weights(gradient)
        if self.is_sparse:
            W[:] = self._parts.transposed_product(residuals).T
        elif W.shape[0] == 1:
            W[0] = self.X.T @ np.ascontiguousarray(residuals[:, 0])
        else:
            W[:] = residuals.T @ self.X
        if self.fit_intercept:
            gradient[:, -1] = residuals.sum(axis=0)
        return gradient

    def penalty(self, theta: Array) -> float:
        W = self.weights(theta).astype(np.float64, copy=False)
        return self.lam * float(np.vdot(W, W))

    def penalty_gradient(self, theta: Array) -> Array:
        gradient = (2 * self.lam) * theta
        if self.fit_intercept:
            gradient[:, -1] = 0
        return np.asarray(gradient.astype(self.dtype, copy=False))

    def objective(self, theta: Array) -> float:
        return self.penalty(theta) + self.risk.value(self.scores(theta))


@dataclass(frozen=True)
class Solution:
    """Where a solver stopped.

    Attributes
    ----------
    theta : ndarray of shape (k, d) or (k, d + 1)
    objective : float
    gap : float or None
        An upper bound on ``objective`` minus the optimum; None if the risk is not convex.
    n_iter : int
    converged : bool
        Whether the tolerance, or the precision of the arithmetic, was reached.
    """

    theta: Array
    objective: float
    gap: float | None
    n_iter: int
    converged: bool
