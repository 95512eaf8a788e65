"""The second-order model of a risk in the coefficients of a working set, and its minimisers.

The model is ``<gradient, delta> + delta H delta / 2 + penalty(z + delta)`` in the selected
coefficients and the biases. The biases are eliminated: for every change of the coefficients they
take the value that minimises the model, which centres the columns by the curvature.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from immax.arrays import Array
from immax.losses.curvatures import Curvature
from immax.solvers.feature_columns import FeatureColumns
from immax.solvers.gram_descent import GramModel
from immax.solvers.selections import Selection

__all__ = ["CONSTANT", "FullGram", "LocalModel", "Step", "accelerated_step", "gram_step"]

MAX_GRADIENT_STEPS = 500
SHORTEST = 1e-2  # share of the curvature along a step that is expected, or its inverse
CONSTANT = 1e-11  # share of the curvature of a column that the biases leave, if it is constant


@dataclass(frozen=True)
class Step:
    """The minimiser of a model: new coefficients and the change of the biases."""

    z: Array
    biases: Array  # (k,)
    reached: bool = True  # whether the model was minimised to the tolerance


@dataclass(frozen=True)
class FullGram:
    """The Hessian of the risk in all columns and the bias, for one output: exact, or nearly so.

    Attributes
    ----------
    columns : FeatureColumns
        The columns.
    curvature : Curvature
        Of the risk, where the matrix was computed.
    matrix : ndarray of shape (d + 1, d + 1)
        ``X^T diag(curvature) X``, X with a last column of ones, as far as it was not corrected.
    """

    columns: FeatureColumns
    curvature: Curvature
    matrix: Array

    @classmethod
    def at(cls, columns: FeatureColumns, curvature: Curvature) -> Self:
        """Compute the matrix of all columns.

        Parameters
        ----------
        columns : FeatureColumns
            The columns.
        curvature : Curvature
            Of the risk, for one output.

        Returns
        -------
        FullGram
        """
        every = np.arange(columns.X.shape[1])
        matrix = np.empty((every.size + 1, every.size + 1))
        gram, sums, _ = columns.weighted_gram(every, every, curvature.block(0, 0))
        matrix[:-1, :-1], matrix[-1, :-1], matrix[:-1, -1] = gram, sums, sums
        matrix[-1, -1] = curvature.total()[0, 0]
        return cls(columns, curvature, matrix)

    def corrected(self, step: Array, change: Array) -> Self:
        """Return a matrix that explains how the gradient has changed along a step.

        This is the update of Broyden, Fletcher, Goldfarb and Shanno. The curvature of the samples
        changes along a step, and with it the matrix; a step shows where that matters.

        Parameters
        ----------
        step : ndarray of shape (d + 1,) or (d,)
            The change of the coefficients and of the bias, if there is one.
        change : ndarray of the same shape
            The change of the gradient of the risk.

        Returns
        -------
        FullGram
            This one where the step is too short to tell.
        """
        inside = slice(step.size)
        along = self.matrix[inside, inside] @ step
        expected, seen = float(step @ along), float(step @ change)
        if not (expected > 0 and SHORTEST * expected < seen < expected / SHORTEST):
            return self
        matrix = self.matrix.copy()
        matrix[inside, inside] += np.outer(change, change) / seen
        matrix[inside, inside] -= np.outer(along, along) / expected
        return replace(self, matrix=matrix)


@dataclass(frozen=True)
class LocalModel:
    """A quadratic model around the current coefficients.

    Attributes
    ----------
    columns : FeatureColumns
        The features of the selected coefficients.
    curvature : Curvature
        Of the risk, at the current scores.
    selection : Selection
        The coefficients and their penalty.
    z, gradient : ndarrays of shape (p,)
        The coefficients, and the gradient of the risk in them.
    bias_slope : ndarray of shape (k,), or None
        The gradient in the biases; None if there are none.
    null_direction : ndarray of shape (k,), or None
        The direction in which biases do not matter.
    damping : float
        Is added to the diagonal of the model, relative to what is there.
    full_gram : FullGram or None, default=None
        The matrix of all columns at ``curvature``, if it is known.
    """

    columns: FeatureColumns
    curvature: Curvature
    selection: Selection
    z: Array
    gradient: Array
    bias_slope: Array | None
    null_direction: Array | None
    n_outputs: int
    damping: float
    full_gram: FullGram | None = None

    @cached_property
    def local(self) -> Array:
        """The place of each coefficient's feature among the columns."""
        return self.columns.places(self.selection.cols)

    @cached_property
    def inverse_total(self) -> Array:
        """The inverse of the curvature in the biases, zero without biases or any curvature."""
        if self.bias_slope is None:
            return np.zeros((self.n_outputs, self.n_outputs))
        if self.full_gram is None:
            total = self.curvature.total().astype(np.float64)
        else:
            total = self.full_gram.matrix[-1:, -1:]
        if not total.any():
            return np.zeros_like(total)
        size = max(float(np.trace(total)), np.finfo(np.float64).tiny)
        total = total + 1e-12 * size * np.eye(self.n_outputs)
        if self.null_direction is not None:
            total += size * np.outer(self.null_direction, self.null_direction)
        return np.linalg.inv(total)

    @cached_property
    def damping_diagonal(self) -> Array:
        """What is added to the diagonal, also where the risk has no curvature at all."""
        entries = self.curvature.diagonal()
        largest = max(float(np.abs(entries).max(initial=0)), 1e-3 / entries.shape[0])
        return self.damping * largest * self.columns.squares[self.local]

    def made_up_for(self, flat: Array, places: Array) -> Array:
        """Return which columns the biases make up for, so that their coefficients can stay.

        Parameters
        ----------
        flat : ndarray of bool, shape (p,)
            Which columns are constant where the risk bends, so that only rounding is left of them.
        places : ndarray of int, shape (p,)
            The places of the columns.

        Returns
        -------
        ndarray of bool, shape (p,)
            Those that are constant elsewhere too.
        """
        return flat & self.columns.constant[places] if flat.any() else flat

    def weighted_gram(
        self, a: int, b: int, left: Array, right: Array
    ) -> tuple[Array, Array, Array]:
        """Return a block of the matrix of the model, and the weighted sums of its columns.

        Parameters
        ----------
        a, b : int
            The outputs of the block.
        left, right : ndarrays of int
            The places of the columns of each output.

        Returns
        -------
        gram : ndarray of shape (n_left, n_right)
            ``X_left^T diag(curvature) X_right``.
        sums_left, sums_right : ndarrays of shape (n_left,) and (n_right,)
            The sums of the columns, weighted by the curvature.
        """
        if self.full_gram is None:
            return self.columns.weighted_gram(left, right, self.curvature.block(a, b))
        matrix = self.full_gram.matrix
        return matrix[np.ix_(left, right)], matrix[left, -1], matrix[right, -1]

    def biases(self, crossed: Array) -> Array:
        """Return the change of the biases that minimises the model for a step of the coefficients.

        Parameters
        ----------
        crossed : ndarray of shape (k,)
            ``H_bw delta``, the change of the slope of the biases along the step.

        Returns
        -------
        ndarray of shape (k,)
            Zeros if there are no biases.
        """
        if self.bias_slope is None:
            return np.zeros(self.n_outputs)
        return -self.inverse_total @ (self.bias_slope + crossed)


