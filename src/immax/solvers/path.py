"""Solutions of many similar problems, each started from those of its neighbours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from immax.arrays import Array
from immax.solvers.memory import Memory
from immax.solvers.problem import Problem, Risk, Solution
from immax.solvers.registry import solve

__all__ = ["solve_grid"]

R = TypeVar("R", bound=Risk)


def solve_grid(
    rows: Iterable[Iterable[Problem[R]]],
    tol: float = 1e-6,
    max_iter: int = 1000,
    certify: bool = True,
) -> Iterator[tuple[Problem[R], Solution]]:
    """Solve a grid of problems row by row, each with a warm start.

    The start is the solution of the problem before, corrected by the change that the row above
    shows at the same place; with a penalty that has kinks it is the solution above, whose zeros a
    correction would fill. The problems of a row share a preconditioner.

    Parameters
    ----------
    rows : iterable of iterables of Problem
        Problems of one shape whose solutions change little from one to the next; all rows have
        the same length. They are taken one at a time, so generators need little memory.
    tol : float, default=1e-6
        As in ``solve``; no problem is polished beyond it.
    max_iter : int, default=1000
        Upper bound on the number of iterations for each problem.
    certify : bool, default=True
        As in ``solve``.

    Yields
    ------
    problem : Problem
        The next problem of the grid.
    solution : Solution
        Its solution.
    """
    above: list[Array] = []
    for row in rows:
        memory, before = Memory(), list[Array]()
        for problem in row:
            solution = solve(
                problem,
                start=_guess(problem, before, above),
                tol=tol,
                max_iter=max_iter,
                polish=False,
                certify=certify,
                memory=memory,
            )
            before.append(solution.theta)
            yield problem, solution
        above = before


def _guess(problem: Problem[R], before: Sequence[Array], above: Sequence[Array]) -> Array | None:
    if problem.omega.smooth or not above:
        return _extrapolate(before, above)
    return above[len(before)]


def _extrapolate(before: Sequence[Array], above: Sequence[Array]) -> Array | None:
    """Return a guess of the next solution of a row from the solutions around it."""
    i = len(before)
    if not before:
        return above[0] if above else None
    return before[-1] + above[i] - above[i - 1] if above else before[-1]
