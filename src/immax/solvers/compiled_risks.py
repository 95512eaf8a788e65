"""Risks in compiled form: those of many classes in a single pass over the scores."""

from __future__ import annotations

from typing import Any

import numpy as np

from immax.arrays import Array
from immax.compiled import worth_compiling
from immax.losses.margin_risks import MarginRisk
from immax.losses.max_risks import MaxRisk
from immax.losses.risks import Risk
from immax.losses.softmax_risks import SoftmaxRisk
from immax.losses.surrogates import logistic
from immax.solvers.compiled_margin_risks import CompiledMarginRisk
from immax.solvers.compiled_max_risks import CompiledMaxRisk
from immax.solvers.line_search import RayStep
from immax.solvers.problem import MANY_OUTPUTS, Problem, R_co
from immax.threads import in_row_threads

__all__ = ["CompiledSoftmaxRisk", "with_compiled_risk"]

EXPECTED_CALLS = 20  # of a solver to its risk, at least
EXPECTED_STEPS = 400  # of the fits of two classes in a process, ten of 40
EXPECTED_WARM_STEPS = 5  # of a fit that starts from the solution of a similar problem
EXPECTED_ENVELOPES = 100  # evaluations of envelopes in a fit with kinks
SORTING = 5  # operations for a score of an envelope
NUMPY_CALLS = 5000  # operations in the time of an envelope's calls to NumPy
ENTRIES_PER_THREAD = 100_000  # fewer are not worth a thread
BLOCK_ROWS = 256


class CompiledSoftmaxRisk(SoftmaxRisk):
    """A ``SoftmaxRisk`` whose value and gradient are computed by Numba.

    The scores are read once and the gradient is written once, by as many threads as there are
    cores; NumPy needs about ten passes.

    Parameters
    ----------
    base : SoftmaxRisk
        The risk, without focus and without dropped classes.
    """

    def __init__(self, base: SoftmaxRisk) -> None:
        super().__init__(base.spec, base.y, base.weight, None)
        spec, dtype = base.spec, base.weight.dtype
        columns = (1 / spec.temperature, spec.scale, spec.offset, spec.target_offset)
        plain = bool((spec.scale == 1).all() and not spec.offset.any())
        self._arguments: tuple[Any, ...] = (
            np.asarray(base.y, dtype=np.intp),
            *(column.astype(dtype) for column in columns),
            plain,
            self._kernel.weight,
        )

    def value_gradient(self, scores: Array) -> tuple[float, Array]:
        rows = np.ascontiguousarray(scores)
        residuals = np.empty_like(rows)
        value, _ = self._evaluate(rows, np.empty((0, 0), rows.dtype), 0.0, rows, residuals)
        return value, residuals

    def of_rows(self, rows: slice) -> CompiledSoftmaxRisk:
        return CompiledSoftmaxRisk(super().of_rows(rows))

    def residuals_in_place(self, scores: Array) -> float:
        return self._evaluate(scores, np.empty((0, 0), scores.dtype), 0.0, scores, scores)[0]

    def along(
        self, scores: Array, ray: Array, length: float, moved: Array, residuals: Array
    ) -> RayStep:
        """Return the risk and its gradient at ``scores + length * ray``.

        Parameters
        ----------
        scores, ray : ndarray of shape (n, c)
            Where the ray begins, and its direction.
        length : float
            The position on the ray.
        moved, residuals : ndarray of shape (n, c)
            Receive the scores there and the gradient.

        Returns
        -------
        RayStep
            With the two arrays.
        """
        value, derivative = self._evaluate(scores, ray, length, moved, residuals)
        return RayStep(moved, residuals, value, derivative)

    def _evaluate(
        self, rows: Array, ray: Array, length: float, moved: Array, residuals: Array
    ) -> tuple[float, float]:
        from immax.compiled.weighted_softmax import weighted_softmax_rows

        arrays = (rows, *self._arguments, rows.dtype.type(length), ray, moved, residuals)
        parts = in_row_threads(weighted_softmax_rows, arrays, rows.shape, ENTRIES_PER_THREAD)
        return sum(part[0] for part in parts), sum(part[1] for part in parts)

    def bias_curvature(self, residuals: Array) -> SoftmaxBiasCurvature:
        """Return the Hessian of the risk in its biases.

        Parameters
        ----------
        residuals : ndarray of shape (n, c)
            The gradient of the risk in the scores, at the point in question.

        Returns
        -------
        SoftmaxBiasCurvature
        """
        return SoftmaxBiasCurvature(self, residuals)

    def curvature_sums(self, scores: Array) -> tuple[Array, Array]:
        """Return the curvature summed over the scores of a sample, and over the samples.

        The curvature ``f p (1 - p) S^2`` follows from the gradient, in blocks that stay in the
        cache; see ``SoftmaxBiasCurvature``.

        Parameters
        ----------
        scores : ndarray of shape (n, c)
            Where it is evaluated.

        Returns
        -------
        of_samples : ndarray of shape (n,)
        of_classes : ndarray of shape (c,)
        """
        residuals = self.value_gradient(scores)[1]
        slope = self._kernel.slope
        steepness = self._kernel.weight * slope
        safe = np.where(steepness > 0, steepness, 1)
        own_scale = self.spec.scale[self.y]
        relative = residuals[np.arange(self.y.size), self.y] / safe * own_scale
        # Of p S, p S^2 and p^2 S^2 where the class is the sample's own.
        of_samples = (residuals @ self.spec.scale.astype(residuals.dtype)) / safe - 2 * relative
        mass, squares = np.zeros(self.n_outputs), np.zeros(self.n_outputs)
        for first in range(0, self.y.size, BLOCK_ROWS):
            rows = slice(first, first + BLOCK_ROWS)
            block = residuals[rows]
            mass += slope[rows] @ block
            squared = np.square(block)
            squares += (slope[rows] / safe[rows]) @ squared
            of_samples[rows] -= squared.sum(axis=1) / safe[rows] ** 2
        own = np.bincount(self.y, weights=steepness * slope * 2 * relative, minlength=mass.size)
        of_classes = mass * self.spec.scale - squares - own
        return np.maximum(steepness * slope * of_samples, 0), np.maximum(of_classes, 0)

    def of_classes(self) -> SoftmaxRisk:
        """Return the risk of one sample of each class, with the weight of all of them.

        Returns
        -------
        SoftmaxRisk
        """
        totals = np.bincount(self.y, weights=self.weight, minlength=self.n_outputs)
        return SoftmaxRisk(
            self.spec, np.arange(self.n_outputs), totals.astype(self.weight.dtype), None
        )

    def value(self, scores: Array) -> float:
        return self.value_gradient(scores)[0]

    def single(self) -> CompiledSoftmaxRisk:
        return CompiledSoftmaxRisk(super().single())


