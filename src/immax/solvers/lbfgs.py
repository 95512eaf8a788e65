"""Limited-memory BFGS with a preconditioner that is renewed as the curvature changes.

The first preconditioner is the cheap one, the Hessian's diagonal. Once the iterations have
cost as much as a block preconditioner would, one is built at the current point, and again
each time the number of iterations since then has doubled. So the price of preconditioning
stays a fraction of the whole, and a fit that is easy without it never pays.
"""

from __future__ import annotations

import numpy as np

from immax.arrays import Array
from immax.losses.risks import SmoothRisk
from immax.solvers.gap import Certifier, settle_biases
from immax.solvers.line_search import Point, step
from immax.solvers.memory import Memory
from immax.solvers.preconditioners import diagonal_preconditioner, strong_preconditioner
from immax.solvers.problem import Problem, Solution

__all__ = ["lbfgs"]

ENOUGH = 8  # iterations that a preconditioner of another problem should do for


def lbfgs(
    problem: Problem[SmoothRisk],
    start: Array | None = None,
    tol: float = 1e-6,
    max_iter: int = 1000,
    random_state: int = 0,
    certify: bool = True,
    memory: Memory | int = 10,
    kin: bool = False,
    trust: bool = False,
) -> Solution:
    """Minimise a smooth problem until its certified gap is ``tol`` times the objective.

    Without ``certify``, until the gap seems to be; then none is returned. A ``memory`` of a
    run before this one, which ended at ``start``, is gone on with; of a run on a problem much
    like this one, ``kin``, the preconditioner is. To ``trust`` is to stop as soon as the next
    step promises no more than ``tol`` times the objective.
    """
    rng = np.random.default_rng(random_state)
    certifier = Certifier(problem, tol, certify, trust)
    if start is None:
        zeros = np.zeros((problem.X.shape[0], problem.shape[0]), problem.dtype, order="F")
        point = settle_biases(problem, problem.zeros(), zeros, most_steps=2)
    else:
        point = Point.at(problem, start)
    strong, price = strong_preconditioner(problem)
    # A start that was given is taken to be worth a block preconditioner at once.
    memory = memory if isinstance(memory, Memory) else Memory(memory)
    kin = kin and memory.precondition is not None
    settled_in = start is not None and price < 20 and not kin
    renew = 0.0 if memory.precondition is None or settled_in else price
    if kin:
        memory.restart()
        renew = max(price, ENOUGH)
    for iteration in range(max_iter + 1):
        if iteration >= renew:
            affordable = iteration >= price - 1 or settled_in
            build = strong if affordable else diagonal_preconditioner
            memory.restart(build(problem, point.scores, rng))
            renew = max(2 * iteration, iteration + 2 * price, 1) if affordable else max(price, 1)
        direction = memory.direction(point.gradient)
        if certifier.accepts(point, direction) or iteration == max_iter:
            break
        following = step(problem, point, direction)
        if following is None:
            if not memory:
                break
            memory.restart()
            continue
        memory.learn(following.theta - point.theta, following.gradient - point.gradient)
        point = following
    return certifier.solution(point, iteration)