def gram_step(model: LocalModel, tol: float) -> Step:
    """Minimise the model with its matrix, for up to a few thousand coefficients.

    Parameters
    ----------
    model : LocalModel
        What to minimise.
    tol : float
        How much a block may violate the optimality conditions.

    Returns
    -------
    Step
    """
    selection = model.selection
    p = selection.rows.size
    hessian, cross = _hessian(model)
    gradient = model.gradient
    raw = np.diagonal(hessian).copy()
    if model.bias_slope is not None:
        hessian -= cross @ model.inverse_total @ cross.T
        gradient = gradient - cross @ (model.inverse_total @ model.bias_slope)
    flat = np.diagonal(hessian) <= CONSTANT * raw
    hessian[flat] = hessian[:, flat] = 0
    stays = model.made_up_for(flat, model.local)
    hessian[np.diag_indices(p)] += np.where(stays, 0, model.damping_diagonal)
    z = GramModel(hessian, gradient, model.z, selection).minimise(tol)
    return Step(z, model.biases(cross.T @ (z - model.z)))


def _hessian(model: LocalModel) -> tuple[Array, Array]:
    """Return the matrix of the model, and that of its coefficients and biases."""
    rows, k = model.selection.rows, model.n_outputs
    if k == 1:
        matrix, sums, _ = model.weighted_gram(0, 0, model.local, model.local)
        return matrix, sums[:, None]
    places = [np.flatnonzero(rows == a) for a in range(k)]
    local = [model.local[inside] for inside in places]
    hessian, cross = np.zeros((rows.size, rows.size)), np.zeros((rows.size, k))
    for a in range(k):
        for b in range(a, k):
            block, of_a, of_b = model.weighted_gram(a, b, local[a], local[b])
            hessian[np.ix_(places[a], places[b])] = block
            if b > a:
                hessian[np.ix_(places[b], places[a])] = block.T
            cross[places[a], b] = of_a
            cross[places[b], a] = of_b
    return hessian, cross


