"""Solutions of many similar problems, each started from those of its neighbours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from immax.arrays import Array
from immax.solvers.memory import Memory
from immax.solvers.problem import Problem, Risk, Solution, is_smooth
from immax.solvers.registry import solve

__all__ = ["solve_grid"]

R = TypeVar("R", bound=Risk)

MAX_SCORES = 4_000_000  # of a solution that are kept for the next row


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
    above = _Row()
    for row in rows:
        memory, before = Memory(), _Row()
        for problem in row:
            start, guess = before.extrapolate(above)
            if not problem.omega.smooth:  # a correction would fill the zeros
                start, guess = before.neighbour(above), None
            memory.scores = guess
            # L-BFGS alone can stop early: Newton's method would solve every cell to the end.
            quick = not certify and is_smooth(problem) and problem.omega.smooth
            solution = solve(
                problem,
                "lbfgs" if quick else "auto",
                start=start,
                tol=tol,
                max_iter=max_iter,
                polish=False,
                certify=certify,
                memory=memory,
            )
            known = memory.scores if memory.scores is not guess else None
            before.append(solution.theta, known)
            yield problem, solution
        above = before


class _Row:
    """The solutions of a row of problems, and their scores where they are known and small."""

    def __init__(self) -> None:
        self._thetas: list[Array] = []
        self._scores: list[Array | None] = []

    def append(self, theta: Array, scores: Array | None) -> None:
        kept = scores is not None and scores.size <= MAX_SCORES
        self._thetas.append(theta)
        self._scores.append(scores if kept else None)

    def neighbour(self, above: _Row) -> Array | None:
        """Return the solution above the next one, or else the one before it."""
        known = above._thetas[len(self._thetas) :] or self._thetas[-1:]
        return known[0] if known else None

    def extrapolate(self, above: _Row) -> tuple[Array | None, Array | None]:
        """Return a guess of the next solution, and its scores without a product with X.

        The first scores of a row are computed anew, so that rounding errors do not accumulate.
        """
        i = len(self._thetas)
        if i == 0:
            return (above._thetas[0] if above._thetas else None), None
        if not above._thetas:
            last = self._scores[-1]
            return self._thetas[-1], None if last is None else last.copy()
        theta = self._thetas[-1] + above._thetas[i] - above._thetas[i - 1]
        here, there, corner = self._scores[-1], above._scores[i], above._scores[i - 1]
        if here is None or there is None or corner is None:
            return theta, None
        scores = there - corner
        scores += here
        return theta, scores
