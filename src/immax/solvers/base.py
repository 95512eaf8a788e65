"""The interface of a solver: which problems it supports, its options, and how it is called."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar, Generic, Self, TypeAlias, TypeVar

import numpy as np

from immax.arrays import Array
from immax.losses.risks import Risk
from immax.solvers.memory import Memory
from immax.solvers.problem import Problem, Solution

__all__ = ["OnIteration", "Solver", "UnsupportedProblemError"]

R = TypeVar("R", bound=Risk)
OnIteration: TypeAlias = Callable[[Array], None]
"""Takes the parameters after an iteration, without keeping or changing them."""


class UnsupportedProblemError(ValueError):
    """A solver was asked for a problem that it does not support."""


@dataclass(frozen=True)
class Solver(ABC, Generic[R]):
    """A method for ``min over W, b of lam Omega(W) + risk(X W^T + b)``, with its options.

    Subclasses say what they support (``unsupported``), when they are a good choice (``suits``)
    and how they minimise (``_minimise``). They know nothing of estimators.

    Parameters
    ----------
    tol : float, default=1e-6
        Stop when the duality gap is at most ``tol`` times the objective.
    max_iter : int, default=1000
        Upper bound on the number of iterations.
    random_state : int, default=0
        Seed of everything that the solver samples.
    on_iteration : callable, optional
        Called with the parameters after every iteration that has changed them.
    """

    tol: float = 1e-6
    max_iter: int = 1000
    random_state: int = 0
    on_iteration: OnIteration | None = field(default=None, kw_only=True)

    name: ClassVar[str]
    needs_kinks: ClassVar[bool] = False  # of the penalty; without them it must be l2

    def lacking(self, problem: Problem[Risk]) -> str | None:
        """Return what the problem lacks for this solver, penalty included, or None.

        Parameters
        ----------
        problem : Problem
            The problem to be solved.

        Returns
        -------
        str or None
            A noun phrase, as of ``unsupported``.
        """
        if self.needs_kinks and problem.omega.smooth:
            return "a penalty with kinks, such as 'l1'"
        if not (self.needs_kinks or problem.omega.smooth):
            return "the penalty 'l2'"
        return self.unsupported(problem)

    @abstractmethod
    def unsupported(self, problem: Problem[Risk]) -> str | None:
        """Return what the problem lacks for this solver, or None if it is supported.

        Parameters
        ----------
        problem : Problem
            The problem to be solved, with a penalty that the solver is for.

        Returns
        -------
        str or None
            A noun phrase that completes the sentence "the solver needs …".
        """

    @abstractmethod
    def suits(self, problem: Problem[Risk]) -> bool:
        """Return whether the solver is a good choice for a problem that it supports.

        Parameters
        ----------
        problem : Problem
            A problem for which ``unsupported`` returns None.

        Returns
        -------
        bool
            Whether ``solver="auto"`` may take this solver.
        """

    @abstractmethod
    def _minimise(
        self, problem: Problem[R], start: Array | None, memory: Memory | None
    ) -> Solution:
        """Solve a problem that is supported, with floating-point warnings turned off."""

    def _report(self, theta: Array) -> None:
        if self.on_iteration is not None:
            self.on_iteration(theta)

    def uncertified(self) -> Self:
        """Return the solver without its certificate, where that saves work.

        Returns
        -------
        Solver
            By default the solver itself: its gap is a by-product of its iterations.
        """
        return self

    def solve(
        self, problem: Problem[R], start: Array | None = None, memory: Memory | None = None
    ) -> Solution:
        """Solve the problem.

        Parameters
        ----------
        problem : Problem
            What to minimise.
        start : ndarray of the problem's shape, optional
            Parameters to start from; zeros by default.
        memory : Memory, optional
            What is known of similar problems: the curvature that L-BFGS has estimated, and the
            columns and matrices of working sets. Other solvers ignore it.

        Returns
        -------
        Solution
            The parameters, with their objective and gap.

        Raises
        ------
        UnsupportedProblemError
            If the solver does not support the problem.
        """
        needed = self.lacking(problem)
        if needed is not None:
            raise UnsupportedProblemError(f"the solver {self.name!r} needs {needed}")
        # A step that is too long may overflow; the line search then shortens it.
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            return self._minimise(problem, start, memory)
