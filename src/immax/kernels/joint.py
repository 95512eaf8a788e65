"""The machine of all classes at once, solved in its dual.

``min over W, b of 1/2 ||W||^2 + sum_i C_i max_{j != y} max(0, 1 - (h_y - h_j) / rho_y)`` has the
weights ``W_k = sum_i a_ik phi(x_i)``, where ``sum_k a_ik = 0``, ``a_ik <= 0`` for classes k other
than y, ``a_iy <= C_i / rho_y`` and, for free biases, ``sum_i a_i = 0``; of all those, the ones
with the largest ``sum_i rho_y a_iy - 1/2 ||W||^2``.

The samples that violate optimality the most form a working set, half of which stays in the next
one. Within a set each sample in turn is moved to its own optimum in closed form; then all scores
are updated. The last condition is met by the method of multipliers: a penalty on the sums, which
acts like a constant feature, and multipliers, which become the biases.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType

import numpy as np

from immax.arrays import Array, Vector
from immax.kernels.gram import one_thread_each
from immax.kernels.machine import Machine, MachineOptions
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
SETS_PER_CHECK = 5  # working sets between estimates of the gap
GIVE_UP = 400  # working sets without progress
SMALL = 256  # samples that are solved to the precision of the arithmetic
NEGLIGIBLE = 1e-12  # violations that count as none
DEFAULTS = MachineOptions()


@dataclass
class _State:
    a: Array  # (m, c)
    products: Array  # (c, m), scores without biases
    multipliers: Array  # (c,)
    sums: Array  # (c,), of a over the samples
    stiffness: float

    def biases(self) -> Array:
        """Return the current biases."""
        return np.asarray(self.multipliers + self.stiffness * self.sums)


def joint_machine(
    data: Data,
    y: Array,
    limits: Array,
    rho: Vector,
    options: MachineOptions = DEFAULTS,
    start: Machine | None = None,
) -> Machine:
    """Solve the machine of all classes to a duality gap of ``tol`` times the objective.

    Parameters
    ----------
    data : Data
        The m samples.
    y : ndarray of int, shape (m,)
        Class indices.
    limits : ndarray of shape (m,)
        The weights C_i of the losses.
    rho : ndarray of shape (c,)
        The margins.
    options : MachineOptions
        Tolerance, most working sets, and cache.
    start : Machine, optional
        A warm start: another machine of the same samples and classes. Coefficients beyond the
        limits are reduced.

    Returns
    -------
    Machine
    """
    with one_thread_each():
        rows = data.rows(options.cache_size)
        state = _start(data, y, limits / rho[y], rho.size, start)
        return _solve(data, rows, y, limits, rho, options, state)


def _start(data: Data, y: Array, caps: Array, n_classes: int, start: Machine | None) -> _State:
    """Return the coefficients of a machine within the caps, or zeros."""
    stiffness = STIFFNESS * max(float(np.mean(np.abs(data.diagonal()))), 1e-12)
    if start is None:
        a, biases = np.zeros((y.size, n_classes)), np.zeros(n_classes)
        return _State(a, a.T.copy(), biases, biases.copy(), stiffness)
    a = start.coefficients.T
    own = a[np.arange(y.size), y]
    a = a * np.divide(caps, own, out=np.ones(y.size), where=own > caps)[:, None]
    sums = a.sum(axis=0)
    biases = start.biases - stiffness * sums
    return _State(a, np.ascontiguousarray(data.combine(a.T)), biases, sums, stiffness)


def _solve(
    data: Data,
    rows: Rows,
    y: Array,
    limits: Array,
    rho: Array,
    options: MachineOptions,
    state: _State,
) -> Machine:
    m, tol, max_iter = y.size, options.tol, options.max_iter
    caps = limits / rho[y]
    problem = (y, caps, rho)
    size = min(LARGEST_SET, m, rows.capacity)
    inner = loops()
    violation, recent = np.empty(m), np.empty(0, dtype=np.intp)
    aim, best, least_violation, since = tol, np.inf, np.inf, 0
    n_iter = 0
    while True:
        inner.violations(state.products, state.biases(), state.a, *problem, violation)
        worst = float(violation.max())
        done = worst <= NEGLIGIBLE or 0 <= max_iter <= n_iter or since >= GIVE_UP
        if n_iter % SETS_PER_CHECK == 0 or done:
            primal, dual = _values(state.a, state.products, state.biases(), y, limits, rho)
            # Where the gap is at its precision the coefficients have half of their digits; the
            # violations go on falling.
            better = primal - dual < best or (m <= SMALL and worst < least_violation / 2)
            since = 0 if better else since + SETS_PER_CHECK
            best = min(best, primal - dual)
            least_violation = worst if worst < least_violation / 2 else least_violation
            near = primal - dual <= aim * abs(primal)
            if done or (near and (m > SMALL or since >= 4 * SETS_PER_CHECK)):
                machine = _certified(state, data, y, limits, caps, rho, tol, n_iter)
                if done or machine.converged:
                    return machine
                aim *= 0.3
        recent = _working_set(violation, recent, size)
        _improve(state, rows, recent, problem, worst, inner)
        n_iter += 1


def _working_set(violation: Array, recent: Array, size: int) -> Array:
    """Return the worst samples, and the newer half of the last set."""
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
    inner: ModuleType,
) -> None:
    """Bring the samples of a working set close to their optimum, given all others."""
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
    """Return the primal and the dual objective."""
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
    """Return the machine of feasible coefficients, with its gap in double precision."""
    a, balanced = _balanced(state.a, y, caps)
    biases = state.biases()
    biases -= biases.mean()
    primal, dual = _values(a, data.combine(a.T), biases, y, limits, rho)
    gap = max(primal - dual, 0.0) if balanced else np.inf
    return Machine(a.T, biases, primal, gap, n_iter, bool(gap <= tol * abs(primal)))


def _balanced(a: Array, y: Array, caps: Array) -> tuple[Array, bool]:
    """Return similar coefficients that sum to zero over the samples, and whether they do.

    Where the sum of class k is positive and that of class j negative, mass moves from k to j:
    first in samples of k, in proportion to their coefficients for j, then in samples of j, as far
    as their caps allow.
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
