"""A preconditioner for many classes: the features' second moments, and a curvature for each class.

The Hessian's block of class k is taken to be ``s_k M + 2 lam I`` without the bias, with the same
moments M for all classes. In the basis of M's eigenvectors all blocks are diagonal, so that their
inverses take two products with one matrix. A block with the mean curvature that is scaled to each
class would scale the penalty too, which is most of the curvature of a rare class.
"""

from __future__ import annotations

import numpy as np

from immax.arrays import Array
from immax.losses.risks import SmoothRisk
from immax.solvers.preconditioners import Preconditioner, project
from immax.solvers.problem import Problem

__all__ = ["moment_preconditioner"]

LEAST_CURVATURE = 1e-6  # of a class, relative to the largest


def moment_preconditioner(
    problem: Problem[SmoothRisk], of_samples: Array, of_outputs: Array
) -> Preconditioner:
    """Return the inverse of a Hessian whose blocks differ by a factor and share the penalty.

    Parameters
    ----------
    problem : Problem
        A smooth problem with dense features.
    of_samples : ndarray of shape (n,)
        The curvature of each sample, summed over its scores.
    of_outputs : ndarray of shape (k,)
        The curvature in each score, summed over the samples.

    Returns
    -------
    Preconditioner
        A function of the gradient.
    """
    X, dtype = problem.X, problem.dtype
    total = float(of_samples.sum()) or 1.0
    share = (of_samples / total).astype(dtype)
    # With the mean subtracted the bias is independent of the weights.
    mean = share @ X if problem.fit_intercept else np.zeros(X.shape[1], dtype)
    centred = X - mean
    size = max(float(centred.max(initial=0)), -float(centred.min(initial=0))) or 1.0
    centred /= size  # or squares of large features overflow
    centred *= np.sqrt(share)[:, None]
    values, vectors = np.linalg.eigh((centred.T @ centred).astype(np.float64))
    values *= size**2
    curvature = np.maximum(of_outputs, max(LEAST_CURVATURE * of_outputs.max(), 1e-30))
    blocks = 1 / (curvature[:, None] * np.maximum(values, 0) + 2 * problem.lam)
    inverse, basis = blocks.astype(dtype), vectors.astype(dtype)
    inverse_of_biases = (1 / curvature).astype(dtype)

    def solve(gradient: Array) -> Array:
        step = np.empty_like(gradient)
        W = problem.weights(gradient)
        if problem.fit_intercept:
            W = W - gradient[:, -1:] * mean
        moved = ((W @ basis) * inverse) @ basis.T
        problem.weights(step)[:] = moved
        if problem.fit_intercept:
            step[:, -1] = gradient[:, -1] * inverse_of_biases - moved @ mean
        return step

    return project(problem, solve)
