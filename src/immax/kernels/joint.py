"""The machine of all classes at once, solved in its dual.

``min over W, b of 1/2 ||W||^2 + sum_i C_i max_{j != y} max(0, 1 - (h_y - h_j) / rho_y)`` has the
weights ``W_k = sum_i a_ik phi(x_i)``, where ``sum_k a_ik = 0``, ``a_ik <= 0`` for classes k other
than y, ``a_iy <= C_i / rho_y`` and, for free biases, ``sum_i a_i = 0``; of all those, the ones
with the largest ``sum_i rho_y a_iy - 1/2 ||W||^2``.

The samples that violate optimality the most make a working set, half of which stays for the next
one. Within a set samples take turns, each to its own optimum in closed form; then all scores
follow. The last condition is reached by the method of multipliers: a penalty on the sums, which
acts like a constant feature, and multipliers, which become the biases.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from immax.arrays import Array
from immax.kernels.gram import one_thread_each
from immax.kernels.machine import Machine
from immax.kernels.rows import Rows
from immax.kernels.samples import Data
from immax.kernels.working_set import loops

__all__ = ["joint_machine"]

LARGEST_SET = 1024
CLOSE = 0.05  # what the largest violation is brought down to within a set
EAGER = 0.5  # samples take their turn if they violate by this share of the worst before
MOST_SWEEPS = 1000
PATIENCE = 4  # sweeps between new multipliers
STIFFNESS = 0.01  # of the penalty, as a share of the kernel's diagonal
LOOK = 5  # sets between estimates of the gap
GIVE_UP = 400  # sets without a better one
SMALL = 256  # samples that are solved to the end of the arithmetic's precision
AT_REST = 1e-12  # violations that are none


@dataclass
class _State:
    a: Array  # (m, c)
    products: Array  # (c, m), scores without biases
    multipliers: Array  # (c,)
    sums: Array  # (c,), of a over the samples
    stiffness: float

    def biases(self) -> Array:
        """The biases in force."""
        return np.asarray(self.multipliers + self.stiffness * self.sums)


def joint_machine(
    data: Data,
    y: Array,
    limits: Array,
    rho: Array,
    tol: float = 1e-3,
    max_iter: int = -1,
    cache_size: float = 200,
) -> Machine:
    """Solve to a duality gap of ``tol`` times the objective.

    Parameters
    ----------
    data : Data
        Of m samples.
    y : ndarray of int, shape (m,)
    limits : ndarray of shape (m,)
        The C_i.
    rho : ndarray of shape (c,)
    tol : float
    max_iter : int
        Working sets at the most; -1 is no limit.
    cache_size : float
        Megabytes of kernel rows to keep.
    """
    with one_thread_each():
        return _solve(data, data.rows(cache_size), y, limits, rho, tol, max_iter)


def _solve(
    data: Data, rows: Rows, y: Array, limits: Array, rho: Array, tol: float, max_iter: int
) -> Machine:
    m, c = y.size, rho.size
    caps = limits / rho[y]
    stiffness = STIFFNESS * max(float(np.mean(np.abs(data.diagonal()))), 1e-12)
    state = _State(np.zeros((m, c)), np.zeros((c, m)), np.zeros(c), np.zeros(c), stiffness)
    problem = (y, caps, rho)
    size = min(LARGEST_SET, m, rows.capacity)
    inner = loops()
    violation, recent = np.empty(m), np.empty(0, dtype=np.intp)
    aim, best, calmest, since = tol, np.inf, np.inf, 0
    n_iter = 0
    while True:
        inner.violations(state.products, state.biases(), state.a, *problem, violation)
        worst = float(violation.max())
        over = worst <= AT_REST or 0 <= max_iter <= n_iter or since >= GIVE_UP
        if n_iter % LOOK == 0 or over:
            primal, dual = _values(state.a, state.products, state.biases(), y, limits, rho)
            # The gap reaches its precision when coefficients have half of theirs; violations go on.
            better = primal - dual < best or (m <= SMALL and worst < calmest / 2)
            since = 0 if better else since + LOOK
            best = min(best, primal - dual)
            calmest = worst if worst < calmest / 2 else calmest
            near = primal - dual <= aim * abs(primal)
            if over or (near and (m > SMALL or since >= 4 * LOOK)):
                answer = _certified(state, data, y, limits, caps, rho, tol, n_iter)
                if over or answer.converged:
                    return answer
                aim *= 0.3
        recent = _working_set(violation, recent, size)
        _improve(state, rows, recent, problem, worst, inner)
        n_iter += 1


def _working_set(violation: Array, recent: Array, size: int) -> Array:
    """The worst samples, and half of the last set: those that came to it last."""
    stay = recent[: size // 2]
    left = violation.copy()
    left[stay] = -1
    new = np.argpartition(-left, size - stay.size - 1)[: size - stay.size]
    return np.concatenate([new[left[new] > 0], stay])


def _improve(
    state: _State,
    rows: Rows,
    chosen: Array,
    problem: tuple[Array, Array, Array],
    worst: float,
    inner: Any,
) -> None:
    """Bring the samples of a working set near to the optimum that the others leave them."""
    y, caps, rho = problem
    slots = rows.slots(chosen)
    kernel = np.empty((chosen.size, chosen.size), rows.store.dtype)
    inner.block(rows.store, slots, chosen, kernel)
    before = state.a[chosen]
    after = before.copy()
    inner.sweeps(
        kernel,
        np.ascontiguousarray(state.products[:, chosen], dtype=kernel.dtype),
        after,
        y[chosen],
        caps[chosen],
        rho,
        state.multipliers,
        state.sums,
        state.stiffness,
        CLOSE * worst,
        MOST_SWEEPS,
        EAGER,
        PATIENCE,
    )
    state.a[chosen] = after
    changes = (after - before).astype(kernel.dtype)
    moved = np.flatnonzero(changes.any(axis=1))
    inner.spread(rows.store, slots[moved], changes[moved], state.products)


def _values(
    a: Array, products: Array, biases: Array, y: Array, limits: Array, rho: Array
) -> tuple[float, float]:
    """The primal and the dual objective."""
    samples = np.arange(y.size)
    norm = float(np.einsum("ij,ji->", a, products))
    scores = products + biases[:, None]
    own = scores[y, samples]
    scores[y, samples] = -np.inf
    slack = np.maximum(0, 1 - (own - scores.max(axis=0)) / rho[y])
    return norm / 2 + float(limits @ slack), float(rho[y] @ a[samples, y]) - norm / 2


def _certified(
    state: _State,
    data: Data,
    y: Array,
    limits: Array,
    caps: Array,
    rho: Array,
    tol: float,
    n_iter: int,
) -> Machine:
    """The machine of coefficients that satisfy every condition, and its gap in full precision."""
    a, balanced = _balanced(state.a, y, caps)
    biases = state.biases()
    biases -= biases.mean()
    primal, dual = _values(a, data.combine(a.T), biases, y, limits, rho)
    gap = max(primal - dual, 0.0) if balanced else np.inf
    return Machine(a.T, biases, primal, gap, n_iter, bool(gap <= tol * abs(primal)))


def _balanced(a: Array, y: Array, caps: Array) -> tuple[Array, bool]:
    """Coefficients near to these that sum to zero over the samples, if they can be had.

    Where class k has too much and class j too little, samples of k give back what they hold
    against j, in proportion; or samples of j take up more against k, as far as their caps let
    them.
    """
    a = a.copy()
    scale = np.abs(a).sum()
    sums = a.sum(axis=0)
    for k in np.flatnonzero(sums > 0):
        own = np.flatnonzero(y == k)
        for j in np.flatnonzero(sums < 0):
            other = np.flatnonzero(y == j)
            for samples, room in ((own, -a[own, j]), (other, (caps - a[:, j])[other])):
                total = room.sum()
                amount = min(sums[k], -sums[j], total)
                if amount > 0:
                    moved = room * (amount / total)
                    a[samples, k] -= moved
                    a[samples, j] += moved
                    sums[k] -= amount
                    sums[j] += amount
    np.minimum(a, np.where(np.arange(a.shape[1]) == y[:, None], caps[:, None], 0.0), out=a)
    return a, bool(np.abs(sums).sum() <= 1e-12 * scale)
