"""What one round asks of every part: losses and gradients at some parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from immax.arrays import Array
from immax.distributed.row_losses import RowLoss
from immax.distributed.row_part import RowPart
from immax.solvers.newton import hessian
from immax.solvers.preconditioners import risk_diagonal
from immax.solvers.problem import Problem

__all__ = ["Cell", "Evaluation", "Objective", "Trial", "evaluate"]


class Cell(NamedTuple):
    """One of the problems that are solved together."""

    loss: RowLoss
    left_out: int | None = None  # the fold whose rows do not count


class Objective(NamedTuple):
    """The problems of a fit; their penalties are added by the caller."""

    cells: tuple[Cell, ...]
    fit_intercept: bool
    name: str = ""  # under which parts keep what they know; empty if they keep nothing


class Trial(NamedTuple):
    """Parameters at which a problem is evaluated."""

    theta: Array  # (k, width)
    cell: int = 0
    gradient: bool = True
    curvature: bool = False  # whether the Hessian is wanted
    diagonal: bool = False  # whether its diagonal is
    bias_curvature: bool = False  # whether the Hessian in the biases is
    name: str | None = None  # under which its scores are kept
    parents: tuple[tuple[str, float], ...] = ()  # of whose scores they are a combination
    shift: Array | None = None  # (k,), to be added to that combination
    kept: tuple[str, ...] = ()  # whose scores are kept besides


class Evaluation(NamedTuple):
    """Sums over rows: tuples of the same length as the trials."""

    values: tuple[float, ...]
    gradients: tuple[Array | float, ...]  # (k, width); 0.0 where none was asked for
    hessians: tuple[Array | float, ...]  # (k * width, k * width) or (k, width); likewise
    bias_hessians: tuple[Array | float, ...]  # (k, k); likewise


def evaluate(part: RowPart, objective: Objective, trials: Sequence[Trial]) -> Evaluation:
    """Return the risks of a part's rows, and their derivatives, at some parameters.

    Parameters
    ----------
    part : RowPart
        The rows.
    objective : Objective
        The problems.
    trials : sequence of Trial
        The parameters; all products with the features are computed together.

    Returns
    -------
    Evaluation
    """
    values = np.zeros(len(trials))
    gradients: list[Array | float] = [
        np.zeros(trial.theta.shape) if trial.gradient else 0.0 for trial in trials
    ]
    hessians: list[Array | float] = [0.0] * len(trials)
    bias_hessians: list[Array | float] = [0.0] * len(trials)
    outputs = sum(len(trial.theta) for trial in trials)
    with np.errstate(over="ignore", invalid="ignore"):
        for block in part.kept_blocks() if objective.name else part.blocks(outputs):
            scores = _scores(block, objective, trials)
            _add_block(block, objective, trials, scores, values, gradients, hessians, bias_hessians)
    return Evaluation(
        tuple(values.tolist()), tuple(gradients), tuple(hessians), tuple(bias_hessians)
    )


def _scores(part: RowPart, objective: Objective, trials: Sequence[Trial]) -> list[Array]:
    """Return the scores of every trial, of shape (k, n), by as few products as possible."""
    d = part.X.shape[1]
    by_trial: list[Array | None] = []
    for trial in trials:
        known = [part.known.get(name) for name, _ in trial.parents]
        combined = None
        if known and all(own is not None for own in known):
            shares = [part.X.dtype.type(share) for _, share in trial.parents]
            combined = sum(
                share * own for share, own in zip(shares, known, strict=True) if own is not None
            )
            if trial.shift is not None:
                combined = combined + trial.shift.astype(part.X.dtype)[:, None]
        by_trial.append(None if combined is None else np.asarray(combined))
    missing = [place for place, own in enumerate(by_trial) if own is None]
    if missing:
        stacked = np.concatenate([trials[place].theta[:, :d] for place in missing])
        products = part.products(stacked)
        begin = 0
        for place in missing:
            theta = trials[place].theta
            own = products[begin : begin + len(theta)]
            begin += len(theta)
            if objective.fit_intercept:
                own += theta[:, -1:].astype(own.dtype)
            by_trial[place] = own
    scores = [own for own in by_trial if own is not None]
    if objective.name:
        named = {trial.name: own for trial, own in zip(trials, scores, strict=True) if trial.name}
        wanted = {name for trial in trials for name, _ in trial.parents}
        wanted.update(name for trial in trials for name in trial.kept)
        reused = {name: own for name, own in part.known.items() if name in wanted}
        part.remember({**reused, **named})
    return scores


def _add_block(
    part: RowPart,
    objective: Objective,
    trials: Sequence[Trial],
    scores: Sequence[Array],
    values: Array,
    gradients: list[Array | float],
    hessians: list[Array | float],
    bias_hessians: list[Array | float],
) -> None:
    residuals, places = [], []
    for place, (trial, own) in enumerate(zip(trials, scores, strict=True)):
        cell = objective.cells[trial.cell]
        name = objective.name if len(objective.cells) == 1 else None
        risk = part.risk(cell.loss, cell.left_out, name or None)
        if not trial.gradient:
            values[place] += risk.value(own.T)
            continue
        value, residual = risk.value_gradient(own.T)
        values[place] += value
        residuals.append(residual.T)
        places.append(place)
        if trial.curvature:
            problem = Problem(part.X, risk, 0.0, objective.fit_intercept)
            hessians[place] = hessians[place] + hessian(problem, risk.curvature(own.T))
        elif trial.diagonal:
            curvature = np.maximum(risk.curvature(own.T).diagonal(), 0)
            diagonal = risk_diagonal(part.X, curvature, objective.fit_intercept)
            hessians[place] = hessians[place] + diagonal.astype(np.float64)
        if trial.bias_curvature:
            total = risk.curvature(own.T).total().astype(np.float64)
            bias_hessians[place] = bias_hessians[place] + total
    if not residuals:
        return
    stacked = residuals[0] if len(residuals) == 1 else np.concatenate(residuals)
    products = part.transposed_products(stacked)
    begin = 0
    for place, residual in zip(places, residuals, strict=True):
        gradient, k = gradients[place], len(residual)
        assert isinstance(gradient, np.ndarray)
        gradient[:, : part.X.shape[1]] += products[begin : begin + k]
        if objective.fit_intercept:
            gradient[:, -1] += residual.sum(axis=1, dtype=np.float64)
        begin += k
