"""Solvers of ``min over W, b of lam Omega(W) + risk(X W^T + b)``.

A solver is a frozen object: its fields are its options, ``unsupported`` says which problems it
cannot solve, and ``solve`` takes a Problem and returns a Solution with a bound on its distance
from the optimum. ``Newton`` and ``LBFGS`` minimise smooth risks; ``MultiplierMethod`` turns a risk
with kinks into a few smooth problems for either; ``DualAscent`` is for large dense hinges of two
classes. These are for the l2 penalty; ``WorkingSets`` is for penalties with kinks, alone or, as
``MultiplierMethodWorkingSets``, for risks with kinks too. The function ``solve`` picks one of them.
"""

from immax.solvers.base import Solver, UnsupportedProblemError
from immax.solvers.blockwise import BlockwiseLBFGS
from immax.solvers.dual_ascent import DualAscent
from immax.solvers.lbfgs import LBFGS
from immax.solvers.memory import Memory
from immax.solvers.multipliers import MultiplierMethod, MultiplierMethodLBFGS
from immax.solvers.newton import Newton
from immax.solvers.path import solve_grid
from immax.solvers.problem import Problem, Solution
from immax.solvers.registry import SOLVER_NAMES, SOLVERS, choose, select_solver, solve
from immax.solvers.working_sets import MultiplierMethodWorkingSets, WorkingSets

__all__ = [
    "LBFGS",
    "SOLVERS",
    "SOLVER_NAMES",
    "BlockwiseLBFGS",
    "DualAscent",
    "Memory",
    "MultiplierMethod",
    "MultiplierMethodLBFGS",
    "MultiplierMethodWorkingSets",
    "Newton",
    "Problem",
    "Solution",
    "Solver",
    "UnsupportedProblemError",
    "WorkingSets",
    "choose",
    "select_solver",
    "solve",
    "solve_grid",
]
