"""Problems that solvers are given, and the solutions that they return."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Generic, Literal, TypeGuard, TypeVar

import numpy as np
from scipy import sparse

from immax.arrays import Array, Features
from immax.losses.risks import Risk, SmoothRisk
from immax.penalties import Penalty, SquaredL2
from immax.solvers.row_parts import RowParts

__all__ = ["MANY_OUTPUTS", "Problem", "Solution", "is_smooth"]

MANY_OUTPUTS = 16  # scores of a sample from which on they lie side by side in memory


R = TypeVar("R", bound=Risk)
R_co = TypeVar("R_co", bound=Risk, covariant=True)


@dataclass(frozen=True)
class Problem(Generic[R_co]):
    """The problem ``min over W, b of lam Omega(W) + risk(X W^T + b)``.

    Parameters ``theta`` have shape (k, d), or (k, d + 1) with the biases as the last column; the
    biases are not penalised. Scores have shape (n, k). They are stored in the order that the
    kernels are fastest with: Fortran order for few outputs, C order for many.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d)
        Features, in float32 or float64. The problem is solved in their precision.
    risk : SmoothRisk or KinkedRisk
        The weighted mean of the losses as a function of the scores.
    lam : float
        The strength of the penalty, positive.
    fit_intercept : bool, default=True
        Whether there are biases.
    omega : Penalty, default=SquaredL2()
        The penalty Omega, the squared Euclidean norm by default.
    """

    X: Features
    risk: R_co
    lam: float
    fit_intercept: bool = True
    omega: Penalty = field(default_factory=SquaredL2)

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of ``theta``."""
        return self.risk.n_outputs, self.X.shape[1] + self.fit_intercept

    @property
    def dtype(self) -> np.dtype[np.float32 | np.float64]:
        """The precision of the features and of ``theta``."""
        return self.X.dtype

    @cached_property
    def is_sparse(self) -> bool:
        """Whether the features are a sparse matrix."""
        return bool(sparse.issparse(self.X))

    @property
    def n_entries(self) -> int:
        """The number of stored entries of the features."""
        return int(self.X.nnz if self.is_sparse else self.X.size)

    def with_risk(self, risk: R, lam: float | None = None) -> Problem[R]:
        """Return the problem with another risk.

        The blocks that sparse features have been cut into are shared.

        Parameters
        ----------
        risk : SmoothRisk or KinkedRisk
            The risk.
        lam : float, optional
            The strength of the penalty; by default that of this problem.

        Returns
        -------
        Problem
        """
        lam = self.lam if lam is None else lam
        other = Problem(self.X, risk, lam, self.fit_intercept, self.omega)
        if self.is_sparse:
            other.__dict__["_parts"] = self._parts
        return other

    @cached_property
    def _parts(self) -> RowParts:
        return RowParts(self.X)

    @property
    def _order(self) -> Literal["C", "F"]:
        return "F" if self.risk.n_outputs < MANY_OUTPUTS else "C"

    def new_scores(self) -> Array:
        """Return an array for scores, with arbitrary contents.

        Returns
        -------
        ndarray of shape (n, k)
        """
        shape = self.X.shape[0], self.risk.n_outputs
        return np.empty(shape, dtype=self.dtype, order=self._order)

    def zeros(self) -> Array:
        """Return parameters that are all zero.

        Returns
        -------
        ndarray of shape (k, d) or (k, d + 1)
        """
        return np.zeros(self.shape, dtype=self.dtype)

    def weights(self, theta: Array) -> Array:
        """Return the penalised part of the parameters.

        Parameters
        ----------
        theta : ndarray of shape (k, d) or (k, d + 1)
            Parameters.

        Returns
        -------
        ndarray of shape (k, d)
            A view.
        """
        return theta[:, : self.X.shape[1]]

    def scores(self, theta: Array, out: Array | None = None) -> Array:
        """Return the scores ``X W^T + b``.

        Parameters
        ----------
        theta : ndarray of shape (k, d) or (k, d + 1)
            Parameters.
        out : ndarray of shape (n, k), optional
            Where to write the scores; ignored if X is sparse.

        Returns
        -------
        ndarray of shape (n, k)
        """
        W = self.weights(theta)
        if self.is_sparse:
            scores = np.asarray(self._parts.product(W.T), order=self._order)
        else:
            scores = self.new_scores() if out is None else out
            if W.shape[0] == 1:
                np.matmul(self.X, W[0], out=scores[:, 0])
            elif self._order == "F":
                scores[:] = self.X @ W.T  # faster than the transposed product, copy included
            else:
                np.matmul(self.X, W.T, out=scores)
        if self.fit_intercept:
            scores += theta[:, -1]
        return scores

    def pull_back(self, residuals: Array) -> Array:
        """Return the gradient in theta of ``sum_ij residuals_ij scores_ij``.

        Parameters
        ----------
        residuals : ndarray of shape (n, k)
            The gradient in the scores.

        Returns
        -------
        ndarray of shape (k, d) or (k, d + 1)
        """
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
        """Return the penalty, ``lam Omega(W)``.

        Parameters
        ----------
        theta : ndarray of shape (k, d) or (k, d + 1)
            Parameters.

        Returns
        -------
        float
        """
        return self.lam * self.omega.value(self.weights(theta))

    def penalty_gradient(self, theta: Array) -> Array:
        """Return the gradient in theta of ``lam ||W||^2``, the penalty of ``SquaredL2``.

        Parameters
        ----------
        theta : ndarray of shape (k, d) or (k, d + 1)
            Parameters.

        Returns
        -------
        ndarray of the shape of theta
            Zero for the biases.
        """
        gradient = (2 * self.lam) * theta
        if self.fit_intercept:
            gradient[:, -1] = 0
        return np.asarray(gradient.astype(self.dtype, copy=False))

    def objective(self, theta: Array) -> float:
        """Return the penalty plus the risk.

        Parameters
        ----------
        theta : ndarray of shape (k, d) or (k, d + 1)
            Parameters.

        Returns
        -------
        float
        """
        return self.penalty(theta) + self.risk.value(self.scores(theta))


def is_smooth(problem: Problem[Risk]) -> TypeGuard[Problem[SmoothRisk]]:
    """Return whether the risk of the problem is continuously differentiable.

    Parameters
    ----------
    problem : Problem
        A smooth problem, or one with kinks.

    Returns
    -------
    bool
        False for risks with kinks: the hinge and every max form.
    """
    return problem.risk.smooth


@dataclass(frozen=True)
class Solution:
    """The point at which a solver stopped.

    Attributes
    ----------
    theta : ndarray of shape (k, d) or (k, d + 1)
        The parameters.
    objective : float
        The objective there.
    gap : float or None
        An upper bound on ``objective`` minus the optimum. None if the risk is not convex, or if
        no certificate was asked for.
    n_iter : int
        The number of iterations.
    converged : bool
        Whether the tolerance, or the precision of the arithmetic, was reached.
    """

    theta: Array
    objective: float
    gap: float | None
    n_iter: int
    converged: bool
