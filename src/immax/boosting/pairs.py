"""Gradients and Hessians of a loss, as boosting libraries want them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from immax.arrays import Array
from immax.compiled import worth_compiling
from immax.losses.risks import MarginRisk, SoftmaxRisk, binary_risk
from immax.losses.softmax import SoftmaxKernel
from immax.losses.spec import LossSpec
from immax.solvers import Problem, solve
from immax.threads import available_cores, in_threads

__all__ = ["FLOOR", "ROUNDS", "class_table", "constant_scores", "gradient_hessian"]

FLOOR = 1e-16  # XGBoost's own
ROUNDS = 100  # about as often as the same is asked for
BLOCK_ROWS = 4096
ENTRIES_FOR_THREADS = 50_000


def gradient_hessian(
    spec: LossSpec,
    scores: Array,
    y: Array,
    weight: Array | None = None,
    drop: Array | None = None,
    factor: float = 1.0,
) -> tuple[Array, Array]:
    """Gradient and diagonal Hessian of every sample's loss in its scores, in single precision.

    Hessians are exact but for a floor of 1e-16, where p (1 - p) vanishes, and the focal loss,
    whose negative ones are raised to it too.

    Parameters
    ----------
    spec : LossSpec
    scores : ndarray of shape (n, c), or (n,) for two classes
        In either layout; the results have the same. One-dimensional scores h are those of class
        1, as scores (-h/2, h/2).
    y : ndarray of int, shape (n,)
    weight : ndarray of shape (n,), optional
    drop : ndarray of bool, shape (n,), optional
        As in ``SoftmaxKernel``.
    factor : float
        Multiplies the Hessians: the libraries' own objectives have 2 (XGBoost) or c / (c - 1)
        (LightGBM) for many classes.
    """
    if scores.ndim == 1:
        return _single(spec, scores, y, weight, drop, factor)
    layout = "F" if scores.flags.f_contiguous and not scores.flags.c_contiguous else "C"
    gradient: Array = np.empty(scores.shape, np.float32, order=layout)  # type: ignore[call-overload]
    hessian = np.empty_like(gradient)
    if worth_compiling(ROUNDS * scores.size):
        _compiled(spec, scores, y, weight, drop, factor, gradient, hessian)
        return gradient, hessian
    for start in range(0, len(y), BLOCK_ROWS):
        rows = slice(start, start + BLOCK_ROWS)
        kernel = SoftmaxKernel(
            spec,
            y[rows],
            None if drop is None else drop[rows],
            None if weight is None else weight[rows],
            dtype=np.float32,
        )
        block = np.asarray(scores[rows], dtype=np.float32)
        gradient[rows], bend = kernel.gradient_diagonal(block)
        bend *= np.float32(factor)
        np.maximum(bend, np.float32(FLOOR), out=hessian[rows])
    return gradient, hessian


def _compiled(
    spec: LossSpec,
    scores: Array,
    y: Array,
    weight: Array | None,
    drop: Array | None,
    factor: float,
    gradient: Array,
    hessian: Array,
) -> None:
    from immax.compiled.boosting import gradient_pairs

    none = np.empty(0, np.float32)
    table = [
        values.astype(np.float32)
        for values in (1 / spec.temperature, spec.scale, spec.offset, spec.target_offset)
    ]
    fixed = (
        scores,
        np.asarray(y, dtype=np.intp),
        *table,
        spec.weight.astype(np.float32),
        none if weight is None else np.asarray(weight, dtype=np.float32),
        float(spec.focus),
        np.empty(0, bool) if drop is None else drop,
        spec.droppable,
        float(factor),
        FLOOR,
        gradient,
        hessian,
    )
    _in_parts(gradient_pairs, fixed, len(y), scores.size)


def _single(
    spec: LossSpec,
    scores: Array,
    y: Array,
    weight: Array | None,
    drop: Array | None,
    factor: float,
) -> tuple[Array, Array]:
    if drop is None and worth_compiling(ROUNDS * scores.size):
        return _single_compiled(spec, scores, y, weight, factor)
    ones = np.ones(len(y), np.float32) if weight is None else np.asarray(weight, np.float32)
    risk = binary_risk(spec, y, ones, drop)
    column = np.asarray(scores, dtype=np.float32)[:, None]
    gradient = risk.value_gradient(column)[1][:, 0]
    hessian = risk.curvature(column).diagonal()[:, 0]
    return gradient, np.maximum(np.float32(factor) * hessian, np.float32(FLOOR))


def _single_compiled(
    spec: LossSpec, scores: Array, y: Array, weight: Array | None, factor: float
) -> tuple[Array, Array]:
    from immax.compiled.boosting import focal_pairs, single_pairs

    gradient, hessian = np.empty((2, len(y)), np.float32)
    fixed = (scores, np.asarray(y, dtype=np.intp), *class_table(spec))
    filled = (float(factor), FLOOR, gradient, hessian)
    if spec.focus:
        _in_parts(focal_pairs, (*fixed, float(spec.focus), *filled), len(y), len(y))
    else:
        _in_parts(single_pairs, (*fixed, *filled), len(y), len(y) // 10)
    if weight is not None:
        gradient *= weight
        hessian *= weight
        np.maximum(hessian, np.float32(FLOOR), out=hessian)
    return gradient, hessian


def class_table(spec: LossSpec) -> tuple[Array, Array, Array]:
    """Slope, shift and weight of a sample of either of two classes, in single precision."""
    each = binary_risk(spec, np.arange(2), np.ones(2), None)
    slope, shift, weight = (
        part.astype(np.float32) for part in (each.slope, each.shift, each.weight)
    )
    return slope, shift, weight


def _in_parts(kernel: Callable[..., None], fixed: tuple[Any, ...], n: int, entries: int) -> None:
    """Rows in threads, if there is enough to do: a library's own threads may still be busy."""
    count = 1 if entries < ENTRIES_FOR_THREADS else 2 * available_cores()
    edges = np.linspace(0, n, count + 1).astype(int).tolist()
    in_threads(kernel, [(*fixed, *ends) for ends in pairwise(edges)])


def constant_scores(spec: LossSpec, counts: Array) -> Array:
    """The scores that minimise the loss if nothing is known but the class counts.

    Shape (c,), with mean zero; (1,) for two classes, the score of class 1. A loss that is drawn is
    taken in its mean.

    Examples
    --------
    >>> constant_scores(LossSpec([1.0, 1.0]), np.array([900.0, 100.0])).round(4)
    array([-2.1972])
    """
    c = spec.n_classes
    share = counts / counts.sum()
    y, drop = np.arange(c), None
    if spec.random:
        rate = spec.drop_rate
        share = np.concatenate([share * (1 - rate), share * rate])
        y, drop = np.tile(y, 2), np.repeat([False, True], c)
    risk: MarginRisk | SoftmaxRisk = (
        binary_risk(spec, y, share, drop) if c == 2 else SoftmaxRisk(spec, y, share, drop)
    )
    found = solve(Problem(np.zeros((y.size, 1)), risk, 1.0), "newton", tol=1e-13).theta[:, -1]
    return np.asarray(found if c == 2 else found - found.mean())
