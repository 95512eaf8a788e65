"""Solutions of many similar problems, each started from those of its neighbours."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from immax.arrays import Array
from immax.losses.risks import Risk
from immax.solvers.memory import Memory, Multipliers
from immax.solvers.problem import Problem, Solution, is_smooth
from immax.solvers.registry import solve

__all__ = ["solve_grid"]

R = TypeVar("R", bound=Risk)

MAX_SCORES = 4_000_000  # of a solution that are kept for the next row, and multipliers


def solve_grid(
    rows: Iterable[Iterable[Problem[R]]],
    tol: float = 1e-6,
    max_iter: int = 1000,
    certify: bool = True,
) -> Iterator[tuple[Problem[R], Solution]]:
    """Solve a grid of problems row by row, each with a warm start.

    The start is the solution of the problem before, plus the change that the row above shows at
    the same place, plus what this prediction missed one place before. With a penalty that has
    kinks it is the solution above, whose zeros a correction would fill; with a risk that has kinks
    too, together with its multipliers. The problems of a row share a preconditioner.

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
            smooth = is_smooth(problem) and problem.omega.smooth
            if not smooth:
                start, guess = before.neighbour(above), None
            memory.scores, memory.multipliers = guess, before.multipliers(above)
            # L-BFGS alone can stop early: Newton's method would solve every cell to the end.
            quick = not certify and smooth
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
            # A solver that knows nothing of scores leaves those of the start.
            unknown = memory.scores is guess and solution.theta is not start
            known = None if unknown else memory.scores
            before.append(solution.theta, known, memory.multipliers)
            yield problem, solution
        above = before


class _Row:
    """The solutions of a row of problems, and their scores where they are known and small."""

    def __init__(self) -> None:
        self._points: list[_Point] = []
        self._multipliers: list[Multipliers | None] = []
        self._change: _Point | None = None  # of the row above, at the place of the next problem
        self._missed: _Point | None = None  # by that change, one place before

    def append(self, theta: Array, scores: Array | None, multipliers: Multipliers | None) -> None:
        """Add the solution of the next problem."""
        small = multipliers is not None and multipliers.values.size <= MAX_SCORES
        self._multipliers.append(multipliers if small else None)
        point = _Point(theta, scores if scores is None or scores.size <= MAX_SCORES else None)
        if self._points:
            step = point - self._points[-1]
            self._missed = step if self._change is None else step - self._change
        self._points.append(point)

    def neighbour(self, above: _Row) -> Array | None:
        """Return the solution above the next one, or else the one before it."""
        known = above._points[len(self._points) :] or self._points[-1:]
        return known[0].theta if known else None

    def multipliers(self, above: _Row) -> Multipliers | None:
        """Return those of the problem above the next one."""
        i = len(self._multipliers)
        return above._multipliers[i] if i < len(above._multipliers) else None

    def extrapolate(self, above: _Row) -> tuple[Array | None, Array | None]:
        """Return a guess of the next solution, and its scores without a product with X.

        The first scores of a row are computed anew, so that rounding errors do not accumulate.
        """
        i = len(self._points)
        if i == 0:
            return self.neighbour(above), None
        known = i < len(above._points)
        self._change = above._points[i] - above._points[i - 1] if known else None
        guess = self._points[-1]
        for step in (self._change, self._missed):
            guess = guess if step is None else guess + step
        if guess is self._points[-1] and guess.scores is not None:
            return guess.theta, guess.scores.copy()  # the solver overwrites them
        return guess.theta, guess.scores


@dataclass(frozen=True)
class _Point:
    """A solution, or a difference of two, and its scores if they are known."""

    theta: Array
    scores: Array | None

    def __add__(self, other: _Point) -> _Point:
        return self._combine(np.add, other)

    def __sub__(self, other: _Point) -> _Point:
        return self._combine(np.subtract, other)

    def _combine(self, operation: np.ufunc, other: _Point) -> _Point:
        unknown = self.scores is None or other.scores is None
        scores = None if unknown else operation(self.scores, other.scores)
        return _Point(operation(self.theta, other.theta), scores)
