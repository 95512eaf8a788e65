"""A sample of the rows on the driver: starts and preconditioners for all rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from immax.arrays import Array, Vector
from immax.distributed.row_hashes import uniform_numbers
from immax.distributed.row_losses import RowLoss
from immax.distributed.row_part import RowPart
from immax.losses.risks import SmoothRisk
from immax.solvers.newton import scale_hessian, unit_hessian
from immax.solvers.preconditioners import (
    Preconditioner,
    diagonal_preconditioner,
    strong_preconditioner,
)
from immax.solvers.problem import Problem
from immax.solvers.registry import solve

__all__ = [
    "SampledRows",
    "draw_rows",
    "exact_preconditioner",
    "join_rows",
    "most_wide_entries",
    "sampled_preconditioner",
    "sampled_start",
    "sampling_rates",
    "uses_diagonal",
]

ROWS_PER_PARAMETER = 20
MIN_ROWS, MAX_ROWS = 20_000, 100_000
ROWS_PER_SAMPLED, MAX_SHARE = 10, 50_000  # more rows are sampled where there are many: fewer rounds
MAX_ENTRIES = 4_000_000  # stored entries of the sample
MAX_WIDE_ENTRIES = 1_000_000  # where it gives a start, and all rows the preconditioner
ROWS_PER_WIDE_FEATURE = 5  # below which a start is rough, and that of a quarter does as well
MAX_EXACT = 300  # parameters for which the Hessian is formed
ROUGH_TOL = 1e-3  # of the fit to the sample, which is as far from the fit to all rows


class SampledRows(NamedTuple):
    """Rows of parts; lists with an entry for each part, so that they can be joined."""

    X: list[Array]
    y: list[Array]
    weight: list[Array]
    places: list[Array]
    held_out: Array  # (c, folds), total weights of all rows


def sampling_rates(
    counts: Vector, n_rows: int, n_entries: int, n_parameters: int, most_entries: int = MAX_ENTRIES
) -> Vector:
    """Return the share of the rows of each class to sample.

    Rare classes are sampled at a higher rate: as many rows of each class, where there are enough.

    Parameters
    ----------
    counts : ndarray of shape (c,)
        The number of rows, or the total weight, of each class.
    n_rows, n_entries : int
        The number of rows, and of their stored entries.
    n_parameters : int
        The number of parameters.
    most_entries : int, default=MAX_ENTRIES
        The number of stored entries that a sample may have.

    Returns
    -------
    ndarray of shape (c,)
        At most one.
    """
    share = min(n_rows // ROWS_PER_SAMPLED, MAX_SHARE)
    wanted = float(np.clip(max(ROWS_PER_PARAMETER * n_parameters, share), MIN_ROWS, MAX_ROWS))
    wanted = min(wanted, most_entries * n_rows / max(n_entries, 1))
    rows = counts / counts.sum() * n_rows
    level = wanted / len(counts)
    for _ in range(len(counts)):
        # What classes with fewer rows leave goes to the others.
        small = rows < level
        if small.all():
            break
        level = (wanted - rows[small].sum()) / (~small).sum()
    return np.minimum(1.0, level / rows)


def most_wide_entries(n_rows: int, n_entries: int, n_features: int) -> int:
    """Return the number of stored entries that a sample of wide sparse rows may have.

    Parameters
    ----------
    n_rows, n_entries, n_features : int
        The numbers of rows, of their stored entries, and of features.

    Returns
    -------
    int
    """
    rows = min(1.0, MAX_WIDE_ENTRIES / max(n_entries, 1)) * n_rows
    enough = rows >= ROWS_PER_WIDE_FEATURE * n_features
    return MAX_WIDE_ENTRIES if enough else MAX_WIDE_ENTRIES // 4


def draw_rows(part: RowPart, rates: Vector, n_folds: int, seed: int) -> SampledRows:
    """Return a sample of the rows of a part.

    Parameters
    ----------
    part : RowPart
        The rows.
    rates : ndarray of shape (c,)
        The share of the rows of each class.
    n_folds : int
        The number of folds in which rows are counted; may be zero.
    seed : int
        Of the draw, which depends on the positions of the rows alone.

    Returns
    -------
    SampledRows
        With weights divided by the rates.
    """
    chosen = np.flatnonzero(uniform_numbers(part.places, seed) < rates[part.y])
    held_out = np.zeros((len(rates), max(n_folds, 1)))
    if part.folds is not None:
        np.add.at(held_out, (part.y, part.folds), part.weight)
    return SampledRows(
        [part.X[chosen]],
        [part.y[chosen]],
        [part.weight[chosen] / rates[part.y[chosen]]],
        [part.places[chosen]],
        held_out,
    )


def join_rows(rows: SampledRows) -> RowPart:
    """Return the sample as one part.

    Parameters
    ----------
    rows : SampledRows
        Of all parts.

    Returns
    -------
    RowPart
        In the order of the positions of the rows.
    """
    places = np.concatenate(rows.places)
    order = np.argsort(places, kind="stable")
    if any(sparse.issparse(own) for own in rows.X):
        X = sparse.vstack(rows.X, format="csr")[order]
    else:
        X = np.concatenate(rows.X)[order]
    y, weight = np.concatenate(rows.y)[order], np.concatenate(rows.weight)[order]
    return RowPart(X, y, weight, places[order])


def sampled_problem(
    sample: RowPart, loss: RowLoss, lam: float, fit_intercept: bool
) -> Problem[SmoothRisk]:
    """Return the problem of the sample, an estimate of that of all rows.

    Parameters
    ----------
    sample : RowPart
        The sampled rows.
    loss : RowLoss
        The loss.
    lam : float
        The strength of the penalty.
    fit_intercept : bool
        Whether there are biases.

    Returns
    -------
    Problem
    """
    return Problem(sample.X, sample.risk(loss), lam, fit_intercept)


def sampled_start(problem: Problem[SmoothRisk], seed: int, start: Array | None = None) -> Array:
    """Return parameters that are nearly the best for the sample.

    Parameters
    ----------
    problem : Problem
        That of the sample.
    seed : int
        Of the solver.
    start : ndarray of shape (k, width), optional
        Parameters to start from.

    Returns
    -------
    ndarray of shape (k, width)
    """
    solution = solve(
        problem, tol=ROUGH_TOL, random_state=seed, start=start, polish=False, certify=False
    )
    return solution.theta.astype(np.float64)


def sampled_preconditioner(problem: Problem[SmoothRisk], theta: Array, seed: int) -> Preconditioner:
    """Return an estimate of the inverse Hessian from the sample.

    Parameters
    ----------
    problem : Problem
        That of the sample.
    theta : ndarray of shape (k, width)
        Where the curvature is evaluated.
    seed : int
        Of the rows that are sampled once more.

    Returns
    -------
    Preconditioner
    """
    scores = problem.scores(theta.astype(problem.dtype))
    if theta.size <= MAX_EXACT:
        matrix, scale = unit_hessian(problem, problem.risk.curvature(scores))
        return _inverse(matrix, scale)
    build = strong_preconditioner(problem).build
    return build(problem, scores, np.random.default_rng(seed))


def uses_diagonal(problem: Problem[SmoothRisk]) -> bool:
    """Return whether the preconditioner is the diagonal: there are too many features for more.

    That of a sample is a poor estimate where features are rare, and that of all rows is cheap.

    Parameters
    ----------
    problem : Problem
        That of the sample.

    Returns
    -------
    bool
    """
    return strong_preconditioner(problem).build is diagonal_preconditioner


def exact_preconditioner(
    matrix: Array, shape: tuple[int, int], null: Array | None, lam: float, fit_intercept: bool
) -> Preconditioner:
    """Return the inverse of a Hessian that was added up over all parts.

    Parameters
    ----------
    matrix : ndarray of shape (k * width, k * width)
        The Hessian of the risk, without the penalty.
    shape : tuple of int
        ``(k, width)``.
    null : ndarray of shape (k,) or None
        The direction in class space along which the risk is constant.
    lam : float
        The strength of the penalty.
    fit_intercept : bool
        Whether there are biases, which are not penalised.

    Returns
    -------
    Preconditioner
    """
    penalty = np.full(shape, 2 * lam)
    if fit_intercept:
        penalty[:, -1] = 0
    return _inverse(*scale_hessian(matrix + np.diag(penalty.ravel()), shape, null))


def _inverse(matrix: Array, scale: Array) -> Preconditioner:
    ridge = 1e-12 * np.eye(len(matrix))
    inverse = np.linalg.inv(matrix + ridge) * scale[:, None] * scale
    return lambda g: np.asarray((inverse @ g.ravel()).reshape(g.shape))