def accelerated_step(model: LocalModel, tol: float) -> Step:
    """Minimise the model by accelerated proximal gradients, without its matrix.

    Parameters
    ----------
    model : LocalModel
        What to minimise.
    tol : float
        How much a block may violate the optimality conditions.

    Returns
    -------
    Step
    """
    selection = model.selection
    damping = model.damping_diagonal
    dtype = model.columns.X.dtype

    def product(delta: Array) -> tuple[Array, Array]:
        """Return the model's matrix times a change, and the sums that the biases respond to."""
        W = model.columns.weights(selection, delta, model.n_outputs)
        scores = model.columns.scores(W)
        bent = model.curvature.product(scores)
        crossed = bent.sum(axis=0, dtype=np.float64)
        if model.bias_slope is not None:
            shift = -model.inverse_total @ crossed
            bent = model.curvature.product(scores + shift.astype(dtype))
        pulled = model.columns.pull_back(bent)[selection.rows, model.local]
        return pulled + damping * delta, crossed

    gradient = model.gradient
    if model.bias_slope is not None:
        # The change of the biases that is optimal while the coefficients stay.
        shift = -model.inverse_total @ model.bias_slope
        rows = np.broadcast_to(shift.astype(dtype), (model.columns.X.shape[0], model.n_outputs))
        bent = model.curvature.product(np.asfortranarray(rows))
        gradient = gradient + model.columns.pull_back(bent)[selection.rows, model.local]
    steepness = _largest_eigenvalue(product, model.z.size)
    z, slopes = model.z, gradient
    previous, memory, crossed = z, 1.0, np.zeros(model.n_outputs)
    point, at_point, previous_slopes = z, gradient, gradient
    for _ in range(MAX_GRADIENT_STEPS):
        following = _prox(selection, point - at_point / steepness, 1 / steepness)
        momentum = (1 + np.sqrt(1 + 4 * memory**2)) / 2
        pulled, crossed = product(following - model.z)
        slopes = gradient + pulled
        if (point - following) @ (following - previous) > 0:
            momentum, factor = 1.0, 0.0  # the momentum points uphill: start again
        else:
            factor = (memory - 1) / momentum
        point = following + factor * (following - previous)
        at_point = slopes + factor * (slopes - previous_slopes)
        previous, previous_slopes, memory = following, slopes, momentum
        if selection.violations(following, slopes).max(initial=0) <= tol:
            break
    return Step(previous, model.biases(crossed))


def _prox(selection: Selection, z: Array, step: float) -> Array:
    norms = selection.norms(z)
    shrinkage = np.divide(
        norms - step * selection.thresholds, norms, out=np.zeros_like(norms), where=norms > 0
    )
    return np.asarray(
        z * selection.spread(np.maximum(shrinkage, 0)) / (1 + 2 * step * selection.ridge)
    )


def _largest_eigenvalue(product, size: int) -> float:  # type: ignore[no-untyped-def]
    vector = np.random.default_rng(0).normal(size=size)
    value = 0.0
    for _ in range(20):
        vector /= np.linalg.norm(vector)
        vector = product(vector)[0]
        value = float(np.linalg.norm(vector))
        if value == 0:
            return 1.0
    return 1.1 * value
