"""Newton's quadratic model with its matrix, minimised over blocks and then on its support."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from immax.arrays import Array
from immax.compiled import has_numba
from immax.solvers.selections import Selection

__all__ = ["GramModel"]

PASSES = 8  # of block descent between two attempts to solve for the support
MAX_ROUNDS = 50
MAX_POLISHED = 1500  # coefficients of the support in a linear system
MAX_POLISH_STEPS = 20
MAX_HALVINGS = 10  # of such a step, where norms of groups are not those of its model
ROUNDING = 4.0  # units in the last place of a coefficient below which it is left alone
SMALLEST_FOR_NUMBA = 64  # coefficients; loading the compiled kernel takes longer below
WORTH_A_VISIT = 0.1  # share of the largest violation; blocks with less wait for a solved support
MOST_STALLED = 20  # rounds that do not halve the largest violation
FIRST_STALLED = 4  # such rounds, after which all blocks are visited


@dataclass(frozen=True)
class GramModel:
    """``min over z of <gradient, z - start> + (z - start) H (z - start) / 2 + penalty(z)``.

    Attributes
    ----------
    hessian : ndarray of shape (p, p)
        Positive semi-definite, with a positive diagonal.
    gradient : ndarray of shape (p,)
        The gradient of the smooth part at ``start``.
    start : ndarray of shape (p,)
        The coefficients now.
    selection : Selection
        The penalty of the coefficients.
    """

    hessian: Array
    gradient: Array
    start: Array
    selection: Selection

    def minimise(self, tol: float) -> Array:
        """Minimise the model by block coordinate descent.

        Parameters
        ----------
        tol : float
            Stop when no block violates the optimality conditions by more.

        Returns
        -------
        ndarray of shape (p,)
            The coefficients; after a fixed number of rounds those that were reached.
        """
        selection = self.selection
        H = self.hessian
        if selection.ridge:
            H = H.copy()
            H[np.diag_indices(len(H))] += 2 * selection.ridge
        slopes = self.gradient + 2 * selection.ridge * self.start
        z = self.start.copy()
        steps = _block_curvatures(H, selection)
        # Violations compare in the units of the curvature, whatever those of the features are.
        units = np.sqrt(np.where(steps > 0, steps, 1))
        tol /= float(units.max(initial=0)) or 1.0
        if z.size < SMALLEST_FOR_NUMBA or not has_numba():
            self._minimise_by_support(H, slopes, z, steps, units, tol)
            return z
        from immax.compiled.block_descent import descend

        for _ in range(MAX_ROUNDS):
            violation = descend(
                H, slopes, z, selection.starts, selection.thresholds, steps, units, PASSES, tol
            )
            if violation <= tol:
                break
            if 0 < np.count_nonzero(z) <= MAX_POLISHED:
                self._polish(H, slopes, z, units)
            if violation <= self._rounding(z, units):
                break
        return z

    def _minimise_by_support(
        self, H: Array, slopes: Array, z: Array, steps: Array, units: Array, tol: float
    ) -> None:
        """Minimise over the blocks that are not zero, then over those that violate optimality.

        Each round takes a few operations on whole arrays; passes of descent in Python would take
        some for every block.
        """
        selection = replace(self.selection, ridge=0.0)  # the ridge is part of H
        moves, lowest, stalled = steps > 0, np.inf, 0
        for _ in range(MAX_ROUNDS * PASSES):
            if 0 < np.count_nonzero(z) <= MAX_POLISHED:
                self._polish(H, slopes, z, units)
            violations = np.where(moves, selection.violations(z, slopes) / units, 0)
            worst = float(violations.max(initial=0))
            stalled = stalled + 1 if worst > 0.5 * lowest else 0
            lowest = min(worst, lowest)
            if worst <= max(tol, self._rounding(z, units)) or stalled > MOST_STALLED:
                break
            visited, passes = violations > max(tol, WORTH_A_VISIT * worst), 1
            if stalled > FIRST_STALLED:
                visited, passes = moves, PASSES
            chosen = np.flatnonzero(visited)
            for _ in range(passes):
                _descend(H, slopes, z, selection.starts, selection.thresholds, steps, chosen)

    def _rounding(self, z: Array, units: Array) -> float:
        """Return how much of a violation of the optimality conditions may be rounding alone."""
        largest = float((self.selection.norms(z) * units).max(initial=0))
        return ROUNDING * float(np.finfo(z.dtype).eps) * largest

    def _polish(self, H: Array, slopes: Array, z: Array, units: Array) -> None:
        """Take Newton steps on the blocks that are not zero, where the penalty is smooth."""
        selection = self.selection
        for _ in range(MAX_POLISH_STEPS):
            norms = selection.norms(z)
            live = np.flatnonzero(selection.spread(norms) > 0)
            if not live.size:
                return
            steep = selection.spread(
                np.divide(selection.thresholds, norms, out=np.zeros_like(norms), where=norms > 0)
            )
            matrix = H[np.ix_(live, live)]
            if not selection.scalar:
                matrix = matrix + _block_bends(selection, z, norms, steep, live)
            matrix[np.diag_indices(live.size)] *= 1 + 1e-13
            pull = slopes[live] + steep[live] * z[live]
            steepest = np.abs(pull / selection.spread(units)[live]).max()
            if not selection.scalar and steepest <= self._rounding(z, units):
                return
            try:
                step = -np.linalg.solve(matrix, pull)
            except np.linalg.LinAlgError:
                return
            share = 1.0
            crossing = None
            if selection.scalar:
                ratio = np.where(step * z[live] < 0, -z[live] / step, np.inf)
                first = int(np.argmin(ratio))
                if ratio[first] < 1:
                    share, crossing = float(ratio[first]), live[first]
            change = np.zeros_like(z)
            change[live] = share * step
            if crossing is not None:
                change[crossing] = -z[crossing]
            along = H @ change
            before = selection.thresholds @ norms
            for _ in range(1 if selection.scalar else MAX_HALVINGS):
                after = selection.thresholds @ selection.norms(z + change)
                decrease = float(slopes @ change + 0.5 * (change @ along) + after - before)
                if decrease < 0:
                    break
                change, along = 0.5 * change, 0.5 * along
            else:
                return
            z += change
            slopes += along
            if crossing is None and selection.scalar:
                return


def _block_bends(selection: Selection, z: Array, norms: Array, steep: Array, live: Array) -> Array:
    """Return the Hessian of the norms of the blocks: ``threshold (I - z z^T / |z|^2) / |z|``."""
    unit = z / np.where(norms > 0, norms, 1).repeat(np.diff(selection.starts))
    blocks = np.repeat(np.arange(norms.size), np.diff(selection.starts))[live]
    same = blocks[:, None] == blocks[None, :]
    bends = np.where(same, -np.outer(unit[live], unit[live]), 0)
    bends[np.diag_indices(live.size)] += 1
    return np.asarray(bends * steep[live][:, None])


def _block_curvatures(H: Array, selection: Selection) -> Array:
    """Return the largest eigenvalue of every diagonal block."""
    if selection.scalar:
        return np.diagonal(H).copy()
    curvatures = np.empty(selection.thresholds.size)
    for b in range(curvatures.size):
        inside = slice(selection.starts[b], selection.starts[b + 1])
        curvatures[b] = np.linalg.eigvalsh(H[inside, inside])[-1]
    return curvatures


def _descend(
    H: Array,
    slopes: Array,
    z: Array,
    starts: Array,
    thresholds: Array,
    curvatures: Array,
    chosen: Array,
) -> None:
    """Minimise over one of the chosen blocks after the other; slopes and z change in place."""
    for b in chosen:
        inside = slice(starts[b], starts[b + 1])
        curvature = curvatures[b]
        target = curvature * z[inside] - slopes[inside]
        norm = float(np.sqrt(target @ target))
        share = max(1 - thresholds[b] / norm, 0.0) if norm > 0 else 0.0
        change = target * (share / curvature) - z[inside]
        if change.any():
            z[inside] += change
            slopes += H[:, inside] @ change
