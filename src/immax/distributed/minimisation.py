"""The minimum of a problem whose rows are in parts: rounds of questions to all parts."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from immax.arrays import Array
from immax.distributed.descent import Descent, Stopping
from immax.distributed.evaluation import Cell, Evaluation, Objective, evaluate
from immax.distributed.reduction import Parts
from immax.distributed.row_losses import RowLoss
from immax.distributed.row_part import RowPart
from immax.distributed.samples import (
    MAX_EXACT,
    exact_preconditioner,
    sampled_preconditioner,
    sampled_problem,
    sampled_start,
    uses_diagonal,
)
from immax.solvers.preconditioners import invert_diagonal
from immax.solvers.problem import Solution

__all__ = ["PartsProblem", "minimise", "run_rounds"]

RENEWAL = 6  # iterations after which the curvature is computed anew, then twice as many


class PartsProblem(NamedTuple):
    """The problem ``min over W, b of lam ||W||^2 + risk`` of rows in parts."""

    parts: Parts
    sample: RowPart  # some of the rows
    loss: RowLoss
    lam: float
    fit_intercept: bool


def minimise(
    problem: PartsProblem,
    solver: str = "auto",
    stopping: Stopping | None = None,
    seed: int = 0,
    start: Array | None = None,
) -> Solution:
    """Solve a problem whose rows are in parts.

    The fit to a sample of the rows gives the start and the preconditioner. Where there are few
    parameters, the Hessian of all rows replaces that of the sample: at once where a round is a
    pass over files, and else if the sample does not serve.

    Parameters
    ----------
    problem : PartsProblem
        What to minimise.
    solver : {"auto", "newton", "lbfgs"}, default="auto"
        "newton" computes the Hessian of all rows in every round, "lbfgs" never.
    stopping : Stopping, optional
        When to stop.
    seed : int, default=0
        Of what is sampled.
    start : ndarray of shape (k, width), optional
        Parameters to start from, in place of those of the sample.

    Returns
    -------
    Solution
    """
    local = sampled_problem(problem.sample, problem.loss, problem.lam, problem.fit_intercept)
    stopping = (stopping or Stopping())._replace(convex=local.risk.convex)
    zeros = local.zeros()
    start = sampled_start(local, seed) if start is None else start.astype(np.float64)
    precondition = sampled_preconditioner(local, start, seed)
    at_zero = local.risk.value(local.scores(zeros.astype(local.dtype)))

    def descend(start: Array) -> Descent:
        lam, intercept = problem.lam, problem.fit_intercept
        return Descent([start], lam, intercept, precondition, stopping, local.dtype)

    descent = descend(start)
    name = uuid.uuid4().hex if problem.parts.keeps_scores else ""
    objective = Objective((Cell(problem.loss),), problem.fit_intercept, name)
    exact = solver == "newton" or (solver == "auto" and zeros.size <= MAX_EXACT)
    every = solver == "newton"
    diagonal = not exact and uses_diagonal(local)
    at_once = every or diagonal or (exact and not problem.parts.keeps_scores)
    renewal = 0 if at_once else RENEWAL
    while not descent.done:
        due = descent.n_iter >= renewal
        trials = descent.trials()
        if due and (exact or diagonal) and trials[0].gradient:
            trials = [trials[0]._replace(curvature=exact, diagonal=diagonal), *trials[1:]]
        evaluation: Evaluation = problem.parts.reduce(evaluate, objective, trials)
        if start.any() and not (descent.started or evaluation.values[0] <= 2 * at_zero):
            # The fit to the sample is worse than nothing, or infinite: losses may grow very fast.
            start = np.zeros_like(start)
            descent = descend(start)
            continue
        descent.receive(evaluation.values, evaluation.gradients, evaluation.bias_hessians)
        if not due or descent.done or not trials[0].gradient:
            continue
        if exact:
            if descent.theta is trials[0].theta:
                matrix = np.asarray(evaluation.hessians[0])
                null = local.risk.null_direction
                descent.precondition(
                    exact_preconditioner(
                        matrix, local.shape, null, problem.lam, problem.fit_intercept
                    )
                )
        elif diagonal:
            if descent.theta is trials[0].theta:
                descent.precondition(invert_diagonal(local, np.asarray(evaluation.hessians[0])))
                diagonal, renewal = False, stopping.max_iter  # steps say more from now on
            continue
        else:
            descent.precondition(sampled_preconditioner(local, descent.theta, seed))
        renewal = 0 if every else max(2 * descent.n_iter, descent.n_iter + RENEWAL)
    return descent.solution()


def run_rounds(
    parts: Parts, cells: Sequence[Cell], descents: Sequence[Descent], fit_intercept: bool
) -> list[Array]:
    """Solve many problems in the same rounds.

    Parameters
    ----------
    parts : Parts
        The rows.
    cells : sequence of Cell
        The problems.
    descents : sequence of Descent
        Their descents, numbered in the same order.
    fit_intercept : bool
        Whether there are biases.

    Returns
    -------
    list of ndarray of shape (k, width)
        The parameters that were reached.
    """
    objective = Objective(tuple(cells), fit_intercept)
    while True:
        active = [descent for descent in descents if not descent.done]
        if not active:
            return [descent.theta for descent in descents]
        asked = [descent.trials() for descent in active]
        evaluation: Evaluation = parts.reduce(evaluate, objective, list(chain(*asked)))
        begin = 0
        for descent, own in zip(active, asked, strict=True):
            places = slice(begin, begin + len(own))
            descent.receive(
                evaluation.values[places],
                evaluation.gradients[places],
                evaluation.bias_hessians[places],
            )
            begin += len(own)
