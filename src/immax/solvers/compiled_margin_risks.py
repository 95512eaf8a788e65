"""The logistic risk of two classes, with full steps in a single compiled pass over the features."""

from __future__ import annotations

from typing import Any

import numpy as np

from immax.arrays import Array
from immax.losses.margin_risks import MarginRisk
from immax.solvers.line_search import FullStep, RayStep, ScoreBuffers
from immax.solvers.problem import Problem
from immax.threads import in_row_threads

__all__ = ["CompiledMarginRisk"]

ENTRIES_PER_THREAD = 250_000  # fewer are not worth a thread


class CompiledMarginRisk(MarginRisk):
    """A logistic ``MarginRisk`` that evaluates full steps while it reads the features once.

    Two products with X, for the scores of the step and for the gradient at its end, read them
    twice. That takes most of the time of an iteration.

    Parameters
    ----------
    base : MarginRisk
        The risk, with the logistic surrogate.
    """

    def __init__(self, base: MarginRisk) -> None:
        super().__init__(base.surrogate, base.slope, base.shift, base.weight, base.convex)

    def single(self) -> CompiledMarginRisk:
        return CompiledMarginRisk(super().single())

    def full_step(
        self,
        problem: Problem[Any],
        scores: Array,
        direction: Array | None,
        buffers: ScoreBuffers,
    ) -> FullStep | None:
        """Return the risk at the end of a full step, with its gradient in the parameters.

        Parameters
        ----------
        problem : Problem
            Has this risk.
        scores : ndarray of shape (n, 1)
            Where the step begins.
        direction : ndarray of the problem's shape, or None
            The step; None for the risk at the scores themselves.
        buffers : ScoreBuffers
            Where the arrays of the result come from.

        Returns
        -------
        FullStep or None
            None if the features are not in C order.
        """
        X, zero = problem.X, problem.dtype.type(0)
        if not (problem.is_sparse or X.flags.c_contiguous):
            return None
        ray, residuals = buffers.take(), buffers.take()
        moved = scores if direction is None else buffers.take()
        columns = (each[:, 0] for each in (ray, moved, residuals))
        bias, w = zero, np.empty(0, problem.dtype)
        if direction is not None:
            w = np.ascontiguousarray(problem.weights(direction)[0])
            bias = direction[0, -1] if problem.fit_intercept else zero
        features = (X.data, X.indices, X.indptr, X.shape[1]) if problem.is_sparse else (X,)
        of_samples = (scores[:, 0], self.slope, self.shift, self.weight)
        parts = in_row_threads(
            _kernel(problem),
            (*features, w, bias, *of_samples, *columns),
            (X.shape[0], max(problem.n_entries // max(X.shape[0], 1), 1)),
            ENTRIES_PER_THREAD,
        )
        gradient = np.empty(problem.shape, problem.dtype)
        problem.weights(gradient)[0] = sum(part[2] for part in parts)
        if problem.fit_intercept:
            gradient[:, -1] = residuals.sum(axis=0)
        value, derivative = (sum(part[i] for part in parts) for i in range(2))
        return FullStep(ray, RayStep(moved, residuals, value, derivative), gradient)


def _kernel(problem: Problem[Any]) -> Any:
    from immax.compiled.margin_pass import dense_margin_pass, sparse_margin_pass

    return sparse_margin_pass if problem.is_sparse else dense_margin_pass
