"""The fit of a linear classifier to rows that are in parts."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from sklearn.utils import check_random_state

from immax.arrays import Array, Vector
from immax.distributed.descent import Stopping
from immax.distributed.minimisation import PartsProblem, minimise
from immax.distributed.raw_parts import Encoding, Summary, summarise_part
from immax.distributed.reduction import Parts
from immax.distributed.row_losses import RowLoss
from immax.distributed.row_part import RowPart
from immax.distributed.samples import (
    MAX_ENTRIES,
    draw_rows,
    join_rows,
    most_wide_entries,
    sampling_rates,
)
from immax.solvers.preconditioners import MAX_SPARSE_FEATURES
from immax.solvers.problem import Solution

__all__ = ["PartedData", "RawParts", "as_seed", "minimise_parts", "prepare_parts"]

SOLVERS = ("auto", "newton", "lbfgs")


class RawParts(Parts, Protocol):
    """Parts as they are read, before the classes are known."""

    def encoded(self, encoding: Encoding) -> Parts:
        """Return the parts with class indices for labels.

        Parameters
        ----------
        encoding : Encoding
            The classes, and the positions and the precision of the rows.

        Returns
        -------
        Parts
        """


class PartedData(NamedTuple):
    """Training data in parts, and what the first rounds found out of them."""

    parts: Parts
    sample: RowPart
    classes: Array
    counts: Vector  # (c,), total weights
    radii: Vector | None  # (c,), the largest norms
    held_out: Array  # (c, folds), total weights
    n_features: int


def prepare_parts(
    raw: RawParts, *, radii: bool = False, n_folds: int = 0, seed: int = 0
) -> PartedData:
    """Find the classes of all parts, and draw a sample of their rows.

    Parameters
    ----------
    raw : RawParts
        Parts as they are read.
    radii : bool, default=False
        Whether the largest norms of the classes are wanted.
    n_folds : int, default=0
        The number of folds of a search.
    seed : int, default=0
        Of the folds and the sample.

    Returns
    -------
    PartedData

    Raises
    ------
    ValueError
        If there are fewer than two classes, or parts of different widths.
    """
    summary: Summary = raw.reduce(summarise_part, radii)
    if len(summary.widths) > 1:
        raise ValueError(
            f"all partitions must have the same number of features; got {sorted(summary.widths)}"
        )
    labels, (d,) = summary.labels.tolist(), summary.widths
    counts = np.array([summary.counts[label] for label in labels])
    if not labels:
        raise ValueError("y has no samples")
    if len(labels) < 2:
        raise ValueError(f"y must hold at least two classes; got one class, {labels[0]!r}")
    if not counts.all():
        empty = [label for label, count in zip(labels, counts, strict=True) if not count]
        raise ValueError(
            f"every class needs a positive total sample_weight; the classes {empty} have none"
        )
    firsts, rows, weighted = {}, 0, 0
    for number in sorted(summary.sizes):
        firsts[number] = rows, weighted
        rows += summary.sizes[number].rows
        weighted += summary.sizes[number].weighted
    dtype: np.dtype[Any] = np.dtype(np.float64 if summary.double else np.float32)
    parts = raw.encoded(Encoding(summary.labels, firsts, dtype, n_folds, seed))
    outputs = 1 if len(labels) == 2 else len(labels)
    wide = summary.sparse and d > MAX_SPARSE_FEATURES
    most = most_wide_entries(rows, summary.entries, d) if wide else MAX_ENTRIES
    rates = sampling_rates(counts, rows, summary.entries, outputs * (d + 1), most)
    drawn = parts.reduce(draw_rows, rates, n_folds, seed)
    parts.n_rounds += raw.n_rounds
    norms = np.array([summary.radii[label] for label in labels]) if radii else None
    return PartedData(parts, join_rows(drawn), summary.labels, counts, norms, drawn.held_out, d)


def minimise_parts(
    estimator: Any, data: PartedData, loss: RowLoss, start: Array | None = None
) -> Solution:
    """Minimise the objective of a linear classifier over all parts.

    Parameters
    ----------
    estimator : LinearClassifier
        Whose parameters count.
    data : PartedData
        The rows.
    loss : RowLoss
        The loss.
    start : ndarray of shape (k, width), optional
        Parameters to start from.

    Returns
    -------
    Solution
        In the precision of the features.

    Raises
    ------
    ValueError
        If the loss has kinks.
    """
    check_smooth(data.sample, loss)
    problem = PartsProblem(
        data.parts, data.sample, loss, float(estimator.lam), bool(estimator.fit_intercept)
    )
    stopping = Stopping(float(estimator.tol), int(estimator.max_iter))
    seed = as_seed(estimator.random_state)
    solution = minimise(problem, estimator.solver, stopping, seed, start)
    theta = solution.theta.astype(data.sample.X.dtype)
    return Solution(theta, solution.objective, solution.gap, solution.n_iter, solution.converged)


def check_smooth(sample: RowPart, loss: RowLoss) -> None:
    """Raise ValueError for a loss with kinks.

    Parameters
    ----------
    sample : RowPart
        Some rows.
    loss : RowLoss
        The loss.
    """
    if not sample.risk(loss).smooth:
        raise ValueError(
            "rows in parts need a smooth loss: loss='logistic' or loss='exponential', in the sum "
            "form for three classes or more; IMMAXClassifier fits the hinge and the max form to "
            "data in memory"
        )


def check_supported(estimator: Any) -> None:
    """Raise ValueError for parameters that need all rows in memory.

    Parameters
    ----------
    estimator : LinearClassifier
        Fitted or not.
    """
    if estimator.penalty_has_kinks:
        raise ValueError(
            f"rows in parts need penalty='l2'; got penalty={estimator.penalty!r}, for which "
            "IMMAXClassifier fits data in memory"
        )
    if estimator.solver not in SOLVERS:
        raise ValueError(
            f"rows in parts need solver to be one of {', '.join(map(repr, SOLVERS))}; got "
            f"{estimator.solver!r}"
        )
    if getattr(estimator, "loss", "") == "hinge":
        raise ValueError(
            "rows in parts need a smooth loss, 'logistic' or 'exponential'; IMMAXClassifier fits "
            "loss='hinge' to data in memory"
        )


def as_seed(random_state: Any) -> int:
    """Return a number from a random state; None is a fixed one.

    Parameters
    ----------
    random_state : int, RandomState instance or None

    Returns
    -------
    int
    """
    seed = 0 if random_state is None else random_state
    return (
        int(seed)
        if isinstance(seed, (int, np.integer))
        else int(check_random_state(seed).randint(2**31 - 1))
    )
