"""Gradients and Hessians of a loss in the scores, in the form that boosting libraries use."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from immax.arrays import Array
from immax.compiled import worth_compiling
from immax.losses.margin_risks import MarginRisk
from immax.losses.softmax import SoftmaxKernel
from immax.losses.softmax_risks import SoftmaxRisk, binary_risk
from immax.losses.spec import LossSpec
from immax.solvers import Problem, solve
from immax.threads import available_cores, in_threads

__all__ = [
    "EXPECTED_ROUNDS",
    "HESSIAN_FLOOR",
    "class_columns",
    "constant_scores",
    "gradient_hessian",
    "hessian_factor",
    "is_plain",
    "two_class_columns",
]

HESSIAN_FLOOR = 1e-16  # XGBoost's own
EXPECTED_ROUNDS = 100  # boosting rounds over which the cost of compilation is spread
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
    """Return the gradient and the diagonal Hessian of every sample's loss in its scores.

    Hessians are exact, but for a floor of 1e-16 where p (1 - p) vanishes; negative ones of the
    focal loss are raised to it too.

    Parameters
    ----------
    spec : LossSpec
        The method.
    scores : ndarray of shape (n, c), or (n,) for two classes
        In either memory layout; the results have the same one. One-dimensional scores h are those
        of class 1, as scores (-h/2, h/2).
    y : ndarray of int, shape (n,)
        Class indices.
    weight : ndarray of shape (n,), optional
        Sample weights.
    drop : ndarray of bool, shape (n,), optional
        As in ``SoftmaxKernel``.
    factor : float, default=1.0
        Multiplies the Hessians, such as ``hessian_factor("xgboost", c)``.

    Returns
    -------
    gradient, hessian : ndarrays of float32, of the shape of the scores
    """
    if scores.ndim == 1:
        return _single_score(spec, scores, y, weight, drop, factor)
    by_class = scores.flags.f_contiguous and not scores.flags.c_contiguous
    gradient: Array = np.empty(scores.shape, np.float32, order="F" if by_class else "C")
    hessian = np.empty_like(gradient)
    if worth_compiling(EXPECTED_ROUNDS * scores.size):
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
        np.maximum(bend, np.float32(HESSIAN_FLOOR), out=hessian[rows])
    return gradient, hessian


def hessian_factor(library: str, n_classes: int) -> float:
    """Return the factor of the Hessians in a library's own objective.

    Parameters
    ----------
    library : {"xgboost", "lightgbm"}
        The library.
    n_classes : int
        The number of classes.

    Returns
    -------
    float
        1 for two classes; for more, 2 (XGBoost) or c / (c - 1) (LightGBM).
    """
    if n_classes == 2:
        return 1.0
    return 2.0 if library == "xgboost" else n_classes / (n_classes - 1)


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

    labels = np.asarray(y, dtype=np.intp)
    slope, scale, offset, target_offset, class_weight = class_columns(spec).astype(np.float32)
    sample_weight = np.asarray([] if weight is None else weight, dtype=np.float32)
    dropped = np.empty(0, bool) if drop is None else drop

    def fill(begin: int, end: int) -> None:
        gradient_pairs(
            scores,
            labels,
            slope,
            scale,
            offset,
            target_offset,
            class_weight,
            is_plain(spec),
            sample_weight,
            float(spec.focus),
            dropped,
            spec.droppable,
            float(factor),
            HESSIAN_FLOOR,
            gradient,
            hessian,
            begin,
            end,
            np.empty(spec.n_classes, np.float32),
        )

    _fill_in_threads(fill, len(y), scores.size)


def class_columns(spec: LossSpec) -> Array:
    """Return the arguments of the compiled kernels that differ between the classes.

    Parameters
    ----------
    spec : LossSpec
        The method.

    Returns
    -------
    ndarray of shape (5, c)
        Inverse temperature, scale, offset, target offset and weight.
    """
    return np.stack(
        (1 / spec.temperature, spec.scale, spec.offset, spec.target_offset, spec.weight)
    )


def is_plain(spec: LossSpec) -> bool:
    """Return whether a method has neither scales nor offsets, which kernels then skip.

    Parameters
    ----------
    spec : LossSpec
        The method.

    Returns
    -------
    bool
    """
    return bool((spec.scale == 1).all() and not spec.offset.any())


def _single_score(
    spec: LossSpec,
    scores: Array,
    y: Array,
    weight: Array | None,
    drop: Array | None,
    factor: float,
) -> tuple[Array, Array]:
    if drop is None and worth_compiling(EXPECTED_ROUNDS * scores.size):
        return _single_score_compiled(spec, scores, y, weight, factor)
    ones = np.ones(len(y), np.float32) if weight is None else np.asarray(weight, np.float32)
    risk = binary_risk(spec, y, ones, drop)
    column = np.asarray(scores, dtype=np.float32)[:, None]
    gradient = risk.value_gradient(column)[1][:, 0]
    hessian = risk.curvature(column).diagonal()[:, 0]
    return gradient, np.maximum(np.float32(factor) * hessian, np.float32(HESSIAN_FLOOR))


def _single_score_compiled(
    spec: LossSpec, scores: Array, y: Array, weight: Array | None, factor: float
) -> tuple[Array, Array]:
    from immax.compiled.boosting import focal_pairs, single_pairs

    gradient, hessian = np.empty((2, len(y)), np.float32)
    slope, shift, class_weight = two_class_columns(spec).astype(np.float32)
    inputs = (scores, np.asarray(y, dtype=np.intp), slope, shift, class_weight)
    outputs = (float(factor), HESSIAN_FLOOR, gradient, hessian)

    def fill(begin: int, end: int) -> None:
        if spec.focus:
            focal_pairs(*inputs, float(spec.focus), *outputs, begin, end)
        else:
            single_pairs(*inputs, *outputs, begin, end)

    _fill_in_threads(fill, len(y), len(y) if spec.focus else len(y) // 10)
    if weight is not None:
        gradient *= weight
        hessian *= weight
        np.maximum(hessian, np.float32(HESSIAN_FLOOR), out=hessian)
    return gradient, hessian


def two_class_columns(spec: LossSpec) -> Array:
    """Return what the loss of a single score is for either of two classes.

    Parameters
    ----------
    spec : LossSpec
        A method for two classes.

    Returns
    -------
    ndarray of shape (3, 2)
        Slope, shift and weight in ``weight_y Psi(slope_y h + shift_y)``.
    """
    each = binary_risk(spec, np.arange(2), np.ones(2), None)
    return np.stack((each.slope, each.shift, each.weight))


def _fill_in_threads(fill: Callable[[int, int], None], n: int, entries: int) -> None:
    """Fill ranges of rows in threads if there is enough work.

    There are more ranges than cores, because the library's own threads may still be busy.
    """
    count = 1 if entries < ENTRIES_FOR_THREADS else 2 * available_cores()
    in_threads(fill, list(pairwise(np.linspace(0, n, count + 1).astype(int).tolist())))


def constant_scores(spec: LossSpec, counts: Array) -> Array:
    """Return the constant scores that minimise the loss of a sample with these class counts.

    A loss with random draws is averaged over them.

    Parameters
    ----------
    spec : LossSpec
        The method.
    counts : ndarray of shape (c,)
        Number (or total weight) of samples per class.

    Returns
    -------
    ndarray of shape (c,), or (1,) for two classes
        With mean zero; for two classes, the score of class 1.

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
    biases = solve(Problem(np.zeros((y.size, 1)), risk, 1.0), "newton", tol=1e-13).theta[:, -1]
    return np.asarray(biases if c == 2 else biases - biases.mean())