class SoftmaxBiasCurvature:
    """The Hessian of the biases, ``S sum_i f_i (diag p_i - p_i p_i^T) S``, never formed.

    The residuals are ``f_i (p_i - e_y) S / slope_i``, so the probabilities need not be computed
    again: a product with the Hessian is two with the residuals.

    Parameters
    ----------
    risk : CompiledSoftmaxRisk
        The risk.
    residuals : ndarray of shape (n, c)
        Its gradient in the scores.
    """

    def __init__(self, risk: CompiledSoftmaxRisk, residuals: Array) -> None:
        self._y, self._residuals = risk.y, residuals
        self._slope = risk._kernel.slope
        self._steepness = risk._kernel.weight * self._slope
        self._class_scale = risk.spec.scale.astype(np.float64)
        self._mass = self._sum_of_probabilities(self._steepness * self._slope)
        self.scale = self._mass * self._class_scale**2

    def _sum_of_probabilities(self, factor: Array) -> Array:
        """Return ``sum_i factor_i p_i`` over the samples that have a weight."""
        safe = np.where(self._steepness > 0, self._steepness, 1)
        factor = np.where(self._steepness > 0, factor, 0)
        moved = (factor / safe) @ self._residuals
        own = np.bincount(self._y, weights=factor, minlength=self._class_scale.size)
        return np.asarray(moved / self._class_scale + own)

    def product(self, vector: Array) -> Array:
        """Multiply the Hessian by a vector.

        Parameters
        ----------
        vector : ndarray of shape (c,)
            The vector.

        Returns
        -------
        ndarray of shape (c,)
        """
        v = vector * self._class_scale
        # Of f_i p_i^T v, from the residuals: they hold one of the two slopes.
        mean = self._residuals @ vector.astype(self._residuals.dtype)
        mean = self._slope * (mean + self._steepness * v[self._y])
        return np.asarray((self._mass * v - self._sum_of_probabilities(mean)) * self._class_scale)


def with_compiled_risk(problem: Problem[R_co], fits: int = 1) -> Problem[Any]:
    """Return the problem with a compiled risk where there is one and it saves time.

    Parameters
    ----------
    problem : Problem
        Any problem.
    fits : int, default=1
        The number of such problems that are to be solved.

    Returns
    -------
    Problem
        The same problem, or an equivalent one.
    """
    risk: Risk = problem.risk
    outputs, entries = risk.n_outputs, problem.X.shape[0] * risk.n_outputs
    if type(risk) is MaxRisk and risk.surrogate.name == "hinge":
        calls = fits * EXPECTED_ENVELOPES
        if worth_compiling(calls * (SORTING * entries + NUMPY_CALLS)):
            return problem.with_risk(CompiledMaxRisk(risk))
    if type(risk) is MarginRisk and risk.surrogate is logistic:
        worth_it = worth_compiling(
            max(EXPECTED_STEPS, fits * EXPECTED_WARM_STEPS) * _saved(problem)
        )
        return problem.with_risk(CompiledMarginRisk(risk)) if worth_it else problem
    if type(risk) is not SoftmaxRisk or risk.spec.focus or risk.drop is not None:
        return problem
    if outputs < MANY_OUTPUTS or not worth_compiling(fits * EXPECTED_CALLS * entries):
        return problem
    return problem.with_risk(CompiledSoftmaxRisk(risk))


def _saved(problem: Problem[Any]) -> int:
    """Return the operations that a single pass over the features saves, as measured."""
    entries = problem.n_entries // (200 if problem.is_sparse else 800)
    return int(problem.X.shape[0] // 8 + entries)
