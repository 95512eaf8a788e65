"""``min over W, b of lam ||W||^2 + risk(X W^T + b)``.

A solver takes a Problem and returns a Solution with its certificate. Two minimise smooth
risks, ``newton`` and ``lbfgs``; ``multipliers`` turns a risk with kinks into a few smooth
problems for either. ``dual_ascent`` is for large dense hinges of two classes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from immax.arrays import Array
from immax.solvers.dual_ascent import dual_ascent, worth_ascending
from immax.solvers.gap import reachable
from immax.solvers.lbfgs import lbfgs
from immax.solvers.multipliers import multipliers
from immax.solvers.newton import newton
from immax.solvers.problem import Problem, Solution
from immax.solvers.single_precision import rehearse, worth_rehearsing

__all__ = ["SOLVERS", "Problem", "Solution", "choose", "solve"]

SOLVERS: Mapping[str, Callable[..., Solution]] = MappingProxyType(
    {"newton": newton, "lbfgs": lbfgs}
)

SMALL = 10_000  # entries of X times outputs


def choose(problem: Problem[Any]) -> str:
    """The solver that suits the shape of the problem.

    Newton's method when its matrix is small; for risks with kinks, whose curvature jumps
    and misleads L-BFGS, also when it is larger, and beyond that the dual where it is possible.
    """
    outputs, width = problem.shape
    parameters = outputs * width
    if not problem.risk.smooth:
        if parameters <= 2500:
            return "newton"
        return "dual" if worth_ascending(problem) else "lbfgs"
    work = problem.X.shape[0] * parameters**2
    return "newton" if parameters <= 300 and work <= 50_000_000 else "lbfgs"


def solve(
    problem: Problem[Any],
    solver: str = "auto",
    start: Array | None = None,
    tol: float = 1e-6,
    max_iter: int = 1000,
    random_state: int = 0,
    polish: bool = True,
) -> Solution:
    """Solve a problem with the named solver, or with the one that suits its shape.

    Parameters
    ----------
    problem : Problem
    solver : {"auto", "newton", "lbfgs"}
    start : ndarray of the problem's shape, optional
    tol : float
        Of the gap, relative to the objective.
    max_iter : int
    random_state : int
        Seeds the rows that a preconditioner samples.
    polish : bool
        Solve small problems to the end of the arithmetic's precision.
    """
    name = choose(problem) if solver == "auto" else solver
    n, d = problem.X.shape
    aim = min(tol, 1e-14) if polish and n * d * problem.shape[0] <= SMALL else tol
    options: dict[str, Any] = {"tol": aim, "random_state": random_state}
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        # A step too far overflows, and the line search comes back from it.
        if name == "dual":
            solution = dual_ascent(problem, start, max_iter=max_iter, **options)
        else:
            solution = _run(problem, SOLVERS[name], start, max_iter, options)
    if solution.gap is None:
        return solution
    within = solution.gap <= reachable(tol, problem.dtype) * abs(solution.objective)
    return replace(solution, converged=within)


def _run(
    problem: Problem[Any],
    smooth: Callable[..., Solution],
    start: Array | None,
    max_iter: int,
    options: dict[str, Any],
) -> Solution:
    if not problem.risk.smooth:
        # Kinks make L-BFGS forget its way more easily: a longer memory, and more patience.
        inner = newton if smooth is newton else partial(lbfgs, memory=20)
        options["patience"] = 30 if smooth is newton else 300
        return multipliers(problem, inner, start=start, max_iter=max_iter, **options)
    spent = 0
    if smooth is lbfgs and start is None and worth_rehearsing(problem):
        start, options["memory"], spent = rehearse(problem, max_iter=max_iter, **options)
    solution = smooth(problem, start=start, max_iter=max_iter - spent, **options)
    return replace(solution, n_iter=solution.n_iter + spent)
