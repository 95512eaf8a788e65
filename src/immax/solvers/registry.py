"""The list of solvers, in order of preference, and the function that picks one of them.

A new solver is a module with a subclass of ``Solver`` and a row in ``SOLVERS``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from immax.arrays import Array
from immax.losses.risks import Risk
from immax.solvers.base import OnIteration, Solver, UnsupportedProblemError
from immax.solvers.blockwise import BlockwiseLBFGS
from immax.solvers.compiled_risks import with_compiled_risk
from immax.solvers.dual_ascent import DualAscent
from immax.solvers.gap import reachable_tol
from immax.solvers.lbfgs import LBFGS
from immax.solvers.memory import Memory
from immax.solvers.multipliers import MultiplierMethod, MultiplierMethodLBFGS
from immax.solvers.newton import Newton
from immax.solvers.problem import Problem, Solution
from immax.solvers.working_sets import MultiplierMethodWorkingSets, WorkingSets

__all__ = ["SOLVERS", "SOLVER_NAMES", "choose", "select_solver", "solve"]

SMALL = 10_000  # entries of X times outputs

SOLVERS: tuple[Solver[Any], ...] = (
    Newton(),
    MultiplierMethod(),
    BlockwiseLBFGS(),
    LBFGS(),
    DualAscent(),
    MultiplierMethodLBFGS(),
    WorkingSets(),
    MultiplierMethodWorkingSets(),
)
"""Solvers in order of preference. Those with the same name support different problems."""

SOLVER_NAMES: tuple[str, ...] = tuple(dict.fromkeys(solver.name for solver in SOLVERS))


def select_solver(problem: Problem[Risk], name: str = "auto") -> Solver[Any]:
    """Return the solver for a problem, with its default options.

    Parameters
    ----------
    problem : Problem
        The problem to be solved.
    name : {"auto", "newton", "lbfgs", "dual", "working-set"}, default="auto"
        A name asks for the solver of this name; "auto" takes the first of ``SOLVERS`` that
        supports the problem and suits its shape.

    Returns
    -------
    Solver
        A row of ``SOLVERS``.

    Raises
    ------
    ValueError
        If there is no such name, or if the solver does not support the problem.
    """
    if name != "auto" and name not in SOLVER_NAMES:
        names = ", ".join(map(repr, ("auto", *SOLVER_NAMES)))
        raise ValueError(f"solver must be one of {names}; got {name!r}")
    needed = []
    for solver in SOLVERS:
        if name not in ("auto", solver.name):
            continue
        reason = solver.lacking(problem)
        if reason is not None:
            needed.append(reason)
        elif name != "auto" or solver.suits(problem):
            return solver
    raise UnsupportedProblemError(f"solver={name!r} needs {' or '.join(dict.fromkeys(needed))}")


def choose(problem: Problem[Risk]) -> str:
    """Return the name of the solver that ``solver="auto"`` takes.

    Newton's method when its matrix is small; for risks with kinks, whose curvature jumps and
    misleads L-BFGS, also when it is larger, and beyond that the dual where it is possible.

    Parameters
    ----------
    problem : Problem
        The problem to be solved.

    Returns
    -------
    str
        One of ``SOLVER_NAMES``.
    """
    return select_solver(problem).name


def solve(
    problem: Problem[Risk],
    solver: str = "auto",
    start: Array | None = None,
    tol: float = 1e-6,
    max_iter: int = 1000,
    random_state: int = 0,
    polish: bool = True,
    certify: bool = True,
    memory: Memory | None = None,
    on_iteration: OnIteration | None = None,
) -> Solution:
    """Solve a problem with the named solver, or with the one that suits its shape.

    Parameters
    ----------
    problem : Problem
        What to minimise.
    solver : {"auto", "newton", "lbfgs", "dual", "working-set"}, default="auto"
        "newton" and "lbfgs" support every risk; "dual" supports the hinge of two classes on dense
        features; "working-set" supports every risk with a penalty that has kinks. "auto" chooses
        by the penalty and the shape of the problem.
    start : ndarray of the problem's shape, optional
        Parameters to start from; zeros by default.
    tol : float, default=1e-6
        Stop when the gap is at most ``tol`` times the objective. The solution has converged when
        its gap is within this, or within the precision of the arithmetic if that is coarser.
    max_iter : int, default=1000
        Upper bound on the number of iterations.
    random_state : int, default=0
        Seeds what the solver samples: the rows of a preconditioner, the order of a pass.
    polish : bool, default=True
        Solve small problems to the full precision of the arithmetic.
    certify : bool, default=True
        If False, L-BFGS on a smooth risk stops as soon as the next step promises a decrease of at
        most ``tol`` times the objective and the gap for the biases as they are is at most
        ``30 * tol`` times it; no gap is returned. The gap of the other solvers is a by-product,
        and they stop by it all the same.
    memory : Memory, optional
        What is known of similar problems: curvature, which L-BFGS uses and updates if ``start`` is
        given; columns and matrices of working sets.
    on_iteration : callable, optional
        Called with the parameters after an iteration: a step of Newton's method or of L-BFGS, an
        evaluation of the dual, or a working set.

    Returns
    -------
    Solution
        The parameters, with their objective and gap.

    Raises
    ------
    ValueError
        If the solver does not exist, or does not support the problem.

    Examples
    --------
    >>> import numpy as np
    >>> from immax.losses.catalog import make_spec
    >>> from immax.losses.softmax_risks import SoftmaxRisk
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(60) % 3
    >>> X = rng.normal(size=(60, 4)) + np.eye(4)[y]
    >>> risk = SoftmaxRisk(make_spec("ce", [20, 20, 20]), y, np.full(60, 1 / 60), None)
    >>> solution = solve(Problem(X, risk, lam=0.01))
    >>> solution.converged, solution.theta.shape
    (True, (3, 5))
    """
    problem = with_compiled_risk(problem)
    n, d = problem.X.shape
    small = n * d * problem.shape[0] <= SMALL
    selected = replace(
        select_solver(problem, solver),
        tol=min(tol, 1e-14) if polish and small else tol,
        max_iter=max_iter,
        random_state=random_state,
        on_iteration=on_iteration,
    )
    if not certify:
        selected = selected.uncertified()
    solution = selected.solve(problem, start, memory)
    if solution.gap is None:
        return solution
    within = solution.gap <= reachable_tol(tol, problem.dtype) * abs(solution.objective)
    return replace(solution, converged=within)
